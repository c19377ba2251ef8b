"""The search in lists of floats, which is a loop of our own in a compiled wheel."""

from __future__ import annotations

import bisect
import math
import random

import pytest

from batsched_py.planning.future.float_bisect import bisect_left, bisect_right


@pytest.mark.parametrize("seed", range(20))
def test_places_are_those_of_python(seed: int) -> None:
    """For numbers that are there once, several times or not at all, in all of a list and in a part of it."""
    chance = random.Random(seed)
    numbers = sorted(float(chance.randint(0, 20)) for _ in range(chance.randint(0, 30)))
    high = chance.randint(0, len(numbers))
    low = chance.randint(0, high)
    for number in (-math.inf, *(half / 2 for half in range(-1, 43)), math.inf):
        assert bisect_left(numbers, number, low, high) == bisect.bisect_left(numbers, number, low, high)
        assert bisect_right(numbers, number, low, high) == bisect.bisect_right(numbers, number, low, high)
