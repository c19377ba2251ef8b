"""The best values of a metric, by the rule of all reports and comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from batsched_py.reporting.metrics.catalogue import MetricInfo, Unit

#: The smallest relative difference that is shown; for shares, the smallest absolute one.
_SHOWN: Final = 0.0005


def find_best(info: MetricInfo, values: Sequence[float | None]) -> tuple[bool, ...]:
    """Return for each value (None if unknown) whether it is the best; several may be, and often none is.

    No value is the best if neither direction is better, if fewer than two are known, or if no difference would be
    shown: below 1 for counts, 0.05 points for shares, 0.05 % for others. The caller must make sure that the values can
    be compared, which requires runs of the same jobs (same_jobs).
    """
    known = [value for value in values if value is not None]
    if not info.better or len(known) < 2 or alike(info.unit, min(known), max(known)):
        return (False,) * len(values)
    best = max(known) if info.better == "more" else min(known)
    return tuple(value is not None and alike(info.unit, value, best) for value in values)


def alike(unit: Unit, one: float, other: float) -> bool:
    """Return True if the difference is too small to be shown: it rounds to 0.0 points or percent."""
    scale = 1.0 if unit is Unit.SHARE else 0.0 if unit is Unit.COUNT else min(abs(one), abs(other))
    return equal(one, other) or abs(one - other) < _SHOWN * scale


def equal(one: float, other: float) -> bool:
    """Return True if two numbers differ by no more than the rounding of sums."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
