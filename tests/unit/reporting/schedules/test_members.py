"""Users and deadlines of jobs, and workloads that tell them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.model.job import Job
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import LIMITS
from batsched_py.reporting.api import Schedule, with_members
from batsched_py.reporting.schedules.file_notes import FileNotes
from batsched_py.reporting.schedules.members import due_time, is_met, with_users
from batsched_py.reporting.schedules.run_parts import read_users
from batsched_py.results.job_users import users_table
from batsched_py.results.records import JobRecord
from batsched_py.runs.table_writer import write_tables
from tests.unit.reporting.records import record, rejected


def told(job: JobRecord, **members: Any) -> JobRecord:
    """The job with members of its own."""
    return replace(job, job=replace(job.job, members=members))


def workload(*names: str, **members: Any) -> Workload:
    """Jobs of these names, as a file has them."""
    jobs = tuple(Job.create(name, size=1, profile="p", extra=members) for name in names)
    return Workload("jobs.json", 4, jobs, {})


def schedule(*jobs: JobRecord) -> Schedule:
    """A run of these jobs."""
    return Schedule("run", jobs, 4, {}, source="run_jobs.csv")


def test_users_of_a_site_are_in_a_table_of_their_own(tmp_path: Path) -> None:
    """Read as they are written; a later segment of a lease has the user of its first job."""
    first, other, nobody = told(record("1"), user='ann, "b"'), told(record("2"), user="élan"), record("3")
    write_tables(str(tmp_path / "x"), [users_table((first, record("1#2"), other, nobody))])
    notes = FileNotes()
    users = read_users(str(tmp_path / "x"), LIMITS, notes)
    found = with_users((record("1"), record("1#2"), told(record("2"), user="old", deadline=5), nobody), users)
    assert [one.job.user for one in found] == ['ann, "b"', 'ann, "b"', "élan", None]
    assert found[2].job.members["deadline"] == 5
    (tmp_path / "x_users.csv").write_text("who,name\n")
    assert (read_users(str(tmp_path / "x"), LIMITS, notes), len(notes.lines())) == ({}, 1)


def test_members_are_taken_over_from_the_workload() -> None:
    """Jobs that were registered during the run have none."""
    run = schedule(record("1"), record("9", workload="dyn"))
    joined = with_members(run, [workload("1", "2", user="ann")])
    assert [job.job.user for job in joined.jobs] == ["ann", None]
    assert [job.start for job in joined.jobs] == [0, 0]


def test_a_single_workload_has_any_name() -> None:
    """Batsim 1.4 makes one of the file's content."""
    joined = with_members(schedule(record("1", workload="f00d")), [workload("1", user="ann")])
    assert joined.jobs[0].job.user == "ann"


def test_several_workloads_are_numbered() -> None:
    """As Batsim names them: w0, w1."""
    run = schedule(record("1", workload="w0"), record("1", workload="w1"))
    joined = with_members(run, [workload("1", user="ann"), workload("1", user="bob")])
    assert [job.job.user for job in joined.jobs] == ["ann", "bob"]


def test_another_runs_workload_is_refused() -> None:
    """A file that has no job of the run is a mistake."""
    with pytest.raises(WorkloadError, match=r"jobs.json: has none of the jobs of run_jobs.csv"):
        with_members(schedule(record("1")), [workload("x")])


@pytest.mark.parametrize(("user", "name"), [("ann", "ann"), (7, "7"), (0, "0"), ("", None), (None, None)])
def test_a_user_is_a_text_or_a_number(user: object, name: str | None) -> None:
    """0 is a user, too."""
    assert told(record(), user=user).job.user == name


def test_a_deadline_is_met_by_success_in_time() -> None:
    """At the instant itself is in time."""
    assert is_met(told(record(finish=10), deadline=10))
    assert not is_met(told(record(finish=10.5), deadline=10))
    assert not is_met(told(record(finish=5, state="COMPLETED_FAILED"), deadline=10))
    assert not is_met(told(rejected(), deadline=10))


def test_a_deadline_may_count_from_the_submission() -> None:
    """As the start of a reservation may."""
    assert due_time(told(record(submit=5), deadline="+20").job) == 25


def test_a_reservation_is_met_by_a_start_at_its_instant() -> None:
    """A start that is late by the time of Batsim's messages meets it, too."""
    lease = {"start": 30}
    assert due_time(told(record(), lease=lease).job) == 30
    assert is_met(told(record(start=30.0006, finish=40), lease=lease))
    assert not is_met(told(record(start=30.002, finish=40), lease=lease))
    assert not is_met(told(rejected(), lease=lease))
    assert due_time(told(record(), lease={"start": "now"}).job) is None
    assert due_time(told(record(), lease={"begin": 8}).job) is None


def test_of_both_the_deadline_counts() -> None:
    """It is the promise that is kept last."""
    assert due_time(told(record(), deadline=50, lease={"start": 30}).job) == 50


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"deadline": -1}, "job w0!1: deadline: must be a number of seconds from 0"),
        ({"deadline": "soon"}, "deadline: must be a number"),
        ({"deadline": float("inf")}, "deadline: must be a number"),
        ({"deadline": True}, "deadline: must be a number"),
    ],
)
def test_what_breaks_a_rule_is_told(members: dict[str, Any], rule: str) -> None:
    """With the job's name."""
    with pytest.raises(WorkloadError) as caught:
        due_time(told(record(), **members).job)
    assert rule in str(caught.value)


def test_a_job_that_can_wait_has_no_deadline_to_meet() -> None:
    """Most jobs."""
    assert due_time(record().job) is None
    assert not is_met(record())
