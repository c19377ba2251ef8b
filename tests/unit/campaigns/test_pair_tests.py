"""Statistics of pairs, on values that can be computed by hand or by enumeration."""

from __future__ import annotations

import math
from itertools import product

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.campaigns.pair_tests import holm, pairs_needed, rank_biserial, signed_rank_p
from tests.thoroughness import thorough

DIFFERENCES = st.lists(st.integers(-6, 6).map(float), max_size=9)


@pytest.mark.parametrize(
    ("differences", "effect"),
    [
        ([], None),
        ([0.0, 0.0], None),
        ([1.0, 2.0, 3.0], 1.0),
        ([-1.0, -2.0], -1.0),
        ([1.0, -2.0, 3.0], (4 - 2) / 6),  # ranks 1 and 3 against 2
        ([2.0, -2.0, 5.0, 0.0], (1.5 + 3 - 1.5) / 6),  # a tie has the mean of ranks 1 and 2
    ],
)
def test_the_effect_is_a_difference_of_rank_sums(differences: list[float], effect: float | None) -> None:
    """The difference of the ranks of positive and of negative differences, as a share of all."""
    assert rank_biserial(differences) == (None if effect is None else pytest.approx(effect))


@settings(max_examples=thorough(30))
@given(DIFFERENCES)
def test_the_effect_changes_its_sign_with_the_differences(differences: list[float]) -> None:
    """It does not depend on their order or their scale."""
    effect = rank_biserial(differences)
    assert rank_biserial([3.0 * one for one in reversed(differences)]) == effect
    other = rank_biserial([-one for one in differences])
    assert (effect is None and other is None) or (effect is not None and other == pytest.approx(-effect))


@settings(max_examples=thorough(30))
@given(DIFFERENCES)
def test_the_effect_is_that_of_the_ranks_of_pandas(differences: list[float]) -> None:
    """With the mean rank for ties, and nothing for differences of 0."""
    some = [one for one in differences if one != 0]
    ranks = pandas.Series([abs(one) for one in some], dtype=float).rank()
    balance = sum(math.copysign(rank, one) for rank, one in zip(ranks, some, strict=True))
    assert rank_biserial(differences) == (pytest.approx(balance / sum(ranks)) if some else None)


def test_holm_multiplies_the_smallest_by_the_number_of_all() -> None:
    """The next by one less, and none is smaller than one before it; the example of four tests."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@settings(max_examples=thorough(20))
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_holm_rejects_what_the_steps_reject(values: list[float]) -> None:
    """At any level: the smallest first, until one is above the level divided by the number of those left."""
    corrected = holm(values)
    for level in (0.01, 0.05, 0.3):
        rejected = set()
        for number, place in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
            if (len(values) - number) * values[place] > level:
                break
            rejected.add(place)
        assert {place for place, p in enumerate(corrected) if p <= level} == rejected


def test_p_is_the_share_of_signs_that_are_as_extreme() -> None:
    """Exactly, by enumeration of all signs of the ranks."""
    differences = [1.5, -0.5, 2.5, 3.0, 4.0, -1.0, 7.0]
    ranks = [3, 1, 4, 5, 6, 2, 7]
    observed = abs(sum(math.copysign(rank, one) for rank, one in zip(ranks, differences, strict=True)))
    extreme = [abs(sum(s * r for s, r in zip(signs, ranks, strict=True))) for signs in product((1, -1), repeat=7)]
    share = sum(one >= observed for one in extreme) / len(extreme)
    assert signed_rank_p([*differences, 0.0], "a test") == pytest.approx(share)
    assert signed_rank_p([0.0, 0.0], "a test") == 1.0


def test_the_number_of_pairs_is_the_smallest_that_suffices() -> None:
    """By Student's quantile: of tables, 2.776 for 4 degrees of freedom and 1.984 for 100."""
    differences = [1.0, 2.0, 3.0, 4.0, 5.0]  # deviation sqrt(2.5)
    half_width = 2.7764 * math.sqrt(2.5 / 5)
    assert pairs_needed(differences, 100.0, half_width * 1.001 / 100, 0.95, "a test") == 5
    assert pairs_needed(differences, 100.0, half_width * 0.999 / 100, 0.95, "a test") == 6
    assert pairs_needed(differences, -100.0, 1.9840 * math.sqrt(2.5 / 101) * 1.001 / 100, 0.95, "a test") == 101


def test_a_number_of_pairs_may_be_out_of_reach() -> None:
    assert pairs_needed([1.0], 10.0, 0.05, 0.95, "a test") is None
    assert pairs_needed([1.0, 2.0], 0.0, 0.05, 0.95, "a test") is None
    assert pairs_needed([1.0, 1e9], 1.0, 1e-6, 0.95, "a test") is None
    assert pairs_needed([3.0, 3.0, 3.0], 1.0, 1e-6, 0.95, "a test") == 3


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=thorough(20))
def test_holm_is_between_its_neighbours(values: list[float]) -> None:
    """At least what scipy has for the false discovery rate, at most Bonferroni's, which it is for the smallest."""
    stats = pytest.importorskip("scipy.stats")
    corrected, least = holm(values), stats.false_discovery_control(values, method="bh")
    most = [min(1.0, len(values) * value) for value in values]
    for own, low, high in zip(corrected, least, most, strict=True):
        assert low - 1e-12 <= own <= high + 1e-12
    assert min(corrected) == pytest.approx(min(most))
