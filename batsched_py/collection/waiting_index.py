"""Waiting jobs by query and size, to find those that may start without iterating over all."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import Final, Protocol

from batsched_py.model.job import Job
from batsched_py.queries.expression import Expression

# The jobs that may start are those for which enough suitable hosts are free, first come first served. Testing each
# waiting job costs O(queue) queries at each event. Jobs of one query and one size are in the same situation, so a group
# is asked once: if the first of it does not fit, none behind it does, until hosts are released. Starting a job only
# takes hosts away, unless hosts are shared or the query reads what hosts are doing (`changes`); such groups are asked
# for each job.
#
# The groups are merged in order of arrival by a heap of their first jobs, so the order is that of a walk through the
# whole queue. Cost of a pass: O(groups) to begin, O(log groups) for each job that is yielded. Between two calls no list
# of numbers is empty, so the number of groups is that of the waiting jobs' queries and sizes.


class WaitingQueue(Protocol):
    """The waiting jobs, by their ids."""

    def __len__(self) -> int: ...

    def __contains__(self, job_id: str, /) -> bool: ...


#: Number of jobs that may have left the queue without being removed here.
_SPARE: Final = 64


class _Line:
    """Jobs with the same query.

    Attributes:
        query: their query.
        changes: True if starts of jobs can make more hosts suitable.
        numbers: size -> numbers of jobs, ascending; no list is empty.
    """

    __slots__ = ("changes", "numbers", "query")

    def __init__(self, query: Expression, *, changes: bool) -> None:
        self.query, self.changes = query, changes
        self.numbers: dict[int, list[int]] = {}


class WaitingQueries:
    """Waiting jobs with their queries, numbered from 1 in order of arrival."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        #: Job id -> its number, its line, and the number of its hosts; number -> job.
        self._places: dict[str, tuple[int, _Line, int]] = {}
        self._jobs: dict[int, Job] = {}
        #: Number of the last job.
        self.last = 0

    def add(self, job: Job, query: Expression, *, changes: bool, number: int | None = None) -> None:
        """Add a job; `changes` is True if starts of other jobs can make more hosts suitable for it.

        `number` is that of a former job whose position it takes. A job with a demand may find room on one host.
        """
        line = self._lines.get(query.text)
        if line is None:
            line = self._lines[query.text] = _Line(query, changes=changes)
        if number is None:
            self.last = number = self.last + 1
        size = job.size if job.demand is None else 1
        insort(line.numbers.setdefault(size, []), number)
        self._places[job.id] = number, line, size
        self._jobs[number] = job

    def remove(self, job: Job) -> None:
        """Remove a job."""
        number, line, size = self._places.pop(job.id)
        del self._jobs[number]
        numbers = line.numbers[size]
        del numbers[bisect_left(numbers, number)]
        if not numbers:
            del line.numbers[size]
            if not line.numbers:
                del self._lines[line.query.text]

    def query(self, job: Job) -> Expression:
        """Return the query of a job."""
        return self._places[job.id][1].query

    def number(self, job: Job) -> int:
        """Return the number of a job."""
        return self._places[job.id][0]

    def prune(self, queue: WaitingQueue) -> None:
        """Remove the jobs that have left the queue, once there may be many."""
        if len(self._jobs) > 2 * len(queue) + _SPARE:
            for job in [job for job in self._jobs.values() if job.id not in queue]:
                self.remove(job)

    def candidates(self, room: Callable[[Expression], int]) -> Iterator[Job]:
        """Iterate over the jobs that may find hosts, in order; a job may be removed before the next one is requested.

        `room` returns the number of hosts that suit a query now. A job with fewer suitable hosts than its size is
        skipped with all later jobs of its query and size, unless the number of suitable hosts can grow.
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
