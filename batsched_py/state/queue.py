"""The queue of waiting jobs: in order of arrival, and indexed by size for algorithms that search small jobs in it.

Start with `Queue`. It stores the jobs in pieces, so that removing any job is fast; a `SizeIndex` finds jobs that fit
without iterating over all of them.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from batsched_py.model.job import Job

#: Jobs per piece: a large dict whose first jobs were removed is slow in finding its new first one; a small one is not.
PIECE_SIZE: Final = 64
#: Number of jobs from which an index by size is worthwhile.
LONG: Final = 256
_BY_ARRIVAL: Final = itemgetter(1)


class SizeIndex:
    """An index of jobs by size and, within a size, by walltime. A change costs a few binary searches.

    Jobs are added with their arrival numbers, which are unique.
    """

    __slots__ = ("_by_size", "_sizes")

    def __init__(self) -> None:
        #: The sizes of the jobs, ascending.
        self._sizes: list[int] = []
        #: Size -> (walltime, number, job), ascending; exactly the sizes in `_sizes`, without empty lists.
        self._by_size: dict[int, list[tuple[float, int, Job]]] = {}

    def add(self, number: int, job: Job) -> None:
        """Add a job."""
        alike = self._by_size.get(job.size)
        if alike is None:
            alike = self._by_size[job.size] = []
            insort(self._sizes, job.size)
        insort(alike, (job.limit, number, job))

    def remove(self, number: int, job: Job) -> None:
        """Remove a job."""
        alike = self._by_size[job.size]
        del alike[bisect_left(alike, (job.limit, number))]
        if not alike:
            del self._by_size[job.size]
            del self._sizes[bisect_left(self._sizes, job.size)]

    def __bool__(self) -> bool:
        return bool(self._sizes)

    @property
    def smallest(self) -> float:
        """The size of the smallest job; infinite if there is none."""
        return self._sizes[0] if self._sizes else math.inf

    def within(self, limits: Sequence[tuple[int, float]], now: float) -> list[Job]:
        """Return the result of `Queue.within`, at the cost of a binary search for each size, plus the found jobs."""
        found = self.entries(limits, now)
        found.sort(key=_BY_ARRIVAL)
        return [job for _, _, job in found]

    def entries(self, limits: Sequence[tuple[int, float]], now: float) -> list[tuple[float, int, Job]]:
        """Return the jobs of `within` in no particular order: walltime, arrival number, job."""
        found: list[tuple[float, int, Job]] = []
        last = len(limits) - 1
        for size in self._sizes[: bisect_right(self._sizes, limits[0][0])]:
            while limits[last][0] < size:
                last -= 1
            end = limits[last][1]
            alike = self._by_size[size]
            if end == math.inf:
                found += alike
            elif now + alike[0][0] <= end:
                # the same sum as in algorithms, not `end - now`, because of rounding
                found += alike[: bisect_right(alike, end, key=lambda entry: now + entry[0])]
        return found


class Queue:
    """The waiting jobs in order of arrival. It may change during iteration: removed jobs are not visited."""

    __slots__ = ("_arrivals", "_by_size", "_filled", "_pieces", "_where")

    def __init__(self) -> None:
        #: Pieces of consecutive jobs by id, in order of arrival; no piece is empty.
        self._pieces: list[dict[str, Job]] = []
        #: Number of jobs ever added to the last piece, which is full at PIECE_SIZE.
        self._filled = PIECE_SIZE
        #: Job id -> its piece, its arrival number.
        self._where: dict[str, tuple[dict[str, Job], int]] = {}
        #: Number of jobs ever added.
        self._arrivals = 0
        #: Index of the same jobs, from the first query by size of a long queue until the queue is empty.
        self._by_size: SizeIndex | None = None

    def add(self, job: Job) -> None:
        """Append a job."""
        if self._filled >= PIECE_SIZE:
            self._pieces.append({})
            self._filled = 0
        piece = self._pieces[-1]
        piece[job.id] = job
        self._filled += 1
        self._arrivals += 1
        self._where[job.id] = piece, self._arrivals
        if self._by_size is not None:
            self._by_size.add(self._arrivals, job)

    def remove(self, job_id: str) -> Job:
        """Remove a job from any position; KeyError if it does not wait."""
        piece, number = self._where.pop(job_id)
        job = piece.pop(job_id)
        if not piece:
            if piece is self._pieces[-1]:
                self._filled = PIECE_SIZE
            self._pieces.remove(piece)
        if self._by_size is not None:
            self._by_size.remove(number, job)
            if not self._where:
                self._by_size = None
        return job

    def first(self) -> Job | None:
        """Return the job that arrived first."""
        return next(iter(self._pieces[0].values())) if self._pieces else None

    def get(self, job_id: str) -> Job | None:
        """Return the waiting job with this id."""
        place = self._where.get(job_id)
        return None if place is None else place[0][job_id]

    def up_to(self, size: int) -> list[Job]:
        """Return the waiting jobs of at most `size` hosts, in order of arrival."""
        return self.fitting(size, 0.0, math.inf, size)

    def fitting(self, size: int, now: float, end: float, small: int) -> list[Job]:
        """Return the jobs of at most `size` hosts that end by `end` or need at most `small` hosts, in order of arrival.

        Ends are computed for a start at `now` and the full walltime. In a long queue no other job is visited.
        """
        index = self._index()
        if index is not None:
            return index.within([(size, end), (min(small, size), math.inf)], now)
        return [
            job
            for piece in self._pieces
            for job in piece.values()
            if job.size <= size and (job.size <= small or now + job.limit <= end)
        ]

    def within(self, limits: Sequence[tuple[int, float]], now: float) -> list[Job]:
        """Return the jobs within one of these limits (number of hosts, end), in order of arrival.

        As `fitting`, with any number of limits, sorted by descending numbers and ascending ends.
        """
        if len(limits) <= 2 and self._by_size is None:
            (size, end), (small, _) = limits[0], limits[-1]
            return self.fitting(size, now, end, small if len(limits) == 2 or end == math.inf else -1)
        index = self._index()
        if index is not None:
            return index.within(limits, now)
        return [job for job in self if any(job.size <= size and now + job.limit <= end for size, end in limits)]

    def since(self, number: int) -> list[tuple[int, Job]]:
        """Return the waiting jobs with a greater arrival number, each with its number, in order of arrival."""
        found: list[tuple[int, Job]] = []
        for piece in reversed(self._pieces):
            for job_id in reversed(piece):
                own = self._where[job_id][1]
                if own <= number:
                    return found[::-1]
                found.append((own, piece[job_id]))
        return found[::-1]

    def __iter__(self) -> Iterator[Job]:
        for piece in tuple(self._pieces):
            for job in tuple(piece.values()):
                if job.id in piece:
                    yield job

    def __len__(self) -> int:
        return len(self._where)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._where

    def _index(self) -> SizeIndex | None:
        """Return the index by size, and create it for a long queue; None for a short queue without one."""
        if self._by_size is None and len(self._where) > LONG:
            self._by_size = SizeIndex()
            for job in self:
                self._by_size.add(self._where[job.id][1], job)
        return self._by_size
