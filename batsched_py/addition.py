"""Addition of floating-point numbers, to the same bit in every version of Python."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add


def add_up(values: Iterable[float], start: float = 0.0) -> float:
    """Return the sum of `start` and the values, rounded after each of them, from left to right.

    So add SimGrid and Python 3.11. From Python 3.12 on `sum` makes up for what rounding loses, and so may give another
    last bit.
    """
    return reduce(add, values, start)
