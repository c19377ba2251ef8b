"""Jobs in groups: by size, by run time, by what they have in common."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.reporting.api import Schedule, measure_jobs
from batsched_py.reporting.metrics.breakdown import (
    NEVER_RAN,
    RUNTIME_CLASSES,
    break_down,
    cross,
    runtime_class,
    size_class,
)
from batsched_py.reporting.schedules.members import UNKNOWN
from batsched_py.results.records import JobRecord
from tests.unit.reporting.records import record, rejected


def having(job: JobRecord, **members: Any) -> JobRecord:
    """The record of a job with these members."""
    return replace(job, job=replace(job.job, members=members))


#: Two hosts for 60 s without a wait; four for 70 s after 30 s; one for 2 days after 60 s; one that never ran.
JOBS = (
    having(record("1", submit=0, start=0, finish=60, hosts="0-1"), user="ada", queue=1),
    having(record("2", submit=30, start=60, finish=130, hosts="0-3"), user="bob", queue=[2]),
    having(record("3", submit=70, start=130, finish=130 + 2 * 86400, hosts="1"), user="ada"),
    rejected("4"),
)
RUN = Schedule("run", JOBS, 4, {}, source="run_jobs.csv")


@pytest.mark.parametrize(
    ("size", "name"), [(0, "0"), (1, "1"), (2, "2"), (3, "3-4"), (4, "3-4"), (5, "5-8"), (8, "5-8"), (9, "9-16")]
)
def test_classes_of_sizes_end_at_powers_of_two(size: int, name: str) -> None:
    """Each has its upper bound, 8 among them."""
    assert size_class(size) == name


@pytest.mark.parametrize(
    ("seconds", "name"),
    [(0, 0), (60, 0), (60.1, 1), (600, 1), (3600, 2), (3600.5, 3), (14400, 3), (43200, 4), (86400, 5), (86401, 6)],
)
def test_classes_of_run_times(seconds: float, name: int) -> None:
    """Each has its upper bound, an hour among them."""
    assert runtime_class(seconds) == RUNTIME_CLASSES[name]


def test_groups_by_size() -> None:
    """In the order of sizes; a rejected job counts where it would have been, and has no wait."""
    one, two, four = break_down(RUN, "size")
    assert [group.group for group in (one, two, four)] == ["1", "2", "3-4"]
    assert (one.jobs, one.ran, one.mean_wait, one.host_time) == (2, 1, 60, 172800)
    assert (four.jobs, four.mean_wait, four.mean_bounded_slowdown) == (1, 30, 100 / 70)
    assert one.share == 172800 / (172800 + 120 + 280)


def test_groups_by_run_time() -> None:
    """In the order of times; jobs that were rejected are a group of their own."""
    groups = break_down(RUN, "runtime")
    assert [(group.group, group.jobs) for group in groups] == [
        ("up to 1 min", 1),
        ("1 to 10 min", 1),
        ("above 1 d", 1),
        (NEVER_RAN, 1),
    ]
    assert (groups[-1].ran, groups[-1].mean_wait, groups[-1].host_time) == (0, None, 0)


def test_groups_by_user() -> None:
    """The one with most host seconds first; jobs that nobody has last."""
    ada, bob, nobody = break_down(RUN, "user")
    assert (ada.group, ada.jobs, ada.mean_wait, ada.median_wait, ada.p90_wait, ada.max_wait) == (
        "ada",
        2,
        30,
        30,
        54,
        60,
    )
    assert (bob.group, bob.jobs) == ("bob", 1)
    assert (nobody.group, nobody.jobs) == (UNKNOWN, 1)


def test_groups_by_any_member() -> None:
    """Any value is grouped as text."""
    assert {group.group for group in break_down(RUN, "queue")} == {"1", "[2]", UNKNOWN}


def test_slowdowns_have_the_bound() -> None:
    """It is the bound that is passed."""
    run = Schedule("run", (record(submit=0, start=18, finish=20),), 4, {})
    assert break_down(run, "size")[0].max_bounded_slowdown == 2
    assert break_down(run, "size", tau=1)[0].max_bounded_slowdown == 10


@pytest.mark.parametrize(
    ("jobs", "by", "rule"),
    [
        (JOBS, "usr", "run_jobs.csv: has no job with a member 'usr': unknown; did you mean user?"),
        ((having(record()),), "user", "run_jobs.csv: tells no users: '-w WORKLOAD' does"),
        ((having(record()),), "queue", "run_jobs.csv: tells no member 'queue' of jobs"),
    ],
)
def test_members_that_no_job_has(jobs: tuple[JobRecord, ...], by: str, rule: str) -> None:
    """With the names that there are, or where they may be told."""
    with pytest.raises(InputError) as error:
        break_down(replace(RUN, jobs=jobs), by)
    assert rule in str(error.value)


def test_sizes_crossed_with_run_times() -> None:
    """The jobs that ran."""
    found = cross(measure_jobs(RUN))
    assert {place: len(jobs) for place, jobs in found.items()} == {
        ("2", "up to 1 min"): 1,
        ("3-4", "1 to 10 min"): 1,
        ("1", "above 1 d"): 1,
    }
