"""`bisect` for lists of floats. Compiled, it takes a fifth of the time of Python's, which compares objects.

In the interpreter, Python's functions are used.
"""

from __future__ import annotations

import bisect


def bisect_left(numbers: list[float], number: float, low: int, high: int) -> int:
    """Return the first index in [low, high) whose number is not below `number`; `high` if there is none."""
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(numbers: list[float], number: float, low: int, high: int) -> int:
    """Return the first index in [low, high) whose number is above `number`; `high` if there is none."""
    while low < high:
        middle = (low + high) // 2
        if number < numbers[middle]:
            high = middle
        else:
            low = middle + 1
    return low


if __file__.endswith(".py"):
    globals().update(bisect_left=bisect.bisect_left, bisect_right=bisect.bisect_right)
