"""The jobs that wait, sorted by size and, within a size, by walltime: who may run here and now, without a walk."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from batsched_py.model.job import Job

_BY_ARRIVAL: Final = itemgetter(1)


class Shelves:
    """Jobs with their numbers of arrival, which are unique. A change costs a few binary searches."""

    __slots__ = ("_shelves", "_sizes")

    def __init__(self) -> None:
        #: The sizes of the jobs, ascending.
        self._sizes: list[int] = []
        #: Size -> (walltime, number, job), ascending; exactly the sizes of `_sizes`, and none is empty.
        self._shelves: dict[int, list[tuple[float, int, Job]]] = {}

    def add(self, number: int, job: Job) -> None:
        """Put a job in."""
        shelf = self._shelves.get(job.size)
        if shelf is None:
            shelf = self._shelves[job.size] = []
            insort(self._sizes, job.size)
        insort(shelf, (job.limit, number, job))

    def remove(self, number: int, job: Job) -> None:
        """Take it out."""
        shelf = self._shelves[job.size]
        del shelf[bisect_left(shelf, (job.limit, number))]
        if not shelf:
            del self._shelves[job.size]
            del self._sizes[bisect_left(self._sizes, job.size)]

    def fitting(self, size: int, now: float, end: float, small: int) -> list[Job]:
        """By number the jobs of at most `size` hosts that end by `end` if started `now`, or need at most `small`."""
        return self.within([(size, end), (min(small, size), math.inf)], now)

    def within(self, limits: Sequence[tuple[int, float]], now: float) -> list[Job]:
        """By number the jobs that keep to one of these limits, each a number of hosts and an end.

        Numbers descend, ends ascend. Costs a binary search for each size that may fit, and the jobs that are found.
        """
        found: list[tuple[float, int, Job]] = []
        last = len(limits) - 1
        for size in self._sizes[: bisect_right(self._sizes, limits[0][0])]:
            while limits[last][0] < size:
                last -= 1
            end = limits[last][1]
            shelf = self._shelves[size]
            if end == math.inf:
                found += shelf
            elif now + shelf[0][0] <= end:
                # as the algorithms add it up, not `end - now`: sums of times round
                found += shelf[: bisect_right(shelf, end, key=lambda entry: now + entry[0])]
        found.sort(key=_BY_ARRIVAL)
        return [job for _, _, job in found]
