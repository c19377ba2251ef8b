"""Arithmetic on sets of numbers that are the bits of one integer."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.bits import (
    SMALL,
    at_distances,
    bit_runs,
    count_runs,
    counter,
    format_bits,
    interval_bits,
    lowest,
    parse_bits,
    size_of,
    sized,
    without,
)
from batsched_py.hostset import HostSet


def scattered(seed: int, length: int, runs: int) -> int:
    """Runs of ones, here and there."""
    rng = random.Random(seed)
    bits = 0
    for _ in range(runs):
        low = rng.randrange(length)
        bits |= interval_bits(low, min(length - 1, low + rng.choice((0, 1, 5, 63, 64, 700))))
    return bits


def places(bits: int) -> list[int]:
    """The ones, one by one."""
    return [number for number in range(bits.bit_length()) if bits >> number & 1]


#: Small and large, dense and sparse.
sets = st.builds(
    scattered, st.integers(0, 1000), st.sampled_from((10, 300, SMALL, SMALL + 1, 20_000)), st.sampled_from((1, 9, 200))
)


@given(sets)
def test_all_ways_to_look_at_a_set_agree(bits: int) -> None:
    """However large it is, and whether or not its size was asked for before."""
    ones = places(bits)
    assert [size_of(bits), size_of(bits), counter(bits)(bits), len(HostSet(bits))] == [len(ones)] * 4
    runs = list(bit_runs(bits))
    assert [number for low, high in runs for number in range(low, high + 1)] == ones
    assert all(high + 1 < low for (_, high), (low, _) in pairwise(runs))
    assert count_runs(bits) == len(runs)
    assert parse_bits(format_bits(bits)) == bits == parse_bits(format_bits(bits + 0))


@given(sets, st.floats(0, 1))
def test_some_of_a_set(bits: int, share: float) -> None:
    """The lowest ones, and ones at equal distances."""
    ones = places(bits)
    count = max(1, round(share * len(ones)))
    assert lowest(bits, count) == sum(1 << number for number in ones[:count])
    assert lowest(bits, len(ones) + 1) is None
    chosen = at_distances(bits, count)
    assert places(chosen) == [ones[position * len(ones) // count] for position in range(count)]
    assert size_of(chosen) == count


@given(sets, sets)
def test_without_the_others(bits: int, others: int) -> None:
    """As with a complement."""
    assert without(bits, others) == bits & ~others


def test_a_size_is_remembered_for_one_integer_only() -> None:
    """Many others may come and go, at the same places in memory."""
    for number in range(5000):
        bits = 1 << (SMALL + number) | 1
        assert size_of(bits) == 2
        assert sized(bits ^ 1, 1) == size_of(bits ^ 1) == 1


def test_a_negative_number_is_no_set() -> None:
    """It would have endless ones."""
    with pytest.raises(ValueError, match="negative"):
        list(bit_runs(-(1 << SMALL)))
