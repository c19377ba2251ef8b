"""Predictors of run times by name."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from batsched_py.model.job import Job
from batsched_py.named import Named, by_name, failed
from batsched_py.planning.run_times.corrections import bounded
from batsched_py.planning.run_times.histories import LastTwo, MeanOfAll, PercentileOfAll
from batsched_py.planning.run_times.learner import OnlineLearner
from batsched_py.planning.run_times.predictor import Predictor, User
from batsched_py.planning.run_times.scikit_learner import ScikitLearner, check_installed

TSAFRIR: Final = (
    "Tsafrir, Etsion, Feitelson, Backfilling using system-generated predictions rather than user runtime estimates,"
    " IEEE TPDS 18(6), 2007"
)
GAUSSIER: Final = (
    "Gaussier, Glesser, Reis, Trystram, Improving backfilling by using machine learning to predict running times, SC'15"
)


class PredictorSettings(Struct, frozen=True):
    """The inputs that a predictor may need.

    Attributes:
        percentile: of `percentile`.
        run_time_of: returns the run time in seconds of a job by its profile; None if it is unknown.
    """

    percentile: float
    run_time_of: Callable[[Job], float | None]


class PredictorKind(Struct, frozen=True):
    """A predictor that users select by name.

    Attributes:
        name: the name in options.
        make: creates the predictor of a run.
        formula: the predicted run time, as in docs/policies.md.
        source: publication, or what the predictor is if there is none.
        needed: the check of what it needs that may not be installed; None for nothing. ExtraError.
    """

    name: str
    make: Callable[[PredictorSettings], Predictor]
    formula: str
    source: str
    needed: Callable[[], None] | None = None

    def check(self) -> None:
        """Check that what it needs is installed. ExtraError."""
        if self.needed is not None:
            self.needed()

    def ask(self, predictor: Predictor, job: Job, user: User, now: float) -> float:
        """Return the prediction of a predictor of this kind in seconds, from one second to the walltime. PlanError."""
        try:
            seconds = predictor.predict(job, user, now)
            if seconds is not None and math.isnan(seconds):
                raise ValueError("a prediction must be a number or None, not NaN")
            return bounded(seconds, job.limit)
        except BaseException as error:
            raise failed(f"predictor {self.name} of {job.id}", error) from error


class Requested(Predictor):
    """The walltime: jobs are not predicted."""

    def predict(self, job: Job, user: User, now: float) -> float | None:  # noqa: ARG002
        """Return no prediction."""
        return None

    def learn(self, job: Job, user: User, run_time: float, now: float) -> None:  # noqa: ARG002
        """Ignore the job."""
        return


class Clairvoyant(Requested):
    """The run time itself, of jobs whose profile is a delay; the walltime of others."""

    def __init__(self, run_time_of: Callable[[Job], float | None]) -> None:
        self._run_time_of = run_time_of

    def predict(self, job: Job, user: User, now: float) -> float | None:  # noqa: ARG002
        """Return the duration of the delay."""
        return self._run_time_of(job)


def adopt(name: str, found: Callable[..., Any]) -> PredictorKind:
    """Return the kind of a user's class; ValueError if it is not a Predictor."""
    if not (isinstance(found, type) and issubclass(found, Predictor)):
        raise ValueError(f"{name} is not a class derived from Predictor")
    if inspect.isabstract(found):
        raise ValueError(f"{name} must define predict and learn")
    return PredictorKind(name, lambda _: found(), "", "the user's")


REQUEST: Final = PredictorKind("request", lambda _: Requested(), "the walltime", "what users request")

_PREDICTORS: Final = (
    REQUEST,
    PredictorKind("last2", lambda _: LastTwo(), "the mean of the user's last two", TSAFRIR),
    PredictorKind("mean", lambda _: MeanOfAll(), "the mean of the user's", "the mean of all, as a baseline"),
    PredictorKind(
        "percentile",
        lambda settings: PercentileOfAll(settings.percentile),
        "the `percentile` of the user's, by nearest rank",
        "a bound that few jobs exceed",
    ),
    PredictorKind("online", lambda _: OnlineLearner(), "a regression learned on line", GAUSSIER),
    PredictorKind(
        "sklearn", lambda _: ScikitLearner(), "a regression by scikit-learn", "a baseline of learning", check_installed
    ),
    PredictorKind(
        "clairvoyant",
        lambda settings: Clairvoyant(settings.run_time_of),
        "the run time, of delays",
        "the best possible prediction, for studies",
    ),
)

#: Name -> predictor; users may give a class of their own.
PREDICTORS: Final[Named[PredictorKind]] = Named(
    "predictor", by_name("_PREDICTORS", _PREDICTORS), (), adopt, notation="module:Class"
)
