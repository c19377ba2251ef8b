"""Predictions of run times from the past of each user, and corrections of those that were too short."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

#: Seconds added to a prediction that was too short: at the first correction a minute, at the second five...
INCREMENTS: Final = tuple(60.0 * minutes for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000))
#: No job is predicted to run shorter than this, in seconds.
SHORTEST: Final = 1.0


class LastTwo:
    """The mean of a user's last two run times.

    Tsafrir, Etsion, Feitelson, "Backfilling using system-generated predictions rather than user runtime estimates",
    IEEE TPDS 18(6), 2007: recent jobs of the same user tell more than similar ones.
    """

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        #: User -> the run times of the last jobs that ended, at most two.
        self._runs: dict[Hashable, tuple[float, ...]] = {}

    def learn(self, user: Hashable, run: float) -> None:
        """Learn that a job of this user has ended after so many seconds; None is nobody."""
        if user is not None:
            self._runs[user] = (*self._runs.get(user, ())[-1:], run)

    def predict(self, user: Hashable, walltime: float) -> float:
        """Return for how long a job of this user will run: at most its walltime, which counts without a past."""
        runs = self._runs.get(user, ())
        return min(max(sum(runs) / 2, SHORTEST), walltime) if len(runs) == 2 else walltime


def corrected(first: float, count: int, walltime: float) -> float:
    """Return a prediction after so many corrections (from 1) of the first one: never more than the walltime.

    The first prediction and the increment of this correction; the walltime, when there are no more increments.
    """
    return min(first + INCREMENTS[count - 1], walltime) if count <= len(INCREMENTS) else walltime
