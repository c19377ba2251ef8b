"""Means, quantiles and fairness, against values worked out by hand or by the standard library."""

from __future__ import annotations

import statistics
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.reporting.metrics.statistics import jains_index, mean, quantile

VALUES = st.lists(st.floats(0, 1e9), min_size=1, max_size=30)


def test_of_nothing_there_is_no_metric() -> None:
    """None rather than 0, which would look good."""
    assert (mean([]), quantile([], 0.5), jains_index([])) == (None, None, None)


def test_a_mean_is_rounded_once() -> None:
    """Small values are not lost beside large ones."""
    assert mean([1e16, 1.0, -1e16, 1.0]) == 0.5


@pytest.mark.parametrize(("share", "value"), [(0, 1), (0.25, 1.75), (0.5, 2.5), (0.9, 3.7), (1, 4)])
def test_quantiles_are_interpolated(share: float, value: float) -> None:
    """As R and NumPy do by default."""
    assert quantile([4, 2, 3, 1], share) == pytest.approx(value, rel=1e-15)


@given(st.lists(st.floats(0, 1e9), min_size=2, max_size=30))
def test_quantiles_are_those_of_the_standard_library(values: list[float]) -> None:
    """Its method "inclusive" is the same."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    for percent in (50, 90, 99):
        assert quantile(values, percent / 100) == pytest.approx(cuts[percent - 1], rel=1e-9, abs=1e-9)


def test_fairness_is_1_where_all_have_the_same_and_1_over_n_where_one_has_all() -> None:
    """The two ends of Jain's index; nobody waiting is fair."""
    assert jains_index([7.0, 7.0, 7.0]) == 1
    assert jains_index([5.0, 0.0, 0.0, 0.0]) == 0.25
    assert jains_index([0.0, 0.0]) == 1
    assert jains_index([1.0, 2.0, 3.0]) == pytest.approx(36 / (3 * 14))


@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_matter(values: list[float], chance: Random) -> None:
    """To the last bit."""
    shuffled = list(values)
    chance.shuffle(shuffled)
    for statistic in (mean, jains_index, lambda each: quantile(each, 0.9)):
        assert statistic(shuffled) == statistic(values)


@given(VALUES)
def test_fairness_lies_between_1_over_n_and_1(values: list[float]) -> None:
    """But for the last digit."""
    found = jains_index(values)
    assert found is not None
    assert 1 / len(values) - 1e-9 <= found <= 1 + 1e-9
