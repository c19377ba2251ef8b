"""Predictors from the previous jobs of each user."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Hashable

from batsched_py.model.job import Job
from batsched_py.planning.run_times.predictor import Predictor, User


class LastTwo(Predictor):
    """The mean of a user's last two run times; no prediction before two jobs have ended.

    Tsafrir, Etsion, Feitelson, "Backfilling using system-generated predictions rather than user runtime estimates",
    IEEE TPDS 18(6), 2007: recent jobs of the same user predict better than similar ones.
    """

    by_user = True

    def __init__(self) -> None:
        #: User -> the run times of the last jobs that ended, at most two.
        self._runs: dict[Hashable, tuple[float, ...]] = {}

    def predict(self, job: Job, user: User, now: float) -> float | None:  # noqa: ARG002
        """Return the mean of two run times."""
        runs = self._runs.get(user, ())
        return sum(runs) / 2 if len(runs) == 2 else None

    def learn(self, job: Job, user: User, run_time: float, now: float) -> None:  # noqa: ARG002
        """Replace the older one; jobs without a user are ignored."""
        if user is not None:
            self._runs[user] = (*self._runs.get(user, ())[-1:], run_time)


class MeanOfAll(Predictor):
    """The mean of all run times of a user; no prediction before one job has ended."""

    by_user = True

    def __init__(self) -> None:
        #: User -> number of ended jobs, sum of their run times.
        self._sums: dict[Hashable, tuple[int, float]] = {}

    def predict(self, job: Job, user: User, now: float) -> float | None:  # noqa: ARG002
        """Return the mean."""
        count, total = self._sums.get(user, (0, 0.0))
        return total / count if count else None

    def learn(self, job: Job, user: User, run_time: float, now: float) -> None:  # noqa: ARG002
        """Add the run time; jobs without a user are ignored."""
        if user is not None:
            count, total = self._sums.get(user, (0, 0.0))
            self._sums[user] = (count + 1, total + run_time)


class PercentileOfAll(Predictor):
    """A percentile of all run times of a user, by nearest rank; no prediction before one job has ended."""

    by_user = True

    def __init__(self, percentile: float) -> None:
        """Take the percentile, greater than 0, at most 100."""
        self._share = percentile / 100.0
        #: User -> run times of ended jobs, ascending.
        self._runs: dict[Hashable, list[float]] = {}

    def predict(self, job: Job, user: User, now: float) -> float | None:  # noqa: ARG002
        """Return the smallest run time that is not exceeded by this percentage of all."""
        runs = self._runs.get(user)
        return runs[max(0, math.ceil(self._share * len(runs)) - 1)] if runs else None

    def learn(self, job: Job, user: User, run_time: float, now: float) -> None:  # noqa: ARG002
        """Insert the run time; jobs without a user are ignored."""
        if user is not None:
            insort(self._runs.setdefault(user, []), run_time)
