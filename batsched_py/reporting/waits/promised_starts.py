"""The promised starts of waiting jobs, ordered by time: which of them a job that starts now would delay."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import accumulate, takewhile
from typing import NamedTuple


class PromisedStart(NamedTuple):
    """The promised start of a waiting job, in seconds, and its size in hosts."""

    start: float
    job: str
    size: int


class PromisedStarts:
    """The promised starts of all waiting jobs that have one."""

    def __init__(self) -> None:
        self._ordered: list[PromisedStart] = []
        #: Sizes of the jobs up to each place, together, with 0 before the first; None after a change.
        self._sums: list[int] | None = None

    def __bool__(self) -> bool:
        """Return True if there is any."""
        return bool(self._ordered)

    def add(self, promise: PromisedStart) -> None:
        """Add a promise."""
        insort(self._ordered, promise)
        self._sums = None

    def remove(self, promise: PromisedStart) -> None:
        """Remove a promise that was added."""
        del self._ordered[bisect_left(self._ordered, promise)]
        self._sums = None

    def count_before(self, end: float) -> int:
        """Return the number of promised starts before `end`."""
        return bisect_left(self._ordered, (end,))

    def hosts_before(self, end: float) -> int:
        """Return the number of hosts, summed over the promised starts before `end`."""
        if self._sums is None:
            self._sums = list(accumulate((one.size for one in self._ordered), initial=0))
        return self._sums[self.count_before(end)]

    def before(self, end: float, job: str) -> Iterator[PromisedStart]:
        """Yield the promised starts before `end` of other jobs than this one, in order of time."""
        return (one for one in takewhile(lambda one: one.start < end, self._ordered) if one.job != job)
