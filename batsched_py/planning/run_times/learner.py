"""A regression of run times that is learned on line, from each job that ends."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from batsched_py.model.job import Job
from batsched_py.planning.run_times.predictor import Predictor, User

# Source: Gaussier, Glesser, Reis, Trystram, Improving backfilling by using machine learning to predict running times,
# SC'15. A linear model on all products of two features is fitted to the loss of each job that ends. The loss is
# asymmetric: a prediction that is too long costs the square of its error, one that is too short the error itself, and
# both are weighted by log(hosts * run time). So short predictions are preferred, which are corrected, to long ones,
# which block backfilling.
#
# The descent is NAG of Ross, Mineiro, Langford, Normalized online learning, UAI 2013: features have units that differ
# by many orders of magnitude (hosts, seconds, squares of seconds), and the rate of each weight is divided by the
# largest value of its feature and the root of its squared gradients. When a larger value comes, the weight is scaled.
#
# It is written in Python, without numpy: a job costs 0.2 ms, and the same input gives the same bytes on any machine.
# Sums of products are in a fixed order for the same reason.
#
# A regression may be negative. As in the authors' program its absolute value is the prediction, while the gradient is
# that of its value. With a minimum instead, most predictions would be that minimum: on KTH-SP2 the mean bounded
# slowdown with EASY-SJBF would be 71.4, not 60.2.
#
# The features of a job are those of the instant at which it is first predicted; it is learned with the same.

DAY: Final = 86_400.0
WEEK: Final = 7 * DAY
#: The rate of the descent, in seconds: the largest step of one weight on a feature at its largest value.
RATE: Final = 5000.0


class UserPast:
    """The jobs of a user: last run times, sums, running jobs."""

    __slots__ = ("count", "hosts", "last", "last_end", "running", "seconds")

    def __init__(self) -> None:
        #: The last three run times, the latest first.
        self.last: tuple[float, ...] = ()
        #: Number of ended jobs, sum of their run times, sum of their sizes, the latest end.
        self.count, self.seconds, self.hosts, self.last_end = 0, 0.0, 0, 0.0
        #: Id of a running job -> its size, its start.
        self.running: dict[str, tuple[int, float]] = {}

    def features(self, job: Job, now: float) -> list[float]:
        """Return the features of a job, the first of which is 1 for the constant of the regression."""
        request = 0.0 if job.walltime is None else job.walltime
        lasts = [*self.last, *[request] * (3 - len(self.last))]
        if job.walltime is not None:
            lasts = [min(last, request) for last in lasts]
        known = lasts[: max(1, len(self.last))]
        ages = [now - start for _, start in self.running.values()]
        mean_hosts = self.hosts / self.count if self.count else float(job.size)
        day, week = 2.0 * math.pi * now / DAY, 2.0 * math.pi * now / WEEK
        return [
            *(1.0, request, *lasts, sum(known[:2]) / len(known[:2]), sum(known) / len(known)),
            self.seconds / self.count if self.count else request,
            *(float(job.size), mean_hosts, job.size / mean_hosts),
            now - self.last_end if self.count else 0.0,
            *(float(len(ages)), math.fsum(ages), max(ages, default=0.0)),
            float(sum(size for size, _ in self.running.values())),
            *(math.cos(day), math.sin(day), math.cos(week), math.sin(week)),
        ]


class Fitted(Struct, frozen=True):
    """The inputs of a regression for a job."""

    values: Sequence[float]


class Regression(Predictor):
    """A regression on features of a job and of its user's past, learned from each job that ends."""

    by_user = True

    def __init__(self) -> None:
        self._users: dict[User, UserPast] = {}
        #: Job id -> its inputs, of jobs that have not ended.
        self._jobs: dict[str, Fitted] = {}

    @abstractmethod
    def inputs(self, features: Sequence[float]) -> Sequence[float]:
        """Return the inputs of the regression for the features of a job, see `UserPast.features`."""

    @abstractmethod
    def estimate(self, inputs: Sequence[float]) -> float | None:
        """Return the predicted run time in seconds; None before a job was learned."""

    @abstractmethod
    def fit(self, inputs: Sequence[float], run_time: float, hosts: int) -> None:
        """Learn from a job that took `run_time` seconds on so many hosts."""

    def predict(self, job: Job, user: User, now: float) -> float | None:
        """Return the value of the regression; no prediction before a job has ended."""
        fitted = self._jobs.get(job.id)
        if fitted is None:
            fitted = self._jobs[job.id] = Fitted(self.inputs(self._past(user).features(job, now)))
        return self.estimate(fitted.values)

    def begin(self, job: Job, user: User, now: float) -> None:
        """Record the start of a job."""
        self._past(user).running[job.id] = (job.size, now)

    def learn(self, job: Job, user: User, run_time: float, now: float) -> None:
        """Learn from the job, if it was predicted, and add it to the user's past."""
        past = self._past(user)
        past.running.pop(job.id, None)
        fitted = self._jobs.pop(job.id, None)
        if fitted is not None:
            self.fit(fitted.values, run_time, job.size)
        if user is not None:
            past.last = (run_time, *past.last[:2])
            past.count, past.seconds, past.hosts = past.count + 1, past.seconds + run_time, past.hosts + job.size
            past.last_end = now

    def _past(self, user: User) -> UserPast:
        past = self._users.get(user)
        if past is None:
            past = self._users[user] = UserPast()
        return past


class OnlineLearner(Regression):
    """The on-line regression of Gaussier, Glesser, Reis and Trystram (SC'15), with their asymmetric loss."""

    def __init__(self, rate: float = RATE) -> None:
        """Begin with weights of 0."""
        super().__init__()
        self._rate = rate
        self._weights: list[float] = []
        #: Per weight: the largest absolute value of its feature, and the sum of its squared gradients.
        self._scales: list[float] = []
        self._squares: list[float] = []
        #: The number of learned jobs, and the sum of their squared features, each relative to its scale.
        self._learned, self._norm = 0, 0.0

    def inputs(self, features: Sequence[float]) -> Sequence[float]:
        """Return all products of two features."""
        return products(features)

    def estimate(self, inputs: Sequence[float]) -> float | None:
        """Return the absolute value of the regression."""
        return abs(self._value(inputs)) if self._learned else None

    def _value(self, values: Sequence[float]) -> float:
        return sum(map(float.__mul__, self._weights, values))

    def fit(self, inputs: Sequence[float], run_time: float, hosts: int) -> None:
        """Change the weights by the gradient of the loss of a job: a step of the descent."""
        weight = math.log(max(hosts * run_time, 1.0))
        if not self._weights:
            self._weights, self._scales, self._squares = ([0.0] * len(inputs) for _ in range(3))
        weights, scales, squares = self._weights, self._scales, self._squares
        for place, value in enumerate(inputs):
            size = abs(value)
            if size > scales[place]:
                weights[place] *= scales[place] / size
                scales[place] = size
        self._learned += 1
        self._norm += sum((value / scale) ** 2 for value, scale in zip(inputs, scales, strict=True) if scale)
        error = self._value(inputs) - run_time
        slope = weight * (2.0 * error if error > 0.0 else -1.0)
        if not slope:
            return
        rate = self._rate * math.sqrt(self._learned / self._norm)
        for place, value in enumerate(inputs):
            if value:
                gradient = slope * value
                squares[place] += gradient * gradient
                weights[place] -= rate * gradient / (scales[place] * math.sqrt(squares[place]))


def products(features: Sequence[float]) -> list[float]:
    """Return all products of two features, each with itself too; the first feature is 1, so that all are among them."""
    return [
        features[first] * features[second] for first in range(len(features)) for second in range(first, len(features))
    ]
