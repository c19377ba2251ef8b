"""Waiting jobs by the hosts on which they may run: those that may fit, where each job may run on some hosts only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Final

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.planning.future.promise_book import Gaps
from batsched_py.state.queue import Queue, SizeIndex

#: Jobs that have left the queue unnoticed and are put up with.
_SPARE: Final = 64
_BY_ARRIVAL: Final = itemgetter(1)


class _Group:
    """Jobs that may run on the same hosts.

    Attributes:
        bits: the hosts.
        jobs: by size.
        free: free hosts when they were counted last; -1 before that.
        room: how many of these were among the hosts.
    """

    __slots__ = ("bits", "free", "jobs", "room")

    def __init__(self, bits: int) -> None:
        self.bits, self.jobs = bits, SizeIndex()
        self.free, self.room = -1, 0


class JobsByHosts:
    """The jobs of a queue in groups, each of which may run on the same hosts."""

    __slots__ = ("_groups", "_hosts", "_last", "_places", "_queue")

    def __init__(self, queue: Queue, hosts: Callable[[Job], HostSet]) -> None:
        """Watch a queue; `hosts` returns those on which a job may run, always the same."""
        self._queue, self._hosts = queue, hosts
        #: Bits of hosts -> the jobs that may run on these.
        self._groups: dict[int, _Group] = {}
        #: Job id -> its number of arrival and its group; of some that have left, too.
        self._places: dict[str, tuple[int, _Group]] = {}
        #: Number of arrival of the last job that is in a group.
        self._last = 0

    def within(self, gaps: Gaps, now: float) -> list[Job]:
        """Return in order of arrival the jobs that may fit into the gaps, on hosts that suit them.

        Some may have left the queue; `with_room` leaves them out.
        """
        self._follow()
        found: list[tuple[float, int, Job]] = []
        for group in self._groups.values():
            if (gaps.free & group.bits).bit_count() >= group.jobs.smallest:
                found += group.jobs.entries(gaps.limits(group.bits), now)
        found.sort(key=_BY_ARRIVAL)
        return [job for _, _, job in found]

    def with_room(self, jobs: Iterable[Job], gaps: Gaps) -> Iterator[Job]:
        """Iterate over those of these jobs for which enough hosts are left that suit them when their turn comes."""
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
        """Take those in that have come; begin anew if many have left unnoticed."""
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
