"""Waiting jobs by their eligible hosts, to find those that may fit if each job may run on some hosts only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Final

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.planning.future.promise_book import Gaps
from batsched_py.state.queue import Queue, SizeIndex

#: Number of jobs that may have left the queue without being removed here.
_SPARE: Final = 64
_BY_ARRIVAL: Final = itemgetter(1)


class _Group:
    """Jobs that may run on the same hosts.

    Attributes:
        bits: the hosts.
        jobs: by size.
        free: free hosts at the last count; -1 before the first.
        room: number of these among the hosts of the group.
    """

    __slots__ = ("bits", "free", "jobs", "room")

    def __init__(self, bits: int) -> None:
        self.bits, self.jobs = bits, SizeIndex()
        self.free, self.room = -1, 0


class JobsByHosts:
    """The jobs of a queue, grouped by their eligible hosts."""

    __slots__ = ("_groups", "_hosts", "_last", "_places", "_queue")

    def __init__(self, queue: Queue, hosts: Callable[[Job], HostSet]) -> None:
        """Watch a queue; `hosts` returns the eligible hosts of a job, which may not change."""
        self._queue, self._hosts = queue, hosts
        #: Bits of hosts -> the jobs that may run on these.
        self._groups: dict[int, _Group] = {}
        #: Job id -> its number of arrival and its group; it may include jobs that have left.
        self._places: dict[str, tuple[int, _Group]] = {}
        #: Number of arrival of the last job that is in a group.
        self._last = 0

    def within(self, gaps: Gaps, now: float) -> list[Job]:
        """Return in order of arrival the jobs that may fit into the gaps, on hosts that suit them.

        Some may have left the queue; `with_room` omits them.
        """
        self._follow()
        found: list[tuple[float, int, Job]] = []
        for group in self._groups.values():
            if (gaps.free & group.bits).bit_count() >= group.jobs.smallest:
                found += group.jobs.entries(gaps.limits(group.bits), now)
        found.sort(key=_BY_ARRIVAL)
        return [job for _, _, job in found]

    def with_room(self, jobs: Iterable[Job], gaps: Gaps) -> Iterator[Job]:
        """Iterate over the jobs for which enough eligible hosts are left at their turn."""
        self._follow()
        places, queue = self._places, self._queue
        for job in jobs:
            place = places.get(job.id)
            if place is None:  # it has left
                continue
            group, free = place[1], gaps.free
            if group.free is not free:
                group.free, group.room = free, (free & group.bits).bit_count()
            if job.size <= group.room:
                if job.id in queue:
                    yield job
                if job.id not in queue:
                    self._remove(job)

    def _follow(self) -> None:
        """Add new jobs; rebuild the groups if many jobs have left."""
        queue = self._queue
        if len(self._places) > 2 * len(queue) + _SPARE:
            self._groups.clear()
            self._places.clear()
            self._last = 0
        for number, job in queue.since(self._last):
            bits = self._hosts(job).bits
            group = self._groups.get(bits)
            if group is None:
                group = self._groups[bits] = _Group(bits)
            group.jobs.add(number, job)
            self._places[job.id] = number, group
            self._last = number

    def _remove(self, job: Job) -> None:
        number, group = self._places.pop(job.id)
        group.jobs.remove(number, job)
        if not group.jobs:
            del self._groups[group.bits]
