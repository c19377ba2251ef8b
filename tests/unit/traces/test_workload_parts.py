"""Parts of workloads: each job in one of them, on a clock of its own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.errors import OptionError, WorkloadError
from batsched_py.traces.delay_workload import DelayJob, delay_workload
from batsched_py.traces.workload_parts import MOST_PARTS, jobs_of, later, parts_of, without_unused_profiles
from tests.unit.simulator.scenario import job as small_job
from tests.unit.simulator.scenario import workload

START = datetime(2024, 5, 31, tzinfo=UTC)
WORKLOAD = delay_workload(
    "a log", 8, [DelayJob(0, 1, 500, 2, 600), DelayJob(9, 2, 5, 1, 9), DelayJob(25, 3, 5, 4, 9)], START
)


def test_a_job_is_where_it_was_submitted() -> None:
    """With all of its run time; times count from the beginning of the part, whose number tells which it is."""
    first, third = parts_of(WORKLOAD, 10)
    assert [(part.number, part.begin, part.end) for part in (first, third)] == [(1, 0, 10), (3, 20, 30)]
    assert [(job.id, job.submit_time, job.members["subtime"]) for job in first.workload.jobs] == [
        ("1", 0, 0),
        ("2", 9, 9),
    ]
    assert [(job.id, job.submit_time, job.members["subtime"]) for job in third.workload.jobs] == [("3", 5, 5)]
    assert list(first.workload.profiles) == ["delay_500", "delay_5"]
    assert list(third.workload.profiles) == ["delay_5"]
    assert third.workload.log_start == datetime(2024, 5, 31, 0, 0, 20, tzinfo=UTC)
    assert third.workload.host_count == 8


@given(st.lists(st.integers(0, 100), min_size=1, max_size=20), st.integers(1, 30))
def test_parts_are_the_whole(times: list[int], length: int) -> None:
    """Each job is in one of them, at its time."""
    jobs = [DelayJob(time, number, 1, 1, 2) for number, time in enumerate(sorted(times))]
    parts = parts_of(delay_workload("a test", 1, jobs), length)
    found = [(job.id, part.begin + job.submit_time) for part in parts for job in part.workload.jobs]
    assert [time for _, time in found] == sorted(times)
    assert all(0 <= job.submit_time < length for part in parts for job in part.workload.jobs)
    assert all(part.workload.jobs for part in parts)


@pytest.mark.parametrize(
    ("length", "rule"),
    [(0, "must be greater than 0 s, not 0"), (0.002, f"must leave at most {MOST_PARTS} parts, not 12\\d+ of 0.002 s")],
)
def test_impossible_lengths(length: float, rule: str) -> None:
    """No time, or more files than anybody wants."""
    with pytest.raises(OptionError, match=f"^--every: {rule}$"):
        parts_of(WORKLOAD, length)


def test_dates_that_cannot_be_written() -> None:
    """After the year 9999 nobody knows."""
    assert later(START, 1e12) is None
    assert later(None, 1) is None


def test_consecutive_jobs_are_a_workload_of_their_own() -> None:
    """Times count from the first of them; profiles of others are left out."""
    part = jobs_of(WORKLOAD, 1, 2)
    assert [(job.id, job.submit_time, job.members["subtime"]) for job in part.jobs] == [("2", 0, 0), ("3", 16, 16)]
    assert list(part.profiles) == ["delay_5"]
    assert part.log_start == datetime(2024, 5, 31, 0, 0, 9, tzinfo=UTC)


@pytest.mark.parametrize(("first", "count"), [(-1, 1), (0, 0), (2, 2), (3, 1)])
def test_jobs_that_are_not_there_are_an_error(first: int, count: int) -> None:
    """One line that tells how many there are."""
    with pytest.raises(WorkloadError, match=f"a log: has 3 jobs, not {count} from number {first} on"):
        jobs_of(WORKLOAD, first, count)


def test_profiles_that_no_job_runs_are_dropped() -> None:
    """A step of a used one, or what it continues with, is used, in any depth."""
    profiles: dict[str, dict[str, Any]] = {
        "outer": {"type": "composed", "seq": ["inner", "d"]},
        "inner": {"type": "composed", "seq": ["asks"]},
        "asks": {"type": "recv", "success": "asks", "failure": "late"},
        "late": {"type": "delay", "delay": 1},
        "d": {"type": "delay", "delay": 1},
        "unused": {"type": "composed", "seq": ["also"]},
        "also": {"type": "delay", "delay": 1},
    }
    whole = workload(small_job("1", "outer"), profiles=profiles)
    kept = without_unused_profiles(whole)
    assert list(kept.profiles) == ["outer", "inner", "asks", "late", "d"]
    assert without_unused_profiles(kept) is kept
