"""Addition of floating-point numbers with the same result in every version of Python."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add


def add_up(values: Iterable[float], start: float = 0.0) -> float:
    """Return the sum of `start` and the values, rounded after each of them, from left to right.

    SimGrid and Python 3.11 add in this way. Since Python 3.12, `sum` compensates rounding errors, and may differ in the
    last bit.
    """
    return reduce(add, values, start)
