"""The slot table: the future cut into slots of time, by hosts and by counts, so that many promises can be searched.

It is scratch. `Availability` makes it at the first question that needs it, writes through what is reserved in it and
the plain work, and drops it whenever something else happens. The truth stays in the calendar.

An amount is what a slot has free: a number of hosts (`CountSlots`), these very hosts (`HostSlots`). Another one, such
as shares of hosts, is another subclass of `Slots`: it keeps its amounts beside `rooms`, cuts and joins them in
`_insert`, `_delete` and `_alike`, changes them in `take` and `give`, and searches them once `rooms` says that there may
be enough.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import NamedTuple

from batsched_py.bits import lowest

#: Picks so many of these bits, or None.
Pick = Callable[[int, int], int | None]


class Slots(ABC):
    """A step function of time; slot i lasts from times[i] to times[i + 1], the last one for ever.

    A change costs two binary searches, up to two insertions, and a step for each slot that it covers.
    """

    __slots__ = ("_full_until", "_latest_full", "freed_until", "rooms", "times")

    def __init__(self) -> None:
        #: The instants at which slots begin, ascending; the first is `now`.
        self.times: list[float] = []
        #: The number of hosts that are free in each slot.
        self.rooms: list[int] = []
        #: Size -> every slot that begins before this instant has less room.
        self._full_until: dict[int, float] = {}
        #: The latest of these instants.
        self._latest_full = -math.inf
        #: The end of what became free since this was last set; set to -infinity before a search, to note what it frees.
        self.freed_until = math.inf

    @abstractmethod
    def _insert(self, index: int, time: float) -> None:
        """Cut the slot before `index` at `time`."""

    @abstractmethod
    def _delete(self, first: int, last: int) -> None:
        """Forget the slots from `first` up to `last`; the one before them lasts longer then."""

    @abstractmethod
    def _alike(self, index: int) -> bool:
        """Return whether nothing changes between this slot and the one before it."""

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
            self._insert(index, time)
        return index

    def _join(self, index: int) -> None:
        """Take a border out if it divides nothing any more."""
        if 0 < index < len(self.times) and self._alike(index):
            self._delete(index, index + 1)

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


class CountSlots(Slots):
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

    def move(self, size: int, before: tuple[float, float], after: tuple[float, float]) -> None:
        """Take so many in `after`, [start, end), instead of in `before`, which does not begin sooner."""
        (since, until), (start, end) = before, after
        self.give(max(since, end), until, size)
        self._take_from_border(start, min(since, end), size)

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
            self._insert(index, end)
            rooms[index] += count
        elif rooms[index] == rooms[index - 1]:
            del times[index], rooms[index]
        if first and rooms[first] == rooms[first - 1]:
            del times[first], rooms[first]

    def earliest(self, size: int, duration: float) -> float | None:
        """Return the first start of `size` for `duration`; None if there is none."""
        return self._window(size, duration, len(self.times), len(self.times))

    def sooner(self, size: int, duration: float, since: float, limit: float) -> float | None:
        """Return the first start of what is taken from `since` on, if it were not yet; None if that is `since` again.

        Only starts before `limit`, or before the end of what was freed meanwhile, are looked for.
        """
        limit = max(limit, self.freed_until)
        if self._full_until.get(size, 0.0) >= (limit if limit < since else since):
            return None
        times = self.times
        high = bisect_left(times, since)
        return self._window(size, duration, high, high if limit >= since else bisect_left(times, limit, 0, high))

    def _window(self, size: int, duration: float, high: int, limit: int) -> float | None:
        """Return the first start of a window before slot `limit`; from slot `high` on all is free for it.

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
                return times[start]
            start, known = index + 1, stop
            if start == stop:
                while start < limit and rooms[start] < size:
                    start += 1
                known = start
        return None

    def _insert(self, index: int, time: float) -> None:
        self.times.insert(index, time)
        self.rooms.insert(index, self.rooms[index - 1])

    def _delete(self, first: int, last: int) -> None:
        del self.times[first:last], self.rooms[first:last]

    def _alike(self, index: int) -> bool:
        return self.rooms[index] == self.rooms[index - 1]


class Wanted(NamedTuple):
    """So many of the eligible hosts (bits) for so many seconds; those that are its own already are free for it."""

    size: int
    duration: float
    eligible: int
    pick: Pick | None
    own: int = 0


class HostSlots(Slots):
    """The sets of hosts that are free; `rooms` has their sizes."""

    __slots__ = ("free",)

    def __init__(self, steps: Iterable[tuple[float, int]]) -> None:
        """Make the slots of (instant, bits that are free from then on); instants ascend from now."""
        super().__init__()
        #: Bits of the hosts that are free in each slot.
        self.free: list[int] = []
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

    def move(self, before: tuple[float, float, int], after: tuple[float, float, int]) -> bool:
        """Take hosts in `after`, (start, end, hosts), instead of in `before`, not later; False as `take`.

        What is taken in both is not touched, if the hosts are the same.
        """
        (since, until, hosts), (start, end, others) = before, after
        if hosts == others and end > since:
            self.give(end, until, hosts)
            return self.take(start, since, hosts)
        self.give(since, until, hosts)
        return self.take(start, end, others)

    def earliest(self, size: int, duration: float, eligible: int, pick: Pick | None) -> tuple[float, int] | None:
        """Return the first start of `size` of the eligible hosts for `duration`, and the hosts; None if there is none.

        None as `pick` takes the lowest.
        """
        return self._window(Wanted(size, duration, eligible, pick), len(self.times), len(self.times))

    def sooner(
        self, hosts: int, duration: float, slot: tuple[float, float], pick: Pick | None, limit: float
    ) -> tuple[float, int] | None:
        """Return where hosts that are taken in the slot [start, end) would be taken if they were not yet.

        A search of as many that changes nothing; None if they would be taken again as they are. Only starts before
        `limit`, or before the end of what was freed meanwhile, are looked for, unless `pick` chooses: who knows why.
        """
        since, times = slot[0], self.times
        limit = max(limit, self.freed_until) if pick is None else math.inf
        high = bisect_left(times, since)
        wanted = Wanted(hosts.bit_count(), duration, -1, pick, hosts)
        found = self._window(wanted, high, high if limit >= since else bisect_left(times, limit, 0, high))
        return self._others_instead(slot, hosts, pick) if found is None and since < limit else found

    def _window(self, wanted: Wanted, high: int, limit: int) -> tuple[float, int] | None:
        """Return the first window that begins before slot `limit`; from slot `high` on wanted.own counts as free.

        As for counts, each window is looked at from its end; if there is room enough, once more for the same hosts.
        """
        times, free, rooms, count = self.times, self.free, self.rooms, len(self.times)
        size, duration, eligible, pick, own = wanted
        start = known = self._first_with_room(size, limit)
        while start < limit:
            stop = bisect_left(times, times[start] + duration, known if known > start else start + 1, count)
            index = (stop if stop < high else high) - 1
            while index >= known and rooms[index] >= size:
                index -= 1
            enough, known = index < known, stop
            if enough:
                common, index = eligible, stop
                while index > start:
                    index -= 1
                    common &= free[index] if index < high else free[index] | own
                    if common.bit_count() < size:
                        break
                else:
                    chosen = lowest(common, size) if pick is None else pick(common, size)
                    if chosen is not None:
                        return times[start], chosen
            start = index + 1
            if start >= known:
                while start < limit and rooms[start] < size:
                    start += 1
                known = start
        return None

    def _others_instead(self, slot: tuple[float, float], hosts: int, pick: Pick | None) -> tuple[float, int] | None:
        """Return hosts that would be picked instead of these at the same time; None if they would be the same."""
        times, free, (since, until) = self.times, self.free, slot
        others = ~hosts & ((1 << hosts.bit_length()) - 1) if pick is None else ~hosts
        index, count = max(0, bisect_right(times, since) - 1), len(times)
        while others and index < count and times[index] < until:
            others &= free[index]
            index += 1
        if not others:
            return None
        size = hosts.bit_count()
        chosen = lowest(hosts | others, size) if pick is None else pick(hosts | others, size)
        return None if chosen is None or chosen == hosts else (since, chosen)

    def _insert(self, index: int, time: float) -> None:
        self.times.insert(index, time)
        self.free.insert(index, self.free[index - 1])
        self.rooms.insert(index, self.rooms[index - 1])

    def _delete(self, first: int, last: int) -> None:
        del self.times[first:last], self.free[first:last], self.rooms[first:last]

    def _alike(self, index: int) -> bool:
        return self.free[index] == self.free[index - 1]


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
        if self.by_count is not None:
            if plain:
                self.by_count.give(start, end, -hosts.bit_count())
            else:
                self.by_count = None

    def give(self, start: float, end: float, hosts: int, *, plain: bool) -> None:
        """Free these hosts in [start, end); `plain` if nothing else takes any of them then."""
        if hosts & self.tangled:
            self.by_host = self.by_count = None
        if self.by_host is not None:
            self.by_host.give(start, end, hosts)
        if self.by_count is not None:
            if plain:
                self.by_count.give(start, end, hosts.bit_count())
            else:
                self.by_count = None

    def move(self, before: tuple[float, float, int], after: tuple[float, float, int]) -> None:
        """Take other hosts in `after`, (start, end, hosts), instead of in `before`, not later."""
        self.by_count = None
        if before[2] & self.tangled or (self.by_host is not None and not self.by_host.move(before, after)):
            self.by_host = None
