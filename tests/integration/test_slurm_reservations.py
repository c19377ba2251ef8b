"""Advance reservations of a file, through whole runs of the algorithm `slurm`; results by hand."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.integration.programs import run_here

CONF = """\
SchedulerParameters=batch_sched_delay=0
SelectType=select/linear
Licenses=matlab:2
NodeName=n[1-4] CPUs=2
PartitionName=p Nodes=ALL Default=YES
"""
HOSTS = "".join(f'<host id="n{number}" speed="1Gf" core="2"/>' for number in range(1, 5))
PLATFORM = (
    '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    '<platform version="4.1"><zone id="z" routing="Full"><prop id="licences" value="matlab:2"/>'
    f'<host id="master_host" speed="1Gf"/>{HOSTS}</zone></platform>\n'
)
#: Of all nodes from 600 to 1200 s, for ada.
RESERVED = (
    "ReservationName=r StartTime=2024-05-31T08:10:00 EndTime=2024-05-31T08:20:00 Nodes=n[1-4] NodeCnt=4 CoreCnt=8"
    " Flags=SPEC_NODES Users=ada Accounts=(null) Licenses=(null) State=INACTIVE\n"
)
DATE = ("-o", "reservations=res.txt", "-o", "date=2024-05-31T08:00:00")


def job(name: str, subtime: float, user: str, minutes: int, **slurm: Any) -> dict[str, Any]:
    """A job of one node for 60 s, with a limit in minutes."""
    members = {"slurm": slurm} if slurm else {}
    limit = {"walltime": 60 * minutes, "profile": "d", "user": user}
    return {"id": name, "subtime": subtime, "res": 1, **limit, **members}


def write(folder: Path, jobs: Sequence[dict[str, Any]], reservations: str = RESERVED) -> list[str]:
    """Write the files of a run; return the options that name them."""
    workload = {"nb_res": 4, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 60}}}
    for name, text in (
        ("p.xml", PLATFORM),
        ("w.json", json.dumps(workload)),
        ("slurm.conf", CONF),
        ("res.txt", reservations),
    ):
        (folder / name).write_text(text)
    return ["simulate", "-p", "p.xml", "-w", "w.json", "-s", "slurm", "-o", "conf=slurm.conf", "-e", "out", "--quiet"]


def starts(folder: Path) -> dict[str, float | None]:
    """Name of a job -> its start; None if it was rejected."""
    with (folder / "out_jobs.csv").open() as file:
        return {row["job_id"]: float(row["starting_time"] or "nan") for row in csv.DictReader(file)}


def test_nodes_are_kept_for_the_users_of_a_reservation(tmp_path: Path) -> None:
    """A job whose limit ends before it starts at once, one that is longer after it; a user's own job begins with it.

    Ends of reservations count a second later, and backfill looks each 30 s.
    """
    jobs = [
        job("short", 0, "eve", 10),
        job("long", 0, "eve", 11),
        job("inside", 0, "ada", 5, reservation="r"),
        job("late", 700, "ada", 1),
    ]
    assert run_here(tmp_path, *write(tmp_path, jobs), *DATE) == 0
    found = starts(tmp_path)
    assert found["short"] == 0
    assert 600 <= (found["inside"] or 0) <= 630
    assert 1200 <= (found["long"] or 0) <= 1261
    assert 1200 <= (found["late"] or 0) <= 1261


def test_strangers_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the words of sbatch; and so is a name that is not among the reservations."""
    jobs = [job("a", 0, "eve", 1, reservation="r"), job("b", 0, "ada", 1, reservation="s"), job("c", 0, "ada", 2)]
    assert run_here(tmp_path, *write(tmp_path, jobs), *DATE) == 0
    with (tmp_path / "out_jobs.csv").open() as file:
        states = {row["job_id"]: row["final_state"] for row in csv.DictReader(file)}
    assert states == {"a": "REJECTED", "b": "REJECTED", "c": "COMPLETED_SUCCESSFULLY"}
    err = capsys.readouterr().err
    assert "Access denied to requested reservation" in err
    assert "Requested reservation is invalid" in err


def test_licences_are_kept_on_any_nodes(tmp_path: Path) -> None:
    """A reservation of licences only leaves all nodes to its jobs, and its licences to nobody else."""
    reserved = RESERVED.replace("Nodes=n[1-4] NodeCnt=4 CoreCnt=8", "Nodes=(null) NodeCnt=0 CoreCnt=0")
    reserved = reserved.replace("SPEC_NODES", "ANY_NODES").replace("Licenses=(null)", "Licenses=matlab:2")
    licensed = {"licences": {"matlab": 1}}
    jobs = [job("own", 650, "ada", 5, reservation="r", **licensed), job("other", 650, "eve", 5, **licensed)]
    assert run_here(tmp_path, *write(tmp_path, jobs, reserved), *DATE) == 0
    found = starts(tmp_path)
    assert 650 <= (found["own"] or 0) <= 680
    assert 1200 <= (found["other"] or 0) <= 1261


def test_a_reservation_that_is_over_is_said_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It keeps no node."""
    jobs = [job("long", 0, "eve", 11)]
    late = ("-o", "reservations=res.txt", "-o", "date=2024-05-31T09:00:00")
    assert run_here(tmp_path, *write(tmp_path, jobs), *late) == 0
    assert starts(tmp_path) == {"long": 0}
    assert "reservations that ended before the start, without effect: r" in capsys.readouterr().err


def test_the_date_is_that_of_the_clock(tmp_path: Path) -> None:
    """At five past eight the reservation is five minutes away, so that a job of six minutes waits."""
    jobs = [job("six", 0, "eve", 6)]
    for date, start in (("08:04:00", 0.0), ("08:05:00", 900.0)):
        options = ("-o", "reservations=res.txt", "-o", f"date=2024-05-31T{date}")
        assert run_here(tmp_path, *write(tmp_path, jobs), *options) == 0
        assert start <= (starts(tmp_path)["six"] or 0) <= start + 61


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (DATE[:2], "option reservations: must be given with conf, whose nodes they are of, and with date"),
        (("-o", "date=noon"), "option date: must be a date such as 2024-05-31T08:00:00, or seconds since 1970"),
        (
            ("-o", "date=2024-05-31T08:05:00", "-o", "clock=5"),
            "option clock: must be 300 as in date, or left out",
        ),
        ((*DATE[:2], "-o", "date=2024-05-31", "-o", "conf=other.conf"), "res.txt: line 1: Nodes: must be nodes of the"),
    ],
)
def test_what_is_wrong_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: Sequence[str], rule: str
) -> None:
    """With the option or the place in the file."""
    arguments = write(tmp_path, [job("a", 0, "eve", 1)])
    (tmp_path / "other.conf").write_text("NodeName=m[1-4]\nPartitionName=p Nodes=ALL\n")
    if "conf=other.conf" in options:
        arguments = [one for one in arguments if one != "conf=slurm.conf"]
        arguments.remove("-o")
    assert run_here(tmp_path, *arguments, *options) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"batsched-py: error: {rule}")
    assert err.count("\n") == 1


def test_a_run_reads_the_files_that_its_configuration_includes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It describes them with their hashes; a fault names the included file and its line."""
    arguments = write(tmp_path, [job("a", 0, "eve", 1)])
    lines = CONF.splitlines(keepends=True)
    (tmp_path / "slurm.conf").write_text("".join([*lines[:3], "Include nodes.conf\n", *lines[4:]]))
    (tmp_path / "nodes.conf").write_text(lines[3])
    assert run_here(tmp_path, *arguments) == 0
    assert starts(tmp_path) == {"a": 0}
    described = json.loads((tmp_path / "out_run.json").read_bytes())["files"]
    assert [(one["role"], one["path"]) for one in described] == [
        ("option conf", "slurm.conf"),
        ("option conf: nodes.conf", "nodes.conf"),
    ]
    (tmp_path / "nodes.conf").write_text(f"{lines[3]}Foo=1\n")
    assert run_here(tmp_path, *arguments) == 2
    rule = "nodes.conf: line 2: Foo: is an unknown or unsupported parameter"
    assert capsys.readouterr().err.splitlines()[-1] == f"batsched-py: error: {rule}"
