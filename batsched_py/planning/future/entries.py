"""Entries: what a promise book has written down of each job that waits."""

from __future__ import annotations

import math
from typing import Generic, TypeVar

from batsched_py.model.job import Job
from batsched_py.planning.future.promises import Claim, Shadow, Slot

Kind = TypeVar("Kind", Slot, Claim, Shadow)


class Entry(Generic[Kind]):
    """A job that waits, and its promise; None if no start can be foreseen. Lower numbers are served first.

    An earlier start is to be looked for in windows that begin at `since` or later; infinite: there is none.
    """

    __slots__ = ("duration", "job", "number", "promise", "since")

    def __init__(self, job: Job, promise: Kind | None, duration: float = math.inf, number: int = 0) -> None:
        self.job = job
        self.promise: Kind | None = promise
        self.duration = duration
        self.number = number
        self.since = math.inf
