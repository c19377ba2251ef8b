"""Corrections of predictions that a running job has exceeded."""

from __future__ import annotations

from typing import Final, Literal

#: The rules: `incremental` and `request` are of Tsafrir, Etsion, Feitelson (IEEE TPDS 18(6), 2007), who name the latter
#: gradual and immediate; `doubling` is of Gaussier and others (SC'15).
Correction = Literal["incremental", "request", "doubling"]

#: Seconds added to a prediction that was too short: a minute at the first correction, five at the second...
INCREMENTS: Final = tuple(60.0 * minutes for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000))
#: Minimum predicted run time in seconds.
SHORTEST: Final = 1.0


def corrected(first: float, count: int, walltime: float, rule: Correction = "incremental") -> float:
    """Return the prediction in seconds after `count` corrections (from 1) of the `first` one, at most the walltime.

    With `incremental` it is the first prediction plus the increment of this correction, and the walltime after the last
    increment; with `doubling` twice the one before; with `request` the walltime.
    """
    if rule == "doubling":
        return min(first * 2.0 ** min(count, 1000), walltime)
    if rule == "request" or count > len(INCREMENTS):
        return walltime
    return min(first + INCREMENTS[count - 1], walltime)


def bounded(seconds: float | None, walltime: float) -> float:
    """Return a prediction between a second and the walltime; the walltime if there is none."""
    return walltime if seconds is None else min(max(seconds, SHORTEST), walltime)
