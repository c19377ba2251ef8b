"""The summary, on schedules small enough to work out by hand, and as it is printed."""

from __future__ import annotations

from io import StringIO
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from batsched_py.reporting.api import Summary, bounded_slowdown, summarise_jobs
from batsched_py.reporting.metrics.summary import summarise, summary_table
from batsched_py.results.records import Result
from tests.unit.reporting.records import record, rejected, result


def test_metrics_of_two_jobs_are_those_worked_out_by_hand() -> None:
    """4 hosts; 2 of them for 30 s, then 4 of them for 20 s."""
    first = record("1", submit=0, start=0, finish=30, hosts="0-1")
    second = record("2", submit=10, start=30, finish=50, hosts="0-3")
    assert summarise_jobs([first, second], 4) == Summary(
        jobs=2,
        states={"COMPLETED_SUCCESSFULLY": 2},
        hosts=4,
        makespan=50.0,
        utilisation=(2 * 30 + 4 * 20) / (4 * 50),
        throughput=2 / 50,
        mean_wait=10.0,
        max_wait=20.0,
        mean_bounded_slowdown=(1 + 40 / 20) / 2,
        mean_turnaround=35.0,
        attempts=2,
        useful_utilisation=(2 * 30 + 4 * 20) / (4 * 50),
        useful_work=140.0,
        lost_work=0.0,
    )


def test_makespan_counts_from_zero_and_not_from_the_first_submission() -> None:
    """As Batsim's does."""
    assert summarise_jobs([record(submit=100, start=100, finish=110)], 1).makespan == 110.0


def test_rejected_jobs_are_counted_and_in_no_mean() -> None:
    """They have no start; their recorded zeros must not pull a mean down."""
    found = summarise_jobs([record(submit=0, start=40, finish=50), rejected(submit=30)], 1)
    assert (found.jobs, found.states["REJECTED"]) == (2, 1)
    assert (found.mean_wait, found.mean_turnaround, found.throughput) == (40.0, 50.0, 1 / 50)


def test_jobs_that_were_killed_or_timed_out_are_in_the_means() -> None:
    """They held their hosts like the others."""
    killed = record("1", start=10, finish=20, state="COMPLETED_KILLED")
    late = record("2", start=30, finish=40, state="COMPLETED_WALLTIME_REACHED")
    assert summarise_jobs([killed, late], 1).mean_wait == 20.0


@pytest.mark.parametrize("records", [[], [rejected()]])
def test_without_a_job_that_ran_metrics_are_none(records: list[object]) -> None:
    """Neither zero, which would look like a good value, nor a division by zero."""
    found = summarise(result(*records))  # type: ignore[arg-type]
    assert found.makespan == 0.0
    assert {found.utilisation, found.throughput, found.mean_wait, found.max_wait} == {None}
    assert {found.mean_bounded_slowdown, found.mean_turnaround} == {None}


def test_states_are_reported_in_a_fixed_order() -> None:
    """The order of ends does not matter."""
    states = ["REJECTED", "COMPLETED_KILLED", "COMPLETED_SUCCESSFULLY"]
    assert list(summarise_jobs([record(state=state) for state in states], 1).states) == states[::-1]


@pytest.mark.parametrize(
    ("wait", "run", "slowdown"),
    [(0, 100, 1.0), (100, 100, 2.0), (10, 5, 1.5), (0, 1, 1.0), (2, 1, 1.0), (1, 0, 1.0)],
)
def test_slowdown_is_bounded_from_below_by_one_and_runs_count_at_least_ten_seconds(
    wait: float, run: float, slowdown: float
) -> None:
    """A job of a second that waits two is no worse off than one of ten."""
    assert bounded_slowdown(wait, run) == slowdown


@given(st.lists(st.tuples(st.floats(0, 1e7), st.floats(0, 1e7), st.floats(1e-5, 1e7)), max_size=20), st.randoms())
def test_metrics_do_not_depend_on_the_order_of_jobs(times: list[tuple[float, float, float]], random: Random) -> None:
    """To the last bit."""
    records = [
        record(str(number), submit=submit, start=submit + wait, finish=submit + wait + run)
        for number, (submit, wait, run) in enumerate(times)
    ]
    shuffled = random.sample(records, len(records))
    assert summarise_jobs(records, 3) == summarise_jobs(shuffled, 3)


@given(st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 1e5), st.floats(1e-3, 1e5)), min_size=1, max_size=20))
def test_slowdown_is_at_least_one_and_the_mean_wait_is_at_most_the_maximum(
    times: list[tuple[float, float, float]],
) -> None:
    """Up to rounding."""
    found = summarise_jobs([record(submit=a, start=a + b, finish=a + b + c) for a, b, c in times], 1)
    assert found.mean_bounded_slowdown is not None
    assert found.mean_wait is not None
    assert found.max_wait is not None
    assert found.mean_bounded_slowdown >= 1.0
    assert found.mean_wait <= found.max_wait * (1 + 1e-12)


def printed(whole: Result) -> list[str]:
    """The lines that are not blank, their columns parted by single blanks."""
    console = Console(file=StringIO(), width=80, color_system=None)
    console.print(summary_table(whole))
    assert isinstance(console.file, StringIO)
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines() if line.strip()]


def test_the_table_has_every_metric_with_its_unit() -> None:
    """Durations on the clock and in seconds."""
    whole = result(
        record("1", finish=93784.25, hosts="0-1"),
        record("2", submit=10, start=3600, finish=3601, hosts="2", state="COMPLETED_WALLTIME_REACHED"),
        rejected(),
        joules=7.2e6,
    )
    assert printed(whole) == [
        "hosts 4",
        "jobs 3",
        "successful 1",
        "walltime reached 1",
        "rejected 1",
        "makespan 1 d 02:03:04 93784.2 s",
        "utilisation 50.00 %",
        "throughput 0.077 jobs/h",
        "mean wait 00:29:55 1795.00 s",
        "maximum wait 00:59:50 3590.00 s",
        "mean turnaround 13:31:28 48687.6 s",
        "mean bounded slowdown 180.050",
        "energy 2.000 kWh 7200000 J",
        "messages 7",
        "deciding measured 0.100 s",
        "simulating measured 0.200 s",
    ]


def test_metrics_without_meaning_are_dashes() -> None:
    """When no job ran."""
    lines = printed(result(rejected()))
    assert "mean wait -" in lines
    assert "utilisation -" in lines
    assert "makespan 00:00:00 0.000 s" in lines


def test_only_the_last_two_lines_differ_from_run_to_run() -> None:
    """They are marked as measured."""
    slow, fast = (printed(result(record(), deciding=seconds)) for seconds in (2.0, 1.0))
    assert slow[:-2] == fast[:-2]
    assert all("measured" in line for line in slow[-2:])
    assert not any("measured" in line for line in slow[:-2])
