"""The base class of predictors of run times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from batsched_py.model.job import Job

#: The user of a job: the value of a member; None for a job without this member.
User = str | int | None


class Predictor(ABC):
    """A predictor of run times. Times are in seconds since the start of the simulation.

    Predictions need not be bounded: one below a second counts as a second, one above the walltime as the walltime.

    Attributes:
        by_user: True if the jobs of a user are predicted from their previous ones; a warning then names the first job
            without a user.
    """

    by_user: ClassVar[bool] = False

    @abstractmethod
    def predict(self, job: Job, user: User, now: float) -> float | None:
        """Return the predicted run time in seconds of a job that waits; None without a prediction: its walltime."""

    @abstractmethod
    def learn(self, job: Job, user: User, run_time: float, now: float) -> None:
        """Learn from a job that has ended after `run_time` seconds."""

    def begin(self, job: Job, user: User, now: float) -> None:  # noqa: ARG002  (a hook: subclasses read it)
        """Observe the start of a job."""
        return
