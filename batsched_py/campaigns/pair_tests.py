"""Statistics of paired observations: effect sizes, tests, their correction, and how many pairs a precision needs.

The effect size is the matched-pairs rank-biserial correlation (D. S. Kerby, "The simple difference formula: an approach
to teaching nonparametric correlation", Comprehensive Psychology 3, 2014): waits and slowdowns have heavy tails, so that
a standardised mean difference such as Cohen's d depends on a few workloads, and Cliff's delta ignores the pairs. It
belongs to the signed-rank test (F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1(6),
1945), which scipy has. p values are corrected by S. Holm, "A simple sequentially rejective multiple test procedure",
Scandinavian Journal of Statistics 6(2), 1979, which holds for tests that depend on each other, as those here do. The
number of pairs is that of A. M. Law, "Simulation modeling and analysis", McGraw-Hill 2015, section 9.4.1.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from itertools import groupby
from statistics import fmean, stdev
from typing import Any, Final

from msgspec import Struct

from batsched_py.loading import require

#: The extra that has scipy.
EXTRA: Final = "statistics"
#: More pairs are not counted: the precision is out of reach.
MOST_PAIRS: Final = 1_000_000


class PairTests(Struct, frozen=True):
    """Statistics of an algorithm's values paired with those of the baseline; None where they are not asked for.

    Attributes:
        effect: the rank-biserial correlation, positive if the algorithm is better; None if all pairs are equal.
        p: of the signed-rank test, two-sided.
        corrected: the same by Holm's procedure for all tests of a series.
        needed: the number of pairs that the wanted precision needs.
    """

    effect: float | None = None
    p: float | None = None
    corrected: float | None = None
    needed: int | None = None


def rank_biserial(differences: Sequence[float]) -> float | None:
    """Return the share of the rank sum in favour of positive differences minus the share against, from -1 to 1.

    Ranks are those of absolute differences, ties by their mean; differences of 0 are left out. None if all are 0.
    """
    ordered = sorted((one for one in differences if one != 0), key=abs)
    if not ordered:
        return None
    balance, before = 0.0, 0
    for _, tied in groupby(ordered, key=abs):
        signs = [math.copysign(1.0, one) for one in tied]
        balance += math.fsum(signs) * (before + (len(signs) + 1) / 2)
        before += len(signs)
    return balance / (before * (before + 1) / 2)


def holm(values: Sequence[float]) -> list[float]:
    """Return p values corrected for their number by Holm's procedure, in the same order."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    corrected, largest = [0.0] * len(values), 0.0
    for number, place in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - number) * values[place]))
        corrected[place] = largest
    return corrected


def signed_rank_p(differences: Sequence[float], use: str) -> float:
    """Return the two-sided p value of Wilcoxon's signed-rank test, without differences of 0; 1 if all are 0.

    Exact for up to 50 differences without ties, as scipy does it. ExtraError without scipy, which `use` needs.
    """
    found = [one for one in differences if one != 0]
    if not found:
        return 1.0
    return float(_scipy(use).wilcoxon(found).pvalue)


def pairs_needed(
    differences: Sequence[float], reference: float, precision: float, level: float, use: str
) -> int | None:
    """Return how many pairs make the interval of the mean difference at most +-`precision` times `reference` wide.

    The smallest number n from that of the differences on with t(n - 1) * s / sqrt(n) <= precision * |reference|, where
    s is the standard deviation of the differences at hand and t the quantile of Student's distribution for the `level`.
    A smaller number is never returned: fewer pairs would not show this deviation. None for fewer than two differences,
    a reference of 0, or more than MOST_PAIRS. ExtraError without scipy, which `use` needs.
    """
    width = precision * abs(reference)
    if len(differences) < 2 or width == 0:
        return None
    deviation, quantile = stdev(differences, fmean(differences)), _scipy(use).t.ppf

    def suffices(count: int) -> bool:
        return bool(quantile((1 + level) / 2, count - 1) * deviation / math.sqrt(count) <= width)

    low, high = len(differences), MOST_PAIRS
    if not suffices(high):
        return None
    while low < high:  # the half width falls with the number of pairs
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle + 1, high)
    return low


def require_scipy(use: str) -> None:
    """Check that scipy is installed. ExtraError, which names what needs it."""
    require("scipy", use, EXTRA)


def _scipy(use: str) -> Any:
    """Load scipy.stats, which is slow to import and needs an extra."""
    require_scipy(use)
    return importlib.import_module("scipy.stats")
