"""Tables of an algorithm: whatever runs it, their files are written after the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batsched_py.cli.main import run as command_line
from tests.clone import ROOT
from tests.integration.programs import run, serving

PLATFORM, JOBS = str(ROOT / "platforms" / "tiny4.xml"), str(ROOT / "workloads" / "first.json")

COUNTING = """
from batsched_py.api import *

class Counting(Scheduler[NoOptions]):
    name = "counting"

    def setup(self, view):
        self.lengths = []

    def decide(self, view, plan):
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is None:
                break
            plan.start(job, hosts)
        self.lengths.append((view.now, len(view.queue)))

    def tables(self, view):
        yield Table("queue", ("time", "waiting"), self.lengths)
        yield Table("hosts", ("number",), [(len(view.all_hosts),)])
"""
LENGTHS = "time,waiting\n0,0\n0,0\n5,1\n10,2\n"
HOSTS = "number\n4\n"


@pytest.fixture
def mine(tmp_path: Path) -> str:
    """An algorithm with two tables, as after -s."""
    (tmp_path / "counting.py").write_text(COUNTING)
    return f"{tmp_path / 'counting.py'}:Counting"


def test_simulate_writes_tables_beside_batsims_files(tmp_path: Path, mine: str) -> None:
    """Under the same prefix; a folder is made."""
    out = str(tmp_path / "out" / "run")
    assert command_line(["simulate", "-p", PLATFORM, "-w", JOBS, "-s", mine, "-e", out, "--quiet"]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "run_decisions.csv",
        "run_hosts.csv",
        "run_jobs.csv",
        "run_machine_states.csv",
        "run_queue.csv",
        "run_run.json",
        "run_schedule.csv",
    ]
    assert (tmp_path / "out" / "run_queue.csv").read_text().startswith(LENGTHS)
    assert (tmp_path / "out" / "run_hosts.csv").read_text() == HOSTS


def test_compare_writes_the_tables_of_each_run(tmp_path: Path, mine: str) -> None:
    """In the folder of the workload, from the processes of the runs."""
    done = run(tmp_path, "compare", "-p", PLATFORM, "-w", JOBS, "-s", "fcfs", "-s", mine, "--name", "mine", "-e", "out")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "out" / "first"
    assert sorted(path.name for path in folder.glob("*_queue.csv")) == ["mine_queue.csv"]
    assert (folder / "mine_hosts.csv").read_text() == HOSTS


def test_serve_writes_tables_when_the_simulation_has_ended(tmp_path: Path, mine: str) -> None:
    """Batsim's own files are Batsim's."""
    with serving(tmp_path, "-s", mine, "-e", "served/run") as served:
        there = run(tmp_path, "simulate", "-p", PLATFORM, "-w", JOBS, "--socket", served.address, "-e", "there")
        code, said = served.end()
    assert (there.returncode, code) == (0, 0), said
    assert sorted(path.name for path in (tmp_path / "served").iterdir()) == [
        "run_decisions.csv",
        "run_hosts.csv",
        "run_queue.csv",
        "run_run.json",
    ]
    assert (tmp_path / "served" / "run_queue.csv").read_text().startswith(LENGTHS)
    told = json.loads((tmp_path / "served" / "run_run.json").read_text())
    assert (told["algorithm"], told["platform"], told["workloads"]) == (mine, None, [])
    assert (told["settings"]["protocol"], sorted(told["results"])) == ("v4", ["decisions", "hosts", "queue"])
    there_told = json.loads((tmp_path / "there_run.json").read_text())
    assert (there_told["algorithm"], there_told["platform"]["path"]) == (None, PLATFORM)
    assert not list(tmp_path.glob("there_queue.csv"))


def test_serve_checks_first_that_tables_can_be_written(
    tmp_path: Path, mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, before anybody is waited for."""
    (tmp_path / "file").touch()
    assert command_line(["serve", "-s", mine, "-e", f"{tmp_path}/file/run"]) == 2
    assert capsys.readouterr().err == (
        f"batsched-py: error: {tmp_path}/file/run_NAME.csv: cannot be written: Not a directory\n"
    )


def test_a_table_that_cannot_be_written_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the algorithm and the rule; the other results are there, and marked."""
    (tmp_path / "wrong.py").write_text(COUNTING.replace('Table("queue"', 'Table("jobs"'))
    arguments = ["-p", PLATFORM, "-w", JOBS, "-s", f"{tmp_path}/wrong.py:Counting", "-e", f"{tmp_path}/out/run"]
    assert command_line(["simulate", *arguments, "--quiet"]) == 3
    error = "tables of counting: ValueError: table jobs: each run has a table of this name"
    assert capsys.readouterr().err == f"batsched-py: error: {error}\n"
    assert json.loads((tmp_path / "out" / "run_run.json").read_bytes())["failure"] == error
