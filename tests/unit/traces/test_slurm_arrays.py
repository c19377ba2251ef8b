"""Job arrays of Slurm's accounting in `convert --slurm-members`, and what the algorithm makes of them."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.traces.slurm_arrays import array_number, limit_in_command, pending_tasks

CONF = "SchedulerParameters=batch_sched_delay=0\nNodeName=n[1-4] CPUs=2\nPartitionName=p Nodes=ALL Default=YES\n"
HEADER = "JobID|Cluster|User|State|Submit|Start|End|TimelimitRaw|ReqNodes|SubmitLine"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("slurm.conf").write_text(CONF)
    assert run(["slurm", "platform", "slurm.conf", "-o", "p.xml"]) == 0


def row(job_id: str, submitted: int = 0, *, wait: int = 0, line: str = "", limit: int = 10, **other: str) -> str:
    """The row of a job of one node for 100 s."""
    times = [datetime.fromtimestamp(1_717_156_800 + at, UTC).strftime("%Y-%m-%dT%H:%M:%S") for at in (
        submitted, submitted + wait, submitted + wait + 100)]  # fmt: skip
    state, cluster = other.get("state", "COMPLETED"), other.get("cluster", "c")
    return "|".join([job_id, cluster, "ada", state, *times, str(limit), "1", line])


def converted(rows: Sequence[str], *options: str) -> dict[str, dict[str, Any]]:
    """Id -> job of the workload that `convert` makes."""
    Path("log.txt").write_text("\n".join([HEADER, *rows, ""]))
    arguments = ["convert", "log.txt", "--slurm-members", "--hosts", "4", "--unit", "nodes", "-o", "w.json"]
    assert run([*arguments, *options]) == 0
    return {job["id"]: job for job in json.loads(Path("w.json").read_bytes())["jobs"]}


def starts() -> dict[str, float]:
    """Start of each job under the algorithm slurm."""
    options = ["-p", "p.xml", "-w", "w.json", "-s", "slurm", "-o", "conf=slurm.conf", "-e", "out", "--quiet"]
    assert run(["simulate", *options]) == 0
    with Path("out_jobs.csv").open() as file:
        return {row["job_id"]: float(row["starting_time"]) for row in csv.DictReader(file)}


THROTTLED = "sbatch --array=1-4%2 a.sh"


def test_tasks_are_of_their_array_and_obey_its_limit() -> None:
    """Two of four tasks run at once although four nodes are free; a task that is alone in the log is one, too."""
    jobs = converted([*(row(f"7_{task}", line=THROTTLED) for task in range(1, 5)), row("8_3"), row("9")])
    assert [jobs[f"7_{task}"]["array"] for task in range(1, 5)] == [{"id": "7", "limit": 2}] * 4
    assert [jobs[f"7_{task}"]["slurm"]["array_task"] for task in range(1, 5)] == [1, 2, 3, 4]
    assert (jobs["8_3"]["array"], jobs["8_3"]["slurm"]) == ({"id": "8"}, {"array_task": 3})
    assert "array" not in jobs["9"]
    found = starts()
    assert [found[f"7_{task}"] for task in (1, 2)] == [0, 0]
    assert all(found[f"7_{task}"] >= 100 for task in (3, 4))
    assert (found["8_3"], found["9"]) == (0, 0)


def test_the_limit_may_be_in_the_row_of_tasks_that_are_no_jobs() -> None:
    """With the SubmitLine of none; of another cluster it is another array."""
    pending = row("7_[3-9%1]", state="PENDING")
    jobs = converted([row("7_1"), row("7_2"), pending, row("7_1", cluster="beta")])
    assert jobs["7_1"]["array"] == jobs["7_2"]["array"] == {"id": "7", "limit": 1}
    assert jobs["7_1@beta"]["array"] == {"id": "7@beta"}


def test_tasks_start_in_the_order_of_their_numbers() -> None:
    """Not in that of their names, in which 10 comes before 2."""
    converted([row(f"7_{task}", line="sbatch -a 1-11%1 a.sh") for task in range(1, 12)])
    found = starts()
    assert sorted(found, key=lambda name: found[name]) == [f"7_{task}" for task in range(1, 12)]


def test_recorded_waits_do_not_take_tasks_apart() -> None:
    """They are of each task."""
    rows = [row(f"7_{task}", wait=100 * task, line=THROTTLED) for task in range(1, 5)]
    jobs = converted(rows, "--recorded-waits")
    assert [jobs[f"7_{task}"]["recorded_wait"] for task in range(1, 5)] == [100, 200, 300, 400]
    assert all("array" in job for job in jobs.values())
    assert len(starts()) == 4


def test_tasks_that_differ_are_jobs_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    """One that was submitted again later, and one with another limit: they are counted."""
    rows = [row("7_1"), row("7_2"), row("7_3", submitted=50), row("7_4", limit=20)]
    jobs = converted(rows)
    assert "2 jobs of arrays that differ from the other tasks: kept without their array" in capsys.readouterr().out
    assert {name for name, job in jobs.items() if "array" in job} == {"7_1", "7_2"}
    assert "slurm" not in jobs["7_3"]
    assert set(starts()) == set(jobs)


def test_without_members_of_slurm_nothing_changes() -> None:
    """Tasks are jobs of their own."""
    Path("log.txt").write_text("\n".join([HEADER, row("7_1", line=THROTTLED), ""]))
    assert run(["convert", "log.txt", "--hosts", "4", "-o", "w.json", "--unit", "nodes"]) == 0
    assert "array" not in json.loads(Path("w.json").read_bytes())["jobs"][0]


@pytest.mark.parametrize(
    ("command", "limit"),
    [
        ("sbatch --array=0-9%3 a.sh", 3),
        ("sbatch -a 1,3,5%2 a.sh", 2),
        ("sbatch -a1-9:2%4 a.sh", 4),
        ("sbatch --array 1-9%0 a.sh", None),
        ("sbatch a.sh --array=0-9%3", None),
        ("sbatch --array=0-9 a.sh", None),
        ("sbatch --array=%d%2 a.sh", None),
        ("sbatch --arr=1-2%1 a.sh", 1),
        ("sbatch --a 1-2%1 a.sh", None),
        ("sbatch --arr 1-2%1 a.sh", 1),
        ("sbatch --array=[1-3]%1 a.sh", 1),
        ("sbatch --array=[1-3,7%2] a.sh", 2),
        ("sbatch --parti long --no-req --arr=1-9%3 a.sh", 3),
    ],
)
def test_limits_in_commands(command: str, limit: int | None) -> None:
    """Options of sbatch only, not the script's arguments."""
    assert limit_in_command(command) == limit


def test_ids_of_tasks() -> None:
    """A component of a heterogeneous job is none; a long list is cut with three dots by sacct."""
    assert (array_number("7_1"), array_number("7_1@b"), array_number("7_1.2")) == ("7", "7", "7")
    others = ("7", "7+1", "7_1+2", "7_[1-2]", "7_01")
    assert [array_number(name) for name in others] == [None] * len(others)
    assert pending_tasks("7_[3-9%2]") == ("7", 2)
    assert pending_tasks("7_[3,5,7...") == ("7", None)
    assert pending_tasks("7_3") is None
