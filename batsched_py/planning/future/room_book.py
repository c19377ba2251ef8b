"""The room book: promises of places for tasks that share hosts, and of whole hosts among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from batsched_py.hostset import HostSet
from batsched_py.model.host_room import Places
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promise_book import Entry, Gaps, HostGaps
from batsched_py.planning.future.promises import Choose, Claim, RoomSlot, Specific
from batsched_py.planning.future.reserving_books import ReservingBook
from batsched_py.planning.future.standing_room import StandingRoom
from batsched_py.planning.task_packing import Pack, Packer

# The book is used from the first job on that requests parts of hosts: a number of hosts, which EASY's shadow and the
# claims of the count book are, says nothing about cores and GPUs (ADR 19 has the same argument for constraints).
#
# A promise of a room is compressed by releasing it and searching anew, which is the rule itself. The search ends at the
# start that the job has, so it walks the instants before it and no others.


class RoomGaps(HostGaps):
    """The rooms that are free now, and the times until which promises leave them free.

    Rooms are those of the availability, in which a start is booked at once. Whole hosts are a copy that starts must be
    taken from; it is made for the first question, and `free` and `left` are 0 before it.
    """

    __slots__ = ("_future", "_is_known", "_pack", "_too_late")

    def __init__(self, future: Availability, pack: Pack) -> None:
        super().__init__(0, [])
        self._future, self._pack = future, pack
        #: True once whole hosts are known.
        self._is_known = False
        #: Demand -> the first end for which there was no room: later ones need not be searched.
        self._too_late: dict[JobDemand, float] = {}

    def find(self, size: int, end: float, choose: Choose | None = None, among: HostSet | None = None) -> HostSet | None:
        """Find whole hosts as in Gaps."""
        if not self._is_known:
            self._is_known = True
            super().__init__(self._future.free, self._future.host_falls())
        return super().find(size, end, choose, among) if size <= self.left else None

    def find_tasks(self, wanted: JobDemand, end: float, among: HostSet | None = None) -> Places | None:
        """Return places of all tasks that are free now and, by the promises, until `end`; None if there are none."""
        too_late = self._too_late.get(wanted)
        if among is None and too_late is not None and end >= too_late:
            return None
        places = self._future.room_now(wanted, end - self._future.now, self._pack, among)
        if places is None and among is None:
            self._too_late[wanted] = end
        return places

    def take(self, hosts: HostSet, end: float) -> None:
        """Record a start on whole hosts, or of tasks on hosts of which some were free."""
        if self._is_known:
            super().take(HostSet(hosts.bits & self.free), end)


class RoomBook(ReservingBook[Specific]):
    """Promises of specific hosts, or of places for tasks."""

    __slots__ = ("_pack", "_searched", "_standing")

    def __init__(self, availability: Callable[[], Availability], duration: Callable[[Job], float], pack: Pack) -> None:
        """Begin as a PromiseBook; `pack` places tasks."""
        super().__init__(availability, duration)
        self._pack = pack
        #: Whether the result of the last search among no promises stands, and the availability's disruptions then.
        self._standing: StandingRoom | None = None
        self._searched = -1

    def earliest(self, job: Job, among: HostSet | None = None, choose: Choose | None = None) -> Specific | None:
        """Return the first hosts or places that break no promise."""
        self._standing = None
        if job.demand is not None and among is None and not self.entries and isinstance(self._pack, Packer):
            future = self._availability()
            slot, self._standing = future.standing_room(job.demand, self._duration(job), self._pack)
            self._searched = future.disruptions
            return slot
        return self._before(job, self._duration(job), math.inf, among, choose)

    def is_same(self, entry: Entry[Specific]) -> bool:
        """Return whether the only promise, if it is withdrawn, is found again; False if that is unknown."""
        future, promise, standing = self._availability(), entry.promise, self._standing
        if standing is None or not isinstance(promise, RoomSlot) or len(self.entries) != 1:
            return False
        same = future.disruptions == self._searched and self._duration(entry.job) == entry.duration
        return same and future.stands(promise, standing)

    def _before(
        self, job: Job, duration: float, limit: float, among: HostSet | None, choose: Choose | None
    ) -> Specific | None:
        """Return the first hosts or places, if the start is not later than the limit."""
        future = self._availability()
        if job.demand is not None:
            return future.earliest_room(job.demand, duration, self._pack, among, limit)
        return future.earliest(job.size, duration, among, choose)

    def compress(self, choose: Choose | None = None) -> Iterator[tuple[Job, Specific]]:
        """Compress as a ReservingBook; a promise is replaced only by one that starts earlier."""
        future = self._availability()
        for entry in list(self.entries.values()):
            promise = entry.promise
            if promise is None or promise.start < future.now:  # it is due, and its hosts are late
                continue
            future.release(promise)
            better = self._before(entry.job, entry.duration, promise.start, None, choose)
            if better is None or better.start >= promise.start:
                future.reserve(promise)
                continue
            future.reserve(better)
            self._leave(entry, promise)
            self._enter(entry, better)
            entry.renew(better)
            yield entry.job, better

    def adopt(self, former: ReservingBook[Any]) -> None:
        """Take over the promises of a book of hosts or of numbers of them, which become specific hosts.

        In the order of the starts each finds as many free hosts as were promised; where hosts are missing after all, a
        job is promised a later start.
        """
        entries, future = list(former.entries.values()), self._availability()
        former.withdraw_all()
        found: dict[str, Specific | None] = {}
        for entry in sorted(entries, key=lambda entry: entry.start):
            promise = entry.promise
            if isinstance(promise, Claim):
                start = max(promise.start, future.now)
                promise = future.slot_at(start, promise.size, promise.end - start) or self.earliest(entry.job)
            if promise is not None:
                future.reserve(promise)
            found[entry.job.id] = promise
        for promise in found.values():
            if promise is not None:
                future.release(promise)
        for entry in entries:
            self.keep(entry.job, found[entry.job.id])

    def _find_gaps(self) -> Gaps:
        return RoomGaps(self._availability(), self._pack)
