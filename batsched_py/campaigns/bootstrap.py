"""Confidence intervals of means, paired differences and ratios, by resampling the observations (percentile bootstrap).

B. Efron, "Bootstrap methods: another look at the jackknife", The Annals of Statistics 7(1), 1979; B. Efron and
R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman and Hall 1993, chapter 13 (the percentile interval).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import itemgetter
from random import Random
from statistics import fmean
from typing import Any, Final

from msgspec import Struct

#: With fewer observations, intervals are narrower than their level promises.
FEW: Final = 10
LEVEL: Final = 0.95
RESAMPLES: Final = 10_000


class Estimate(Struct, frozen=True):
    """A value and its confidence interval.

    Attributes:
        value: the observed value.
        low, high: the ends of the interval; None for a single observation, or if the value of some resample is
            undefined (a ratio to 0).
    """

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def nonzero(self) -> bool:
        """True if the interval does not contain 0; without an interval, True if the value is not 0."""
        low, high = self.value if self.low is None else self.low, self.value if self.high is None else self.high
        return low > 0 or high < 0

    def texts(self, digits: int, scale: float = 1.0) -> list[str]:
        """Format the value and the ends of its interval, if it has one, with `digits` digits after the point."""
        numbers = [number for number in (self.value, self.low, self.high) if number is not None]
        return [f"{number * scale:z.{digits}f}" for number in numbers]


class Pairs(Struct, frozen=True):
    """Two series of paired observations: each pair was made under the same conditions.

    Attributes:
        difference: mean of (one - other).
        ratio: mean of the ones / mean of the others; None if the latter is 0.
        smaller, equal, larger: number of pairs in which the first observation is smaller, equal or larger.
    """

    difference: Estimate
    ratio: Estimate | None
    smaller: int
    equal: int
    larger: int

    @property
    def count(self) -> int:
        """The number of pairs."""
        return self.smaller + self.equal + self.larger


class Bootstrap:
    """A set of resamples, drawn with replacement, that is the same for all means and comparisons.

    Observations are sorted first, so results do not depend on their order.
    """

    def __init__(self, count: int, *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 1) -> None:
        """Draw `resamples` resamples of `count` observations; `level` is between 0 and 1."""
        self.count, self.level = count, level
        #: Functions that take a resample from a sequence of `count` values; none for fewer than two values.
        self._draws: list[Callable[[Sequence[float]], Any]] = []
        if count > 1:
            rng, positions = Random(seed), range(count)
            self._draws = [itemgetter(*rng.choices(positions, k=count)) for _ in range(resamples)]

    def mean(self, values: Sequence[float]) -> Estimate:
        """Estimate the mean of unpaired observations."""
        ordered = sorted(values)
        return self._estimate(fmean(ordered), [total / self.count for total in self._sums(ordered)])

    def compare(self, ones: Sequence[float], others: Sequence[float]) -> Pairs:
        """Estimate difference and ratio of paired observations: first with first, second with second..."""
        pairs = sorted(zip(ones, others, strict=True))
        one, other = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        one_sums, other_sums = self._sums(one), self._sums(other)
        differences = [(left - right) / self.count for left, right in zip(one_sums, other_sums, strict=True)]
        return Pairs(
            difference=self._estimate(fmean([left - right for left, right in pairs]), differences),
            ratio=self._ratio(math.fsum(one), math.fsum(other), one_sums, other_sums),
            smaller=sum(left < right for left, right in pairs),
            equal=sum(left == right for left, right in pairs),
            larger=sum(left > right for left, right in pairs),
        )

    def _ratio(self, one: float, other: float, ones: Sequence[float], others: Sequence[float]) -> Estimate | None:
        if other == 0:
            return None
        if not all(others):
            return Estimate(one / other)
        return self._estimate(one / other, [left / right for left, right in zip(ones, others, strict=True)])

    def _sums(self, values: Sequence[float]) -> list[float]:
        """Return the sum of each resample."""
        return [sum(draw(values)) for draw in self._draws]

    def _estimate(self, value: float, found: list[float]) -> Estimate:
        """Return a value with the interval between two percentiles of `found`, which is sorted in place."""
        if not found:
            return Estimate(value)
        found.sort()
        cut = math.floor((1 - self.level) / 2 * len(found))
        return Estimate(value, found[cut], found[-1 - cut])
