"""Windows: what users ask for, on the clocks of runs, and the jobs that belong to them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from msgspec.structs import replace

from batsched_py.errors import OptionError
from batsched_py.reporting.api import Schedule
from batsched_py.reporting.schedules.time_window import TimeWindow, WindowChoice
from tests.unit.reporting import lease_runs
from tests.unit.reporting.records import record, rejected

#: Summer in Stockholm.
START = datetime(1996, 9, 23, 12, tzinfo=timezone(timedelta(hours=2)))
RUN = Schedule(
    "run",
    (
        record("1", submit=10, start=10, finish=30),
        record("2", submit=20, start=30, finish=50),
        rejected("3", submit=25),
        record("4", submit=40, start=50, finish=90),
    ),
    4,
    {},
    log_start=START,
    unlisted=2,
)


def names(schedule: Schedule) -> list[str]:
    """The jobs of a schedule."""
    return [each.job.name for each in schedule.jobs]


def test_a_job_belongs_where_it_was_submitted() -> None:
    """Half-open, whenever it runs; jobs without a row are in no window."""
    part = TimeWindow(20, 40).submitted(RUN)
    assert names(part) == ["2", "3"]
    assert part.unlisted == 0
    assert (part.hosts, part.log_start) == (4, START)


def test_what_is_seen_waits_or_runs() -> None:
    """A rejected job is seen where it was submitted."""
    assert names(TimeWindow(31, 40).seen(RUN)) == ["2"]
    assert names(TimeWindow(20, 41).seen(RUN)) == ["1", "2", "3", "4"]


def test_leases_belong_where_they_were_asked_for() -> None:
    """A run without leases stays one."""
    run = lease_runs.schedule()
    assert run.leases is not None
    first = min(row.submit_time for row in run.leases.leases.values())
    part = TimeWindow(first, first + 1e-3).submitted(run).leases
    assert part is not None
    assert {row.submit_time for row in part.leases.values()} == {first}
    assert len(part.leases) < len(run.leases.leases)


@pytest.mark.parametrize(
    ("choice", "begin", "end"),
    [
        (WindowChoice(begin=20), 20, 90),
        (WindowChoice(until=60), 0, 60),
        (WindowChoice(begin=20, until=200), 20, 200),
        (WindowChoice(skip=15), 25, 90),
        (WindowChoice(skip=0, until=50), 10, 50),
        (WindowChoice(begin=datetime(1996, 9, 23, 12, 0, 20)), 20, 90),
        (WindowChoice(until=datetime(1996, 9, 23, 10, 0, 50, tzinfo=UTC)), 0, 50),
        (WindowChoice(begin=datetime(1990, 1, 1)), 0, 90),
    ],
)
def test_windows_on_a_run(choice: WindowChoice, begin: float, end: float) -> None:
    """Dates without an offset have that of the log; nothing is before 0; the end is that of the last job."""
    assert choice.on(RUN) == TimeWindow(begin, end)


def test_the_whole_run_is_no_window() -> None:
    """Nothing was asked for."""
    assert WindowChoice().on(RUN) is None
    assert str(WindowChoice()) == ""


@pytest.mark.parametrize(
    ("choice", "run", "message"),
    [
        (WindowChoice(begin=90), RUN, "run: there is no time from 90 to 90: the last job ends at 90"),
        (WindowChoice(begin=30, until=20), RUN, "run: there is no time from 30 to 20"),
        (WindowChoice(until=datetime(1990, 1, 1)), RUN, "there is no time from 0 to 0"),
        (
            WindowChoice(begin=datetime(1996, 9, 24)),
            replace(RUN, log_start=None),
            "--from: is a date, and run does not tell at which date its clock started: give seconds",
        ),
    ],
)
def test_impossible_windows(choice: WindowChoice, run: Schedule, message: str) -> None:
    """Are told in one line."""
    with pytest.raises(OptionError, match=message):
        choice.on(run)


def test_from_and_skip_exclude_each_other() -> None:
    """Both say where the window begins."""
    with pytest.raises(OptionError, match="--skip: cannot be combined with --from"):
        WindowChoice(begin=1, skip=1)


def test_one_window_on_several_runs() -> None:
    """The first submission and the last end of any; dates need one clock."""
    later = replace(RUN, name="later", jobs=(record("9", submit=5, start=100, finish=200),))
    assert WindowChoice(skip=1).on_all([RUN, later]) == TimeWindow(6, 200)
    other = replace(later, log_start=None)
    assert WindowChoice(begin=6).on_all([RUN, other]) == TimeWindow(6, 200)
    with pytest.raises(OptionError, match="run and later have clocks that started at different dates"):
        WindowChoice(begin=START).on_all([RUN, other])


def test_a_choice_in_words() -> None:
    """As tables tell it."""
    assert str(WindowChoice(begin=864000, until=START)) == "from 864000 s to 1996-09-23 12:00:00+02:00"
    assert str(WindowChoice(skip=60.5)) == "from 60.5 s after the first submission"
