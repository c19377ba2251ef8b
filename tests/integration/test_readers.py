"""Files of runs in other programs: evalys and pandas read ours, we read those of batsim-py's monitors and of evalys."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pytest

from tests.clone import ROOT
from tests.integration.programs import PATIENCE, run, run_here
from tests.readers.environment import readers_python

READERS = ROOT / "tests" / "readers"
ENERGY = ("-p", str(ROOT / "platforms" / "energy16.xml"), "-E")
CLUSTER = ("-p", str(ROOT / "platforms" / "cluster32.xml"))
#: Name -> the options of a run with jobs that fail and one that is rejected, with hosts that sleep, and with leases.
RUNS: Final[Mapping[str, Sequence[str]]] = {
    "mixed": (*CLUSTER, "-w", str(ROOT / "workloads" / "mixed.json"), "-s", "easy"),
    "sleeping": (*ENERGY, "-w", "work.json", "-s", "easy_idle_sleeper", "-o", "idle_time=300"),
    "leases": (*CLUSTER, "-w", str(ROOT / "workloads" / "reservations.json"), "-s", "leases"),
}
#: Columns with text; all others have numbers.
TEXTS: Final = {
    *("job_id", "workload_name", "profile", "final_state", "allocated_resources", "metadata", "machine_id"),
    *("event_type", "batsim_version"),
}
#: Columns of batsim-py's monitors that no file of Batsim has.
THEIRS: Final = {
    "jobs": set(),
    "schedule": {"energy_waste", "max_stretch", "mean_pp_slowdown", "mean_stretch", "nb_switches"},
    "machine_states": {"nb_unavailable"},
    "pstate_changes": set(),
    "consumed_energy": set(),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of all runs."""
    folder = tmp_path_factory.mktemp("runs")
    wanted = ("--jobs", "60", "--hosts", "16", "--seed", "1", "--load", "0.4", "-o", "work.json")
    assert run_here(folder, "generate", *wanted) == 0
    for name, options in RUNS.items():
        assert run_here(folder, "simulate", *options, "-e", name, "--quiet") == 0
    return folder


def rows(file: Path) -> list[dict[str, str]]:
    """The rows of a file."""
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def header(file: Path) -> list[str]:
    """The columns of a file."""
    with file.open(newline="") as lines:
        return next(csv.reader(lines))


def metrics(folder: Path, run_name: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The figures of a run as we compute them."""
    capsys.readouterr()
    assert run_here(folder, "metrics", run_name, "--format", "json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["runs"][0]["figures"]
    return found


def traces(folder: Path) -> Iterator[Path]:
    """Batsim's files of all runs."""
    endings = ("jobs", "schedule", "machine_states", "consumed_energy", "pstate_changes")
    for name in RUNS:
        yield from (file for ending in endings if (file := folder / f"{name}_{ending}.csv").exists())


@pytest.mark.parametrize("name", RUNS)
def test_evalys_reads_and_draws_the_files_of_a_run(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its figures are ours; a file that it writes again has the same metrics."""
    command = [readers_python(), READERS / "with_evalys.py", folder / name, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    found, ours = json.loads(done.stdout), metrics(folder, name, capsys)
    listed = rows(folder / f"{name}_jobs.csv")
    ran = [row for row in listed if row["allocated_resources"]]
    assert found["jobs"] == len(listed)
    assert found["longest_queue"] == ours["max_queued_hosts"]
    assert found["waiting"] == pytest.approx(sum(float(row["waiting_time"]) for row in ran))
    first = min(float(row["starting_time"]) for row in ran)
    busy = ours["utilisation"] * ours["hosts"] * ours["makespan"]
    assert found["mean_utilisation"] == pytest.approx(busy / (ours["makespan"] - first), rel=1e-6)
    assert found.get("hosts_in_states", [ours["hosts"]]) == [ours["hosts"]]
    assert found.get("pstates", [-2, -1, 0, 2, 3]) == [-2, -1, 0, 2, 3]
    assert ("gantt_pstates" in found["pictures"]) == (name == "sleeping")
    for picture in found["pictures"]:
        assert (tmp_path / f"{picture}.png").stat().st_size > 5_000, picture
    assert len(found["pictures"]) >= 13
    again = metrics(tmp_path, "evalys_jobs.csv", capsys)
    same = ("jobs", "ran", "makespan", "mean_wait", "max_wait", "mean_slowdown")
    assert {key: again[key] for key in same} == pytest.approx({key: ours[key] for key in same})


def test_pandas_reads_numbers_as_numbers(folder: Path) -> None:
    """In each file of Batsim; identifiers of jobs keep their zeros if pandas knows that they are text."""
    seen = set()
    for file in traces(folder):
        table = pd.read_csv(file, dtype={"job_id": str})
        seen |= set(table.columns)
        assert len(table) == len(rows(file))
        for column in table.columns:
            numeric = pd.api.types.is_numeric_dtype(table[column])
            empty = bool(table[column].isna().all())
            assert empty or numeric == (column not in TEXTS), f"{file.name}: {column}"
    assert seen >= TEXTS
    jobs = pd.read_csv(folder / "sleeping_jobs.csv", dtype={"job_id": str})
    assert jobs["job_id"].tolist()[0] == "03"


def test_the_monitors_of_batsim_py_have_columns_of_ours(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On our simulator: their files and Batsim's of the same run agree to a second, and we read both."""
    python = readers_python()
    assert run_here(tmp_path, "shims", "bin") == 0
    power = "100:120:220,sleep=8:5s:110:100s:150"
    wanted = ("--hosts", "16", "--platform", "machine.xml", "--power", power, "--jobs", "30", "--seed", "1")
    assert run_here(tmp_path, "generate", *wanted, "-o", "work.json") == 0
    platform = tmp_path / "machine.xml"
    platform.write_text(platform.read_text().replace("wattage_per_state", "watt_per_state"))
    environment = os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    program = [*map(str, (python, READERS / "with_batsim_py.py", platform)), "work.json", "monitors"]
    done = subprocess.run(
        program, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    for ending, additional in THEIRS.items():
        columns = [set(header(tmp_path / f"{name}_{ending}.csv")) for name in ("batsim", "monitors")]
        assert columns[1] - columns[0] == additional, ending
    ours, theirs = (metrics(tmp_path, name, capsys) for name in ("batsim", "monitors"))
    assert ours["rejected"] == 1
    for figure in ("jobs", "ran", "rejected", "hosts"):
        assert ours[figure] == theirs[figure], figure
    for figure in ("makespan", "mean_wait", "max_wait"):
        assert ours[figure] == pytest.approx(theirs[figure], abs=1.0), figure
    assert run(tmp_path, "gantt", "monitors", "-o", "monitors.svg").returncode == 0
