"""Intervals: exact where they can be counted, as wide as they promise where they cannot."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.campaigns.bootstrap import Bootstrap, Estimate

VALUES = st.floats(0.001, 1e6)


def test_one_observation_has_no_interval() -> None:
    """Nobody knows what the next would be."""
    pairs = Bootstrap(1).compare([3.0], [4.0])
    assert pairs.difference == Estimate(-1.0)
    assert pairs.ratio == Estimate(0.75)
    assert (pairs.smaller, pairs.equal, pairs.larger) == (1, 0, 0)


def test_two_observations_can_be_counted() -> None:
    """Resamples of 0 and 2 have the means 0, 1 and 2, with 1/4, 1/2 and 1/4: the middle 40 % are 1, 95 % reach 0."""
    assert Bootstrap(2, level=0.4).mean([0.0, 2.0]) == Estimate(1.0, 1.0, 1.0)
    assert Bootstrap(2, level=0.95).mean([0.0, 2.0]) == Estimate(1.0, 0.0, 2.0)


def test_three_observations_can_be_counted() -> None:
    """The means of the 27 resamples of 0, 0 and 3 are 0, 1, 2 and 3 in 8, 12, 6 and 1 cases: 96 % are below 3."""
    bootstrap = Bootstrap(3, level=0.9)
    assert bootstrap.mean([0.0, 0.0, 3.0]) == Estimate(1.0, 0.0, 2.0)
    assert Bootstrap(3, level=0.95).mean([0.0, 0.0, 3.0]) == Estimate(1.0, 0.0, 3.0)


def test_the_interval_of_a_constant_is_a_point() -> None:
    """All resamples are the same."""
    pairs = Bootstrap(8).compare([2.0] * 8, [8.0] * 8)
    assert pairs.difference == Estimate(-6.0, -6.0, -6.0)
    assert pairs.ratio == Estimate(0.25, 0.25, 0.25)


def test_a_ratio_to_nothing_is_none() -> None:
    """A ratio whose resamples may be ratios to nothing has no interval."""
    assert Bootstrap(4).compare([1.0] * 4, [0.0] * 4).ratio is None
    assert Bootstrap(4).compare([1.0] * 4, [0.0, 0.0, 0.0, 2.0]).ratio == Estimate(2.0)


@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_the_workloads_does_not_count(pairs: list[tuple[float, float]], rng: Random) -> None:
    """To the last bit: files may be given in any order."""
    shuffled = rng.sample(pairs, len(pairs))
    bootstrap = Bootstrap(len(pairs), resamples=50)
    first, second = (bootstrap.compare([a for a, _ in some], [b for _, b in some]) for some in (pairs, shuffled))
    assert first == second
    assert bootstrap.mean([a for a, _ in pairs]) == bootstrap.mean([a for a, _ in shuffled])


@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=12))
def test_what_is_swapped_is_turned_round(pairs: list[tuple[float, float]]) -> None:
    """The difference changes its sign, wins are losses, and an interval lies between what was observed."""
    bootstrap = Bootstrap(len(pairs), resamples=200)
    ones, others = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = bootstrap.compare(ones, others), bootstrap.compare(others, ones)
    assert there.difference.value == -back.difference.value
    assert (there.smaller, there.equal, there.larger) == (back.larger, back.equal, back.smaller)
    assert there.count == len(pairs)
    assert there.ratio is not None
    assert there.ratio.value == pytest.approx(math.fsum(ones) / math.fsum(others))
    gaps = [a - b for a, b in pairs]
    assert there.difference.low is not None
    assert there.difference.high is not None
    slack = 1e-9 * (sum(ones) + sum(others))
    assert min(gaps) - slack <= there.difference.low <= there.difference.high <= max(gaps) + slack


def coverage(count: int, trials: int, level: float = 0.95) -> float:
    """Return the share of intervals of a difference that contain the true one, for observations with much in common."""
    rng, hits = Random(7), 0
    bootstrap = Bootstrap(count, level=level, resamples=500)
    for _ in range(trials):
        common = [rng.expovariate(0.01) for _ in range(count)]
        ones = [value + rng.gauss(5.0, 3.0) for value in common]
        found = bootstrap.compare(ones, common).difference
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 5.0 <= found.high
    return hits / trials


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Nearly: with 20 observations that are normal, 95 % are about 93 %, and 80 % about 78 %."""
    assert 0.90 <= coverage(20, 400) <= 0.97
    assert 0.74 <= coverage(20, 400, level=0.8) <= 0.83


def test_few_observations_have_intervals_that_are_too_narrow() -> None:
    """The command warns of that."""
    assert coverage(4, 400) < 0.90


def test_the_same_observations_have_the_same_interval() -> None:
    """The draws have a seed; another seed draws otherwise, but not far from it."""
    rng = Random(3)
    values = [rng.expovariate(1.0) for _ in range(20)]
    first, again, other = (Bootstrap(20, seed=seed).mean(values) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first.low == pytest.approx(other.low, abs=0.02)
    assert first.high == pytest.approx(other.high, abs=0.02)
