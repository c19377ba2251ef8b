"""Totals over time keep their values, however few points remain."""

from __future__ import annotations

from array import array
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from batsched_py.reporting.pictures.html.growth import MOST_POINTS, energy_growth, state_growth
from batsched_py.simulator.outputs.tracing import EnergyRows, StateRows


def rows(points: list[tuple[float, float]]) -> EnergyRows:
    found = EnergyRows()
    for time, joules in points:
        found.times.append(time)
        found.joules.append(joules)
    return found


def test_rows_of_one_instant_are_one_point() -> None:
    """Times ascend strictly, so that power between them can be told."""
    found = energy_growth(rows([(0, 0), (0, 0), (5, 50), (5, 50), (9, 70)]))
    assert found is not None
    assert (found.time, found.totals) == ([0, 5, 9], [[0, 50, 70]])


def test_without_time_there_is_nothing() -> None:
    """Neither without rows nor with those of a single instant."""
    assert energy_growth(rows([])) is None
    assert energy_growth(rows([(0, 0), (0, 0)])) is None


def test_power_before_the_first_row_is_that_until_it() -> None:
    """What was consumed then was consumed since 0; hosts without a row are idle."""
    found = energy_growth(rows([(10, 500), (20, 900)]))
    assert found is not None
    assert (found.time, found.totals) == ([0, 10, 20], [[0, 500, 900]])
    states = StateRows()
    states.times.extend([10, 20])
    states.counts.extend([1, 0, 0, 3, 0, 0, 0, 0, 4, 0])
    hosts = state_growth(states, 4)
    assert hosts is not None
    assert (hosts.time, hosts.totals[0], hosts.totals[3]) == ([0, 10, 20], [0, 0, 10], [0, 40, 70])


@given(st.lists(st.floats(0, 100), min_size=2, max_size=60), st.integers(1, 20))
def test_what_remains_of_many_rows_is_true_and_ends_where_they_end(steps: list[float], most: int) -> None:
    """Each point is one of the rows; times ascend strictly; no more points than asked for, and the first."""
    points, time = [(0.0, 0.0)], 0.0
    for step in steps:
        time += step
        points.append((time, 2 * time))
    found = energy_growth(rows(points), most)
    if found is None:
        assert points[0][0] == points[-1][0]
        return
    assert set(zip(found.time, found.totals[0], strict=True)) <= set(points)
    assert all(before < after for before, after in pairwise(found.time))
    assert (found.time[0], found.time[-1]) == (points[0][0], points[-1][0])
    assert len(found.time) <= most + 2


def test_a_long_trace_becomes_short() -> None:
    """About as many points as a picture is wide."""
    found = energy_growth(rows([(float(number), 3.0 * number) for number in range(50_000)]))
    assert found is not None
    assert len(found.time) <= MOST_POINTS + 2


def test_states_are_told_where_a_host_sleeps() -> None:
    """In the order of a trace; hosts that only compute and idle need no picture."""
    asleep = StateRows(array("d", [0, 10]), array("L", [1, 0, 0, 1, 2, 4, 0, 0, 0, 0]))
    awake = StateRows(array("d", [0, 10]), array("L", [0, 0, 0, 2, 2, 0, 0, 0, 4, 0]))
    found = state_growth(asleep, 4)
    assert found is not None
    assert found.totals == [[0, 10], [0, 0], [0, 0], [0, 10], [0, 20]]
    assert state_growth(awake, 4) is None
