"""Workloads made of delay jobs."""

from __future__ import annotations

from batsched_py.traces.delay_workload import DelayJob, delay_workload


def test_order_of_ids_is_that_of_numbers() -> None:
    """Ids are padded to one width."""
    workload = delay_workload("test", 4, [DelayJob(0, number, 5, 1, 9) for number in (1, 10, 100)])
    assert [job.id for job in workload.jobs] == ["001", "010", "100"]


def test_equal_run_times_share_a_profile() -> None:
    """There is one profile for each run time."""
    workload = delay_workload("test", 4, [DelayJob(0, 1, 5, 1, 9), DelayJob(0, 2, 5, 1, 9), DelayJob(0, 3, 6, 1, 9)])
    assert list(workload.profiles) == ["delay_5", "delay_6"]


def test_attributes_and_members_agree() -> None:
    """A job says the same in its attributes and in the members that are written."""
    (job,) = delay_workload("test", 4, [DelayJob(3, 1, 5, 2, 9, members={"user": 7})]).jobs
    assert (job.id, job.submit_time, job.size, job.walltime, job.profile) == ("1", 3, 2, 9, "delay_5")
    assert job.members == {"id": "1", "subtime": 3, "res": 2, "walltime": 9, "profile": "delay_5", "user": 7}


def test_no_jobs() -> None:
    """A workload may be empty."""
    assert delay_workload("test", 4, []).jobs == ()
