"""Entries of a promise book, one for each waiting job."""

from __future__ import annotations

import math
from typing import Generic, TypeVar

from batsched_py.model.job import Job
from batsched_py.planning.future.promises import Claim, Shadow, Slot, Specific

# An entry repeats the size of its job and the start of its promise, because a compression reads both of each candidate
# several times and an attribute of a record costs compiled code ten times what it costs the interpreter (ADR 39).
# `renew` is therefore the only way to change a promise.
#
# `since`, `until` and `near` are a small summary of all that was freed since the entry was last searched. A list of
# intervals would be exact, but would grow with each change in a long queue; two ranges only make a search look at some
# slots too many. Values that mean "no search" are those at which each comparison fails by itself: infinity for the
# lower bounds, minus infinity for the upper one.

Kind = TypeVar("Kind", Slot, Claim, Shadow, Specific)


class Entry(Generic[Kind]):
    """A waiting job and its promise; None if no start can be predicted. Lower numbers are served first.

    Its size and its promised start (infinity without one) are duplicated here because they are read often. An earlier
    start is to be searched if `near` is finite: in windows that begin at `since` or later and before `until`, and in
    those that begin at `near` or later.
    """

    __slots__ = ("duration", "job", "near", "number", "promise", "since", "size", "start", "until")

    def __init__(self, job: Job, promise: Kind | None, duration: float = math.inf, number: int = 0) -> None:
        self.job = job
        self.size = job.size
        self.promise: Kind | None = promise
        self.start = math.inf if promise is None else promise.start
        self.duration = duration
        self.number = number
        self.since = self.near = math.inf
        self.until = -math.inf

    def renew(self, promise: Kind) -> None:
        """Replace the promise by a better one."""
        self.promise = promise
        self.start = promise.start

    def search_between(self, since: float, until: float) -> None:
        """Extend the search to windows that begin in [since, until)."""
        self.since = min(self.since, since)
        self.until = max(self.until, until)
        self.near = min(self.near, self.start)
