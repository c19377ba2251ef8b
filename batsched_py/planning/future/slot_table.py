"""The slot table: the future cut into slots of time, by hosts and by counts, so that many promises can be searched.

It is scratch. `Availability` makes it at the first question that needs it, writes through what is reserved in it and
the plain work, and drops it whenever something else happens. The truth stays in the calendar.

The amount that a slot has free is a number of hosts (`CountSlots`) or these very hosts (`HostSlots`). Another one, such
as shares of hosts, is another subclass of `Slots`: it keeps its amounts beside `rooms`, changes them in `take` and
`give`, and searches them once `rooms` says that there may be enough.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Generic, NamedTuple

from batsched_py.hostset import HostSet, pick_hosts
from batsched_py.planning.future.promises import Choose, Claim, Promise, Reserved, Slot


class Slots(ABC, Generic[Reserved]):
    """A step function of time; slot i lasts from times[i] to times[i + 1], the last one for ever.

    A change costs two binary searches, up to two insertions, and a step for each slot that it covers.
    """

    __slots__ = ("_amounts", "_full_until", "_latest_full", "freed_until", "rooms", "times")

    def __init__(self, *amounts: list[int]) -> None:
        """Begin without slots; `amounts` are lists of what is free in each slot, beside the number of hosts."""
        #: The instants at which slots begin, ascending; the first is `now`.
        self.times: list[float] = []
        #: The number of hosts that are free in each slot.
        self.rooms: list[int] = []
        #: All that is known of each slot; the last one tells slots apart.
        self._amounts = (self.rooms, *amounts)
        #: Size -> every slot that begins before this instant has less room.
        self._full_until: dict[int, float] = {}
        #: The latest of these instants.
        self._latest_full = -math.inf
        #: The end of what became free since this was last set; set to -infinity before a search, to note what it frees.
        self.freed_until = math.inf

    @abstractmethod
    def sooner(self, promise: Reserved, duration: float, limit: float, choose: Choose | None) -> Reserved | None:
        """Return a reserved promise as it would be if it were reserved anew; None if that is as it is.

        Only starts before `limit`, or before the end of what was freed meanwhile, are looked for.
        """

    def advance(self, now: float) -> None:
        """Drop the slots that are over at `now`."""
        gone = bisect_right(self.times, now) - 1
        if gone > 0:
            self._delete(0, gone)
        self.times[0] = now

    def _cut(self, time: float) -> int:
        """Return the slot that begins at `time`, made if there is none; the end of the list for infinity."""
        times = self.times
        if time == math.inf:
            return len(times)
        index = bisect_left(times, time)
        if index == len(times) or times[index] != time:
            times.insert(index, time)
            for amounts in self._amounts:
                amounts.insert(index, amounts[index - 1])
        return index

    def _join(self, index: int) -> None:
        """Take a border out if it divides nothing any more."""
        if 0 < index < len(self.times):
            amounts = self._amounts[-1]
            if amounts[index] == amounts[index - 1]:
                self._delete(index, index + 1)

    def _delete(self, first: int, last: int) -> None:
        """Forget the slots from `first` up to `last`; the one before them lasts longer then."""
        del self.times[first:last]
        for amounts in self._amounts:
            del amounts[first:last]

    def _mark_freed(self, start: float, end: float) -> None:
        """Note that there is more room in [start, end)."""
        self.freed_until = max(self.freed_until, end)
        if start < self._latest_full:
            full = self._full_until
            for size, time in full.items():
                if time > start:
                    full[size] = start
            self._latest_full = start

    def _first_with_room(self, size: int, high: int) -> int:
        """Return the first slot before `high` with room for `size`; `high` if there is none."""
        times, rooms = self.times, self.rooms
        index = bisect_left(times, self._full_until.get(size, 0.0))
        if index >= high:
            return high
        if rooms[index] >= size:
            return index
        while index < high and rooms[index] < size:
            index += 1
        until = self._full_until[size] = times[index] if index < len(times) else math.inf
        self._latest_full = max(self._latest_full, until)
        return index


class CountSlots(Slots[Claim]):
    """The number of hosts, whichever, that are free and unclaimed."""

    __slots__ = ()

    def __init__(self, steps: Iterable[tuple[float, int]]) -> None:
        """Make the slots of (instant, how many are free from then on); instants ascend from now."""
        super().__init__()
        for time, room in steps:
            if not self.times or self.rooms[-1] != room:
                self.times.append(time)
                self.rooms.append(room)

    def give(self, start: float, end: float, count: int) -> None:
        """Free so many more in [start, end), `start` not before now; take them if negative."""
        if start >= end:
            return
        if count > 0:
            self._mark_freed(start, end)
        first, last = self._cut(start), self._cut(end)
        rooms = self.rooms
        for index in range(first, last):
            rooms[index] += count
        self._join(last)
        self._join(first)

    def move(self, before: Claim, after: Claim) -> None:
        """Take as many in `after` instead of in `before`, which does not begin sooner."""
        self.give(max(before.start, after.end), before.end, before.size)
        self._take_from_border(after.start, min(before.start, after.end), before.size)

    def _take_from_border(self, start: float, end: float, count: int) -> None:
        """Take so many in [start, end), where a slot begins at `start`."""
        times, rooms = self.times, self.rooms
        first = bisect_left(times, start)
        index = first
        for time in times[first:]:
            if time >= end:
                break
            rooms[index] -= count
            index += 1
        if index == len(times) or times[index] != end:
            times.insert(index, end)
            rooms.insert(index, rooms[index - 1] + count)
        elif rooms[index] == rooms[index - 1]:
            del times[index], rooms[index]
        if first and rooms[first] == rooms[first - 1]:
            del times[first], rooms[first]

    def earliest(self, size: int, duration: float) -> Claim | None:
        """Return the first claim of `size` for `duration`; None if there is none."""
        return self._window(size, duration, len(self.times), len(self.times))

    def sooner(self, promise: Claim, duration: float, limit: float, choose: Choose | None = None) -> Claim | None:  # noqa: ARG002
        """Search as in Slots; any hosts will do."""
        size, since = promise.size, promise.start
        limit = max(limit, self.freed_until)
        if self._full_until.get(size, 0.0) >= (limit if limit < since else since):
            return None
        times = self.times
        high = bisect_left(times, since)
        return self._window(size, duration, high, high if limit >= since else bisect_left(times, limit, 0, high))

    def _window(self, size: int, duration: float, high: int, limit: int) -> Claim | None:
        """Return the first window that begins before slot `limit`; from slot `high` on all is free for it.

        A window is looked at from its end: a slot without room rules out all starts up to it at once.
        """
        times, rooms = self.times, self.rooms
        start = known = self._first_with_room(size, limit)
        while start < limit:
            stop = bisect_left(times, times[start] + duration, known, high)
            index = stop - 1
            while index >= known and rooms[index] >= size:
                index -= 1
            if index < known:
                return Claim(times[start], times[start] + duration, size)
            start, known = index + 1, stop
            if start == stop:
                while start < limit and rooms[start] < size:
                    start += 1
                known = start
        return None


class Wanted(NamedTuple):
    """So many of the eligible hosts (bits) for so many seconds; those that are its own already are free for it."""

    size: int
    duration: float
    eligible: int
    choose: Choose | None
    own: int = 0


class HostSlots(Slots[Slot]):
    """The sets of hosts that are free; `rooms` has their sizes."""

    __slots__ = ("free",)

    def __init__(self, steps: Iterable[tuple[float, int]]) -> None:
        """Make the slots of (instant, bits that are free from then on); instants ascend from now."""
        #: Bits of the hosts that are free in each slot.
        self.free: list[int] = []
        super().__init__(self.free)
        for time, free in steps:
            if not self.times or self.free[-1] != free:
                self.times.append(time)
                self.free.append(free)
                self.rooms.append(free.bit_count())

    def take(self, start: float, end: float, hosts: int) -> bool:
        """Take these hosts in [start, end), `start` not before now.

        False if some of them were not free: the slots are then wrong, and must be made anew.
        """
        if start >= end:
            return True
        first, last = self._cut(start), self._cut(end)
        free, rooms, count = self.free, self.rooms, hosts.bit_count()
        for index in range(first, last):
            if hosts & ~free[index]:
                return False
            free[index] ^= hosts
            rooms[index] -= count
        self._join(last)
        self._join(first)
        return True

    def give(self, start: float, end: float, hosts: int) -> None:
        """Free these hosts in [start, end); the reverse of `take`."""
        if start >= end:
            return
        self._mark_freed(start, end)
        first, last = self._cut(start), self._cut(end)
        free, rooms, count = self.free, self.rooms, hosts.bit_count()
        for index in range(first, last):
            free[index] |= hosts
            rooms[index] += count
        self._join(last)
        self._join(first)

    def move(self, before: Slot, after: Slot) -> bool:
        """Take the hosts of `after` instead of those of `before`, which does not begin sooner; False as `take`.

        What is taken in both is not touched, if the hosts are the same.
        """
        hosts = before.hosts.bits
        if before.hosts == after.hosts and after.end > before.start:
            self.give(after.end, before.end, hosts)
            return self.take(after.start, before.start, hosts)
        self.give(before.start, before.end, hosts)
        return self.take(after.start, after.end, after.hosts.bits)

    def earliest(self, size: int, duration: float, eligible: int, choose: Choose | None) -> Slot | None:
        """Return the first slot of `size` of the eligible hosts for `duration`; None if there is none."""
        return self._window(Wanted(size, duration, eligible, choose), len(self.times), len(self.times))

    def sooner(self, promise: Slot, duration: float, limit: float, choose: Choose | None) -> Slot | None:
        """Search as in Slots; if `choose` picks the hosts all starts are looked for, as its reasons are unknown."""
        hosts, since, times = promise.hosts.bits, promise.start, self.times
        limit = max(limit, self.freed_until) if choose is None else math.inf
        high = bisect_left(times, since)
        wanted = Wanted(hosts.bit_count(), duration, -1, choose, hosts)
        found = self._window(wanted, high, high if limit >= since else bisect_left(times, limit, 0, high))
        return self._others_instead(promise, wanted) if found is None and since < limit else found

    def _window(self, wanted: Wanted, high: int, limit: int) -> Slot | None:
        """Return the first window that begins before slot `limit`; from slot `high` on wanted.own counts as free.

        As for counts, each window is looked at from its end; if there is room enough, once more for the same hosts.
        """
        times, rooms, count = self.times, self.rooms, len(self.times)
        size, duration = wanted.size, wanted.duration
        start = known = self._first_with_room(size, limit)
        while start < limit:
            stop = bisect_left(times, times[start] + duration, known if known > start else start + 1, count)
            index = (stop if stop < high else high) - 1
            while index >= known and rooms[index] >= size:
                index -= 1
            if index < known:
                hosts, index = self._same_hosts(wanted, start, stop, high)
                if hosts is not None:
                    return Slot(times[start], times[start] + duration, hosts)
            start, known = index + 1, stop
            if start >= known:
                while start < limit and rooms[start] < size:
                    start += 1
                known = start
        return None

    def _same_hosts(self, wanted: Wanted, start: int, stop: int, high: int) -> tuple[HostSet | None, int]:
        """Return hosts that are free in all slots from `start` to before `stop`; else None, and the slot in the way."""
        size, own, free = wanted.size, wanted.own, self.free
        common, index = wanted.eligible, stop
        while index > start:
            index -= 1
            common &= free[index] if index < high else free[index] | own
            if common.bit_count() < size:
                return None, index
        return pick_hosts(common, size, wanted.choose), start

    def _others_instead(self, slot: Slot, wanted: Wanted) -> Slot | None:
        """Return the slot with hosts that would be picked instead of its own; None if they would be the same."""
        times, free, hosts = self.times, self.free, wanted.own
        others = ~hosts & ((1 << hosts.bit_length()) - 1) if wanted.choose is None else ~hosts
        index, count = max(0, bisect_right(times, slot.start) - 1), len(times)
        while others and index < count and times[index] < slot.end:
            others &= free[index]
            index += 1
        chosen = pick_hosts(hosts | others, wanted.size, wanted.choose) if others else None
        if chosen is None or chosen.bits == hosts:
            return None
        return Slot(slot.start, slot.start + wanted.duration, chosen)


class SlotTable:
    """The slots by host and by count; each is None until it is asked for, and when it is not true any more.

    Two things are not written through: work that is late (`late`), for its hosts are expected the instant after every
    `now`; and what hosts are freed of that are taken for two reasons at one time (`tangled`).
    """

    __slots__ = ("by_count", "by_host", "late", "tangled")

    def __init__(self, *, late: bool) -> None:
        self.by_host: HostSlots | None = None
        self.by_count: CountSlots | None = None
        #: True if the table was made while something was late: true until the next message, or until that is told.
        self.late = late
        #: Bits of hosts that, somewhere in the slots, are taken twice.
        self.tangled = 0

    def advance(self, now: float) -> None:
        """Drop what is over at `now`."""
        if self.by_host is not None:
            self.by_host.advance(now)
        if self.by_count is not None:
            self.by_count.advance(now)

    def take(self, start: float, end: float, hosts: int, *, plain: bool) -> None:
        """Take these hosts in [start, end); `plain` if all of them were free all the while."""
        if self.by_host is not None and not self.by_host.take(start, end, hosts):
            self.by_host = None
        self._give_counts(start, end, -hosts.bit_count(), plain=plain)

    def give(self, start: float, end: float, hosts: int, *, plain: bool) -> None:
        """Free these hosts in [start, end); `plain` if nothing else takes any of them then."""
        if hosts & self.tangled:
            self.by_host = self.by_count = None
        if self.by_host is not None:
            self.by_host.give(start, end, hosts)
        self._give_counts(start, end, hosts.bit_count(), plain=plain)

    def book(self, promise: Promise, now: float, *, reserved: bool) -> None:
        """Take what is promised, or free it, from `now` on."""
        start = max(promise.start, now)
        if not isinstance(promise, Claim):
            (self.take if reserved else self.give)(start, promise.end, promise.hosts.bits, plain=False)
        elif self.by_count is not None:
            self.by_count.give(start, promise.end, -promise.size if reserved else promise.size)

    def move(self, before: Reserved, after: Reserved) -> bool:
        """Take what is promised in `after` instead of in `before`, which does not begin sooner.

        False if the slots of that kind of promise are not true any more.
        """
        if isinstance(before, Claim):
            if self.by_count is not None:
                self.by_count.move(before, after)
            return self.by_count is not None
        self.by_count = None
        if before.hosts.bits & self.tangled or (self.by_host is not None and not self.by_host.move(before, after)):
            self.by_host = None
        return self.by_host is not None

    def _give_counts(self, start: float, end: float, count: int, *, plain: bool) -> None:
        if not plain:
            self.by_count = None
        elif self.by_count is not None:
            self.by_count.give(start, end, count)
