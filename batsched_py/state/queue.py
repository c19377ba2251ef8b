"""The jobs that wait, in order of arrival, in pieces from which a job is taken quickly wherever it stands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from batsched_py.model.job import Job
from batsched_py.state.size_index import Shelves

#: Jobs per piece: a dict that has lost its first jobs is slow to find the one that is first now; a small one is not.
PIECE_SIZE = 64
#: Jobs from which on it pays to keep them by size, too.
LONG = 256


class Piece:
    """Consecutive jobs of the queue."""

    __slots__ = ("filled", "jobs")

    def __init__(self) -> None:
        #: Job id -> job, in order of arrival; never empty while the piece is in a queue.
        self.jobs: dict[str, Job] = {}
        #: Jobs ever put in; a piece that has had PIECE_SIZE takes no more.
        self.filled = 0

    def add(self, job: Job) -> None:
        """Put a job at the end."""
        self.jobs[job.id] = job
        self.filled += 1


class Queue:
    """Waiting jobs in order of arrival. It may change while it is iterated: a job that left is then not visited."""

    __slots__ = ("_arrivals", "_pieces", "_shelves", "_where")

    def __init__(self) -> None:
        #: In order of arrival; no piece is empty.
        self._pieces: list[Piece] = []
        #: Job id -> the piece it is in, its number of arrival.
        self._where: dict[str, tuple[Piece, int]] = {}
        #: Jobs ever put in.
        self._arrivals = 0
        #: The same jobs, once somebody has asked for them by size while there were many, until none is left.
        self._shelves: Shelves | None = None

    def add(self, job: Job) -> None:
        """Put a job at the end."""
        pieces = self._pieces
        if not pieces or pieces[-1].filled >= PIECE_SIZE:
            pieces.append(Piece())
        pieces[-1].add(job)
        self._arrivals += 1
        self._where[job.id] = pieces[-1], self._arrivals
        if self._shelves is not None:
            self._shelves.add(self._arrivals, job)

    def remove(self, job_id: str) -> Job:
        """Take a job out, wherever it stands; KeyError if it does not wait."""
        piece, number = self._where.pop(job_id)
        job = piece.jobs.pop(job_id)
        if not piece.jobs:
            self._pieces.remove(piece)
        if self._shelves is not None:
            self._shelves.remove(number, job)
            if not self._where:
                self._shelves = None
        return job

    def first(self) -> Job | None:
        """The job that has waited longest."""
        return next(iter(self._pieces[0].jobs.values())) if self._pieces else None

    def get(self, job_id: str) -> Job | None:
        """The waiting job of this id."""
        place = self._where.get(job_id)
        return None if place is None else place[0].jobs[job_id]

    def up_to(self, size: int) -> list[Job]:
        """The waiting jobs of at most `size` hosts, in order of arrival."""
        return self.fitting(size, 0.0, math.inf, size)

    def fitting(self, size: int, now: float, end: float, small: int) -> list[Job]:
        """In order of arrival the jobs of at most `size` hosts that end by `end`, or need at most `small` hosts.

        They would be started at `now` and take all of their walltime. In a long queue no other job is looked at.
        """
        if self._shelves is not None:
            return self._shelves.fitting(size, now, end, small)
        if len(self._where) > LONG:
            self._shelves = Shelves()
            for job in self:
                self._shelves.add(self._where[job.id][1], job)
            return self._shelves.fitting(size, now, end, small)
        return [
            job
            for piece in self._pieces
            for job in piece.jobs.values()
            if job.size <= size and (job.size <= small or now + job.limit <= end)
        ]

    def within(self, limits: Sequence[tuple[int, float]], now: float) -> list[Job]:
        """In order of arrival the jobs that keep to one of these limits, each a number of hosts and an end.

        As `fitting`, with any number of limits: numbers descend, ends ascend.
        """
        if self._shelves is not None:
            return self._shelves.within(limits, now)
        if len(limits) <= 2:
            (size, end), (small, _) = limits[0], limits[-1]
            return self.fitting(size, now, end, small if len(limits) == 2 or end == math.inf else -1)
        if len(self._where) > LONG:
            self.fitting(0, now, now, 0)  # sorts them by size
            return self.within(limits, now)
        return [job for job in self if any(job.size <= size and now + job.limit <= end for size, end in limits)]

    def __iter__(self) -> Iterator[Job]:
        for piece in tuple(self._pieces):
            for job in tuple(piece.jobs.values()):
                if job.id in piece.jobs:
                    yield job

    def __len__(self) -> int:
        return len(self._where)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._where
