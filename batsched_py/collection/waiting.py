"""Waiting jobs by query and size: those that may find hosts, without a walk over all."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import Final, Protocol

from batsched_py.collection.mil.expression import Expression
from batsched_py.model.job import Job


class Queue(Protocol):
    """The jobs that wait, by their ids."""

    def __len__(self) -> int: ...

    def __contains__(self, job_id: str, /) -> bool: ...


#: Jobs that have left the queue unnoticed and are put up with.
_SPARE: Final = 64


class _Line:
    """Jobs with the same query.

    Attributes:
        query: what they ask for.
        changes: hosts may begin to suit it while jobs are started.
        numbers: size -> numbers of jobs, ascending; no list is empty.
    """

    __slots__ = ("changes", "numbers", "query")

    def __init__(self, query: Expression, *, changes: bool) -> None:
        self.query, self.changes = query, changes
        self.numbers: dict[int, list[int]] = {}


class Waiting:
    """Jobs that wait, each with its query; they are numbered from 1 on, as they come."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        #: Job id -> its number and its line; number -> job.
        self._places: dict[str, tuple[int, _Line]] = {}
        self._jobs: dict[int, Job] = {}
        #: Number of the job that came last.
        self.last = 0

    def add(self, job: Job, query: Expression, *, changes: bool, number: int | None = None) -> None:
        """Let a job wait; with `changes` hosts that do not suit it may do so once another job has started.

        `number` is that of a job that has left, in whose place it comes.
        """
        line = self._lines.get(query.text)
        if line is None:
            line = self._lines[query.text] = _Line(query, changes=changes)
        if number is None:
            self.last = number = self.last + 1
        insort(line.numbers.setdefault(job.size, []), number)
        self._places[job.id] = number, line
        self._jobs[number] = job

    def remove(self, job: Job) -> None:
        """Take a job out."""
        number, line = self._places.pop(job.id)
        del self._jobs[number]
        numbers = line.numbers[job.size]
        del numbers[bisect_left(numbers, number)]
        if not numbers:
            del line.numbers[job.size]
            if not line.numbers:
                del self._lines[line.query.text]

    def query(self, job: Job) -> Expression:
        """Return what a job asks for."""
        return self._places[job.id][1].query

    def number(self, job: Job) -> int:
        """Return the number of a job."""
        return self._places[job.id][0]

    def prune(self, queue: Queue) -> None:
        """Take out the jobs that have left the queue, once there may be many."""
        if len(self._jobs) > 2 * len(queue) + _SPARE:
            for job in [job for job in self._jobs.values() if job.id not in queue]:
                self.remove(job)

    def candidates(self, room: Callable[[Expression], int]) -> Iterator[Job]:
        """Iterate over the jobs for which hosts may be found, in order; each may be taken out before the next is asked.

        `room` returns how many hosts suit a query now. Jobs with a query and a size for which there are too few are not
        looked at, and no more come of them once there are.
        """
        heads: list[tuple[int, int, _Line]] = []
        for line in self._lines.values():
            most = room(line.query)
            heads += [
                (numbers[0], size, line) for size, numbers in line.numbers.items() if size <= most or line.changes
            ]
        heapify(heads)
        while heads:
            number, size, line = heappop(heads)
            enough = room(line.query) >= size
            if enough:
                yield self._jobs[number]
            if enough or line.changes:
                numbers = line.numbers.get(size, ())
                after = bisect_right(numbers, number)
                if after < len(numbers):
                    heappush(heads, (numbers[after], size, line))
