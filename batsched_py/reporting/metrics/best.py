"""The best values of a metric: the one rule by which reports and comparisons mark them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from batsched_py.reporting.metrics.run_metrics import MetricInfo, Unit

#: Smaller parts of a metric, or of 1 for shares, are not shown as differences.
_SHOWN: Final = 0.0005


def find_best(info: MetricInfo, values: Sequence[float | None]) -> tuple[bool, ...]:
    """Tell for each value, None for an unknown one, if it is the best; several may be, and often none is.

    None is if neither direction is better, if fewer than two are known, or if all look the same where differences are
    shown: counts by 1, shares by 0.05 points, all else by 0.05 %. Whether the values may be compared, which needs runs
    of the same jobs (same_jobs), is for the caller to know.
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
