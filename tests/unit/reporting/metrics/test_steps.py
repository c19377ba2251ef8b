"""Quantities that change in steps, against sums taken instant by instant."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.reporting.metrics.steps import between, highest, integral, mean_over, means, scaled, stacked

SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 5)), max_size=12)


def test_spans_add_up_and_the_first_step_is_at_zero() -> None:
    """A span is half-open: where one ends and another begins, nothing is counted twice."""
    assert stacked([(2, 5, 1), (5, 8, 3), (4, 6, 1)]) == [(0, 0), (2, 1), (4, 2), (5, 4), (6, 3), (8, 0)]
    assert stacked([]) == [(0.0, 0)]


def test_spans_that_hold_no_time_change_nothing() -> None:
    """A job that starts when it comes was never in the queue."""
    assert stacked([(3, 3, 1), (7, 4, 1), (1, 2, 0)]) == [(0.0, 0)]


@given(SPANS)
def test_at_each_instant_the_value_is_the_weight_of_the_spans_that_hold_it(spans: list[tuple[int, int, int]]) -> None:
    """Two neighbouring steps differ."""
    steps = stacked(spans)
    for instant in range(22):
        value = next(value for time, value in reversed(steps) if time <= instant)
        assert value == sum(weight for begin, end, weight in spans if begin <= instant < end)
    assert all(left[1] != right[1] for left, right in itertools.pairwise(steps))


@given(SPANS, st.randoms(use_true_random=False))
def test_the_order_of_the_spans_does_not_matter(spans: list[tuple[int, int, int]], chance: Random) -> None:
    """To the last bit."""
    shuffled = list(spans)
    chance.shuffle(shuffled)
    assert stacked(shuffled) == stacked(spans)


@given(SPANS, st.integers(0, 25), st.integers(1, 25))
def test_the_integral_is_the_sum_over_seconds(spans: list[tuple[int, int, int]], begin: int, length: int) -> None:
    """The quantity changes at whole seconds only."""
    steps, end = stacked(spans), begin + length
    by_second = sum(weight for low, high, weight in spans for second in range(low, high) if begin <= second < end)
    assert integral(steps, begin, end) == by_second
    assert mean_over(steps, begin, end) == by_second / length


def test_a_mean_over_no_time_is_none() -> None:
    """Rather than a division by zero."""
    assert mean_over([(0, 3)], 5, 5) is None


@given(SPANS, st.integers(1, 9))
def test_the_means_of_all_parts_make_the_mean_of_the_whole(spans: list[tuple[int, int, int]], bins: int) -> None:
    """Nothing is lost between two parts."""
    steps = stacked(spans)
    parts = means(steps, 0, 20, bins)
    assert len(parts) == bins
    assert sum(parts) / bins == pytest.approx(mean_over(steps, 0, 20), abs=1e-9)


def test_means_of_parts_are_those_worked_out_by_hand() -> None:
    """A step in the middle of a part counts by half."""
    assert means([(0, 2), (5, 4)], 0, 15, 3) == [2, 4, 4]
    assert means([(0, 2), (5, 4)], 0, 10, 1) == [3]
    assert means([(0, 2), (5, 4)], 0, 0, 2) == [0, 0]


def test_values_are_scaled_and_times_are_not() -> None:
    """From hosts to a part of the hosts."""
    assert scaled([(0, 2), (5, 4)], 4) == [(0, 0.5), (5, 1)]


def test_the_highest_value_of_a_time() -> None:
    """The one that holds at its beginning counts, that of its end does not; no time has none."""
    steps = [(0.0, 1), (10.0, 5), (20.0, 2), (30.0, 9)]
    assert highest(steps, 12, 30) == 5
    assert highest(steps, 20, 30) == 2
    assert highest([(5.0, 0)], 0, 30) == 0
    assert highest(steps, 12, 12) is None


def test_steps_of_a_time() -> None:
    """They begin with the value that holds there, and end before its end."""
    steps = [(0.0, 1), (10.0, 5), (20.0, 2), (30.0, 9)]
    assert between(steps, 12, 30) == [(12, 5), (20.0, 2)]
    assert between(steps, 10, 20) == [(10, 5)]
    assert between([(15.0, 1)], 12, 30) == [(15.0, 1)]
