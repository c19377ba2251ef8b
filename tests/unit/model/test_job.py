"""A job's attributes, id and members."""

from __future__ import annotations

import math

import pytest

from batsched_py.model.job import Job


def test_a_job_made_here_has_batsims_members() -> None:
    """In the order of Batsim's documents."""
    job = Job.create("w0!1", size=2, profile="p", submit_time=1.5, walltime=10)
    assert list(job.members.items()) == [
        ("id", "w0!1"), ("subtime", 1.5), ("res", 2), ("profile", "p"), ("walltime", 10)
    ]  # fmt: skip


def test_a_job_made_here_has_its_attributes() -> None:
    """They are those that were requested."""
    job = Job.create("w0!1", size=2, profile="p", submit_time=1.5, walltime=10)
    assert (job.id, job.submit_time, job.size, job.walltime, job.profile) == ("w0!1", 1.5, 2, 10, "p")


def test_a_job_without_walltime_has_no_such_member() -> None:
    """Batsim reads that as no limit."""
    assert "walltime" not in Job.create("w0!1", size=2, profile="p").members


def test_a_job_without_a_time_of_submission_leaves_it_to_the_plan() -> None:
    """The plan knows the current time."""
    assert "subtime" not in Job.create("w0!1", size=2, profile="p").members


@pytest.mark.parametrize(
    ("job_id", "workload", "name"),
    [("w0!12", "w0", "12"), ("w0!a!b", "w0", "a!b"), ("lone", "lone", ""), ("!x", "", "x")],
)
def test_an_id_falls_apart_at_its_first_mark(job_id: str, workload: str, name: str) -> None:
    """Workload before it, name after it."""
    job = Job.create(job_id, size=1, profile="p")
    assert (job.workload, job.name) == (workload, name)


@pytest.mark.parametrize(("walltime", "limit"), [(10.0, 10.0), (None, math.inf)])
def test_the_limit_is_a_number_for_each_job(walltime: float | None, limit: float) -> None:
    """The walltime; infinite if there is none."""
    assert Job.create("w0!1", size=1, profile="p", walltime=walltime).limit == limit


def test_members_of_an_authors_own_are_extra() -> None:
    """Kept and forwarded by Batsim."""
    job = Job.create("w0!1", size=1, profile="p", walltime=5, extra={"user": "ann", "deadline": 9})
    assert job.extra == {"user": "ann", "deadline": 9}


def test_extra_members_stand_after_batsims() -> None:
    """A reader finds the known ones first."""
    job = Job.create("w0!1", size=1, profile="p", extra={"user": "ann"})
    assert list(job.members)[-1] == "user"


def test_a_job_does_not_change() -> None:
    """It is a fact."""
    with pytest.raises(AttributeError):
        Job.create("w0!1", size=1, profile="p").size = 5  # type: ignore[misc]


def test_jobs_of_equal_facts_are_equal() -> None:
    """Their origin does not matter."""
    assert Job.create("w0!1", size=1, profile="p") == Job.create("w0!1", size=1, profile="p")
