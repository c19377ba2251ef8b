"""Means, quantiles and a fairness index, with exact sums: the order of the values does not matter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def known(values: Iterable[float | None]) -> list[float]:
    """Return the values without those that are None."""
    return [value for value in values if value is not None]


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean of the exact sum; None without values."""
    return math.fsum(values) / len(values) if values else None


def quantile(values: Iterable[float], share: float) -> float | None:
    """Return the quantile for a share from 0 to 1; None without values.

    Interpolated between two values: method 7 of R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical
    Packages", The American Statistician 50 (4), 1996, the default of R, NumPy and spreadsheets.
    """
    ordered = sorted(values)
    if not ordered:
        return None
    position = (len(ordered) - 1) * share
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def jains_index(values: Sequence[float]) -> float | None:
    """Return Jain's fairness index of non-negative values: 1 if all are equal, 1/n if only one is not 0; None without.

    It is the square of the sum, divided by n times the sum of the squares (R. K. Jain, D.-M. W. Chiu and W. R. Hawe, "A
    Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared Computer Systems", DEC
    Research Report TR-301, 1984). It is 1 if all values are 0.
    """
    if not values:
        return None
    largest = max(values)
    if largest == 0:
        return 1.0
    shares = [value / largest for value in values]  # prevents overflow and underflow of squares
    return math.fsum(shares) ** 2 / (len(shares) * math.fsum([share * share for share in shares]))
