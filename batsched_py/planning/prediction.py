"""Predictions of run times from each user's previous jobs, and corrections of predictions that were too short."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

#: Seconds added to a prediction that was too short: a minute at the first correction, five at the second...
INCREMENTS: Final = tuple(60.0 * minutes for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000))
#: Minimum predicted run time in seconds.
SHORTEST: Final = 1.0


class LastTwo:
    """The mean of a user's last two run times.

    Tsafrir, Etsion, Feitelson, "Backfilling using system-generated predictions rather than user runtime estimates",
    IEEE TPDS 18(6), 2007: recent jobs of the same user predict better than similar ones.
    """

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        #: User -> the run times of the last jobs that ended, at most two.
        self._runs: dict[Hashable, tuple[float, ...]] = {}

    def learn(self, user: Hashable, run: float) -> None:
        """Record the run time in seconds of an ended job of this user; None is ignored."""
        if user is not None:
            self._runs[user] = (*self._runs.get(user, ())[-1:], run)

    def predict(self, user: Hashable, walltime: float) -> float:
        """Predict the run time of a job of this user: at most its walltime, which is used without previous jobs."""
        runs = self._runs.get(user, ())
        return min(max(sum(runs) / 2, SHORTEST), walltime) if len(runs) == 2 else walltime


def corrected(first: float, count: int, walltime: float) -> float:
    """Return the prediction after `count` corrections (from 1) of the `first` one, at most the walltime.

    It is the first prediction plus the increment of this correction; the walltime after the last increment.
    """
    return min(first + INCREMENTS[count - 1], walltime) if count <= len(INCREMENTS) else walltime
