"""The comparison of recorded scenarios with the simulator."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.clone import ROOT
from tests.differential.simgrid_cases import main

ROUTES = orjson.loads((ROOT / "tests" / "data" / "simgrid" / "routes.json").read_bytes())
_HEADER = "job_id,final_state,finish_time,consumed_energy"


def write(
    folder: Path, name: str, *, late: float = 0.0, options: tuple[str, ...] = ("--enable-compute-sharing",)
) -> None:
    """Write a scenario of the project in the layout of a recording."""
    case, place = ROUTES[name], folder / name
    place.mkdir()
    (place / "platform.xml").write_text(case["platform"])
    (place / "workload.json").write_bytes(orjson.dumps(case["workload"]))
    run = {"exit": 0 if "finish" in case else -6, "options": options, "message": "stopped"}
    (place / "run.json").write_bytes(orjson.dumps(run))
    rows = [f"{job},COMPLETED_SUCCESSFULLY,{time + late},-1" for job, time in case.get("finish", {}).items()]
    (place / "out_jobs.csv").write_text("\n".join([_HEADER, *rows]) + "\n")


def test_each_scenario_has_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Equal, both stop, or what it needs."""
    write(tmp_path, "tie_floyd_ring4")
    write(tmp_path, "floyd_route_missing")
    write(tmp_path, "bypass_full", options=("--mmax", "2"))
    assert main([str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "bypass_full: not run: needs --mmax 2"
    assert lines[1].startswith("floyd_route_missing: both stop: ")
    assert lines[2:] == ["tie_floyd_ring4: equal", "both stop 1, equal 1, not run 1"]


def test_a_difference_is_shown_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Job by job, of the folders that are named."""
    write(tmp_path, "tie_floyd_ring4", late=1.0)
    write(tmp_path, "bypass_full")
    assert main([str(tmp_path), "tie"]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("tie_floyd_ring4: different: 0: 10.000000 s, not 11.000000 s: 1: ")
    assert last == "different 1"


def test_without_a_folder_the_usage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing is compared."""
    assert main([]) == 2
    assert capsys.readouterr().err.startswith("usage: python -m tests.differential.simgrid_cases FOLDER")
