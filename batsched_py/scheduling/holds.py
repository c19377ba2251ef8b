"""The reason why a job waits."""

from __future__ import annotations

from msgspec import Struct

from batsched_py.model.decision_row import HoldKind
from batsched_py.model.job import Job


class Hold(Struct, frozen=True):
    """The reason why a job waits, in the algorithm's words, the time at which it was given, and its kind."""

    job: Job
    reason: str
    time: float
    kind: HoldKind = "own"
