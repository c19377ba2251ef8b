"""The queue of waiting jobs: in order of arrival, and sorted by size once an algorithm asks for small jobs of many.

Start with `Queue`. It keeps the jobs in pieces, so that a job is taken out quickly wherever it stands; a `SizeIndex`
answers which jobs fit without a walk over all of them.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from batsched_py.model.job import Job

#: Jobs per piece: a dict that has lost its first jobs is slow to find the one that is first now; a small one is not.
PIECE_SIZE: Final = 64
#: Jobs from which on it pays to keep them by size, too.
LONG: Final = 256
_BY_ARRIVAL: Final = itemgetter(1)


class SizeIndex:
    """Jobs by size and, within a size, by walltime. A change costs a few binary searches.

    Jobs come with their numbers of arrival, which are unique.
    """

    __slots__ = ("_by_size", "_sizes")

    def __init__(self) -> None:
        #: The sizes of the jobs, ascending.
        self._sizes: list[int] = []
        #: Size -> (walltime, number, job), ascending; exactly the sizes of `_sizes`, and none is empty.
        self._by_size: dict[int, list[tuple[float, int, Job]]] = {}

    def add(self, number: int, job: Job) -> None:
        """Put a job in."""
        alike = self._by_size.get(job.size)
        if alike is None:
            alike = self._by_size[job.size] = []
            insort(self._sizes, job.size)
        insort(alike, (job.limit, number, job))

    def remove(self, number: int, job: Job) -> None:
        """Take a job out."""
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
        """Answer `Queue.within`. Costs a binary search for each size that may fit, and the jobs that are found."""
        found = self.entries(limits, now)
        found.sort(key=_BY_ARRIVAL)
        return [job for _, _, job in found]

    def entries(self, limits: Sequence[tuple[int, float]], now: float) -> list[tuple[float, int, Job]]:
        """Return the jobs of `within` in no order: walltime, number of arrival, job."""
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
                # as the algorithms add it up, not `end - now`: sums of times round
                found += alike[: bisect_right(alike, end, key=lambda entry: now + entry[0])]
        return found


class Queue:
    """Waiting jobs in order of arrival. It may change while it is iterated: a job that left is then not visited."""

    __slots__ = ("_arrivals", "_by_size", "_filled", "_pieces", "_where")

    def __init__(self) -> None:
        #: Consecutive jobs by id, in order of arrival; no piece is empty.
        self._pieces: list[dict[str, Job]] = []
        #: Jobs ever put into the last piece; at PIECE_SIZE it takes no more.
        self._filled = PIECE_SIZE
        #: Job id -> the piece it is in, its number of arrival.
        self._where: dict[str, tuple[dict[str, Job], int]] = {}
        #: Jobs ever put in.
        self._arrivals = 0
        #: The same jobs, once somebody has asked for them by size while there were many, until none is left.
        self._by_size: SizeIndex | None = None

    def add(self, job: Job) -> None:
        """Put a job at the end."""
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
        """Take a job out, wherever it stands; KeyError if it does not wait."""
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
        """Return the job that has waited longest."""
        return next(iter(self._pieces[0].values())) if self._pieces else None

    def get(self, job_id: str) -> Job | None:
        """Return the waiting job of this id."""
        place = self._where.get(job_id)
        return None if place is None else place[0][job_id]

    def up_to(self, size: int) -> list[Job]:
        """Return the waiting jobs of at most `size` hosts, in order of arrival."""
        return self.fitting(size, 0.0, math.inf, size)

    def fitting(self, size: int, now: float, end: float, small: int) -> list[Job]:
        """Return in order of arrival the jobs of at most `size` hosts that end by `end`, or need at most `small` hosts.

        They would be started at `now` and take all of their walltime. In a long queue no other job is looked at.
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
        """Return in order of arrival the jobs that keep to one of these limits, each a number of hosts and an end.

        As `fitting`, with any number of limits: numbers descend, ends ascend.
        """
        if len(limits) <= 2 and self._by_size is None:
            (size, end), (small, _) = limits[0], limits[-1]
            return self.fitting(size, now, end, small if len(limits) == 2 or end == math.inf else -1)
        index = self._index()
        if index is not None:
            return index.within(limits, now)
        return [job for job in self if any(job.size <= size and now + job.limit <= end for size, end in limits)]

    def since(self, number: int) -> list[tuple[int, Job]]:
        """Return the waiting jobs whose numbers of arrival are greater, each with its own, in order of arrival."""
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
        """Return the index by size, made now if the queue has become long; None for a short queue without one."""
        if self._by_size is None and len(self._where) > LONG:
            self._by_size = SizeIndex()
            for job in self:
                self._by_size.add(self._where[job.id][1], job)
        return self._by_size
