"""Notes on content of a workload that is not obeyed: every command that reads it prints them once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batsched_py.campaigns import Variant, run_study
from batsched_py.cli.main import run
from tests.clone import ROOT

PLATFORM = str(ROOT / "platforms" / "tiny4.xml")
LINE = (
    "w.json: member gpus of a job is not obeyed: a job requests them by the member demand (2 times, first in jobs[0])"
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    jobs = [{"id": str(n), "subtime": n, "res": 1, "walltime": 9, "profile": "p", "gpus": 1} for n in (1, 2)]
    profiles = {"p": {"type": "delay", "delay": 5}}
    Path("w.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    study = f"""platforms = ["{PLATFORM}"]
[[workloads]]
files = ["w.json"]
[[algorithms]]
algorithm = "easy"
[[algorithms]]
algorithm = "fcfs"
"""
    Path("study.toml").write_text(study)
    assert run(["simulate", "-p", PLATFORM, "-w", "w.json", "-s", "easy", "-e", "out", "--quiet"]) == 0
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        ["simulate", "-p", PLATFORM, "-w", "w.json", "-s", "easy"],
        ["compare", "-p", PLATFORM, "-w", "w.json", "-s", "easy", "-s", "fcfs"],
        ["campaign", "run", "study.toml"],
        ["convert", "w.json", "-o", "v5.json", "--protocol", "v5"],
        ["convert", "w.json", "-o", "w.lwf"],
        ["metrics", "out", "-w", "w.json"],
        ["report", "out", "-w", "w.json", "-o", "r.html"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_commands_tell_it_once(command: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """As an approximation of a run, or as a warning."""
    capfd.readouterr()
    assert run(command) == 0
    written = capfd.readouterr()
    assert (written.out + written.err).count(LINE) == 1


def test_python_tells_it() -> None:
    """Among the approximations of each run."""
    study = run_study(PLATFORM, {"w": "w.json"}, [Variant("easy", "easy")])
    assert [outcome.approximations for outcome in study.outcomes] == [(LINE,)]
