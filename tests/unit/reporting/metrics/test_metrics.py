"""Metrics, on schedules small enough to work out by hand."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.reporting.metrics.metrics import Metrics, bounded_slowdown, measure, summarise
from tests.unit.reporting.records import record, rejected, result


def test_figures_of_two_jobs_are_those_worked_out_by_hand() -> None:
    """4 hosts; 2 of them for 30 s, then 4 of them for 20 s."""
    first = record("1", submit=0, start=0, finish=30, hosts="0-1")
    second = record("2", submit=10, start=30, finish=50, hosts="0-3")
    assert measure([first, second], 4) == Metrics(
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
    )


def test_makespan_counts_from_zero_and_not_from_the_first_submission() -> None:
    """As Batsim's does."""
    assert measure([record(submit=100, start=100, finish=110)], 1).makespan == 110.0


def test_rejected_jobs_are_counted_and_in_no_mean() -> None:
    """They have no start; their recorded zeros must not pull a mean down."""
    figures = measure([record(submit=0, start=40, finish=50), rejected(submit=30)], 1)
    assert (figures.jobs, figures.states["REJECTED"]) == (2, 1)
    assert (figures.mean_wait, figures.mean_turnaround, figures.throughput) == (40.0, 50.0, 1 / 50)


def test_jobs_that_were_killed_or_timed_out_are_in_the_means() -> None:
    """They held their hosts like the others."""
    killed = record("1", start=10, finish=20, state="COMPLETED_KILLED")
    late = record("2", start=30, finish=40, state="COMPLETED_WALLTIME_REACHED")
    assert measure([killed, late], 1).mean_wait == 20.0


@pytest.mark.parametrize("records", [[], [rejected()]])
def test_without_a_job_that_ran_figures_are_none(records: list[object]) -> None:
    """Neither zero, which would look like a good figure, nor a division by zero."""
    figures = summarise(result(*records)).metrics  # type: ignore[arg-type]
    assert figures.makespan == 0.0
    assert {figures.utilisation, figures.throughput, figures.mean_wait, figures.max_wait} == {None}
    assert {figures.mean_bounded_slowdown, figures.mean_turnaround} == {None}


def test_states_are_reported_in_a_fixed_order() -> None:
    """Whatever ended first."""
    states = ["REJECTED", "COMPLETED_KILLED", "COMPLETED_SUCCESSFULLY"]
    assert list(measure([record(state=state) for state in states], 1).states) == states[::-1]


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
def test_figures_do_not_depend_on_the_order_of_jobs(times: list[tuple[float, float, float]], random: Random) -> None:
    """To the last bit."""
    records = [
        record(str(number), submit=submit, start=submit + wait, finish=submit + wait + run)
        for number, (submit, wait, run) in enumerate(times)
    ]
    shuffled = random.sample(records, len(records))
    assert measure(records, 3) == measure(shuffled, 3)


@given(st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 1e5), st.floats(1e-3, 1e5)), min_size=1, max_size=20))
def test_slowdown_is_at_least_one_and_the_mean_wait_is_at_most_the_maximum(
    times: list[tuple[float, float, float]],
) -> None:
    """Up to rounding."""
    figures = measure([record(submit=a, start=a + b, finish=a + b + c) for a, b, c in times], 1)
    assert figures.mean_bounded_slowdown is not None
    assert figures.mean_wait is not None
    assert figures.max_wait is not None
    assert figures.mean_bounded_slowdown >= 1.0
    assert figures.mean_wait <= figures.max_wait * (1 + 1e-12)


def test_a_summary_takes_what_was_measured_from_the_result() -> None:
    """And nothing else changes between two runs."""
    slow, fast = (summarise(result(record(), deciding=seconds)) for seconds in (2.0, 1.0))
    assert (slow.deciding_seconds, fast.deciding_seconds) == (2.0, 1.0)
    assert slow.metrics == fast.metrics
