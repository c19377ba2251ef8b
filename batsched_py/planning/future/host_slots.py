"""Slots by host: the future divided into time slots, with the set of free hosts in each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from batsched_py.hostset import HostSet, pick_hosts
from batsched_py.planning.future.float_bisect import bisect_left, bisect_right
from batsched_py.planning.future.promises import Choose, Slot

# Between two calls the three lists are equally long, `times` ascends from now, `rooms[i]` is the number of ones of
# `free[i]`, and neighbouring slots differ. Hosts become free only where a slot begins, so a search tries the beginnings
# of slots and no other starts.
#
# A window of slots is tested from its end (`_window`). A slot with too little room rules out all starts up to and
# including it, so a mismatch near the end skips many starts, as in the string search of Boyer and Moore (1977). Slots
# behind the mismatch are known to have room and are not tested again. Numbers come first, since comparing two small
# integers is much cheaper than intersecting two sets of 16 384 hosts: a search reads each number once, O(n) for n
# slots, and intersects the sets only of windows that have enough hosts in each slot. `_full_until` skips the full
# beginning of the table: taking hosts keeps it valid, giving hosts lowers it.
#
# A promise is improved without releasing it first (`sooner`): from its start on its own hosts count as free. Most
# promises do not change, and each of them saves a release and a reservation. The result must be that of releasing and
# reserving anew, which includes other hosts at the same start (`_others_instead`); the 801 starts and host sets of
# batsched's `medium_late` follow from this rule. A search ends where hosts were last freed, because a window that is
# new contains some of them. Not so if the caller chooses the hosts: a choice may depend on anything.
#
# ADR 20 describes the first version (a walk over all slots, and a search in three parts), ADR 26 the windows that are
# tested from their ends. Remembering for each size and duration which starts are ruled out was not built: each third
# promise moves, and a move invalidates what is remembered of later instants.


class Wanted(NamedTuple):
    """A number of eligible hosts (bits) for a duration in seconds; hosts that it already owns count as free."""

    size: int
    duration: float
    eligible: int
    choose: Choose | None
    own: int = 0


class HostSlots:
    """The sets of free hosts over time.

    A step function of time; slot i lasts from times[i] to times[i + 1], the last one forever. A change costs two binary
    searches, up to two insertions, and a step for each slot that it covers.
    """

    __slots__ = ("_full_until", "_latest_full", "free", "freed_until", "rooms", "times")

    def __init__(self, steps: Iterable[tuple[float, int]]) -> None:
        """Build the slots from (instant, bits of free hosts from then on); instants ascend from now."""
        #: The instants at which slots begin, ascending; the first is `now`.
        self.times: list[float] = []
        #: The number of free hosts in each slot.
        self.rooms: list[int] = []
        #: Bits of these hosts; adjacent slots have different bits.
        self.free: list[int] = []
        #: The latest end of a release since this was last set; set to -infinity before a search, to record its
        #: releases.
        self.freed_until = math.inf
        #: Size -> every slot that begins before this instant has less room.
        self._full_until: dict[int, float] = {}
        #: The latest of these instants.
        self._latest_full = -math.inf
        for time, free in steps:
            if not self.times or self.free[-1] != free:
                self.times.append(time)
                self.free.append(free)
                self.rooms.append(free.bit_count())

    def advance(self, now: float) -> None:
        """Drop the slots that are over at `now`."""
        gone = bisect_right(self.times, now, 0, len(self.times)) - 1
        if gone > 0:
            self._delete(0, gone)
        self.times[0] = now

    def take(self, start: float, end: float, hosts: int) -> bool:
        """Take these hosts in [start, end), `start` not before now.

        Return False if some of them were not free: the slots are then invalid, and must be rebuilt.
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
        self._mark_freed(start)
        self.freed_until = max(self.freed_until, end)
        first, last = self._cut(start), self._cut(end)
        free, rooms, count = self.free, self.rooms, hosts.bit_count()
        for index in range(first, last):
            free[index] |= hosts
            rooms[index] += count
        self._join(last)
        self._join(first)

    def move(self, before: Slot, after: Slot) -> bool:
        """Move a reservation from `before` to `after`, which does not begin later; return False like `take`.

        If the hosts are the same, the common interval is not changed.
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
        """Return the slot at which a reserved promise would be reserved again; None if it is unchanged.

        Only starts before `limit`, or before the end of later releases, are considered; with `choose` all starts,
        because its criteria are unknown.
        """
        hosts, since, times = promise.hosts.bits, promise.start, self.times
        limit = max(limit, self.freed_until) if choose is None else math.inf
        high = bisect_left(times, since, 0, len(times))
        wanted = Wanted(hosts.bit_count(), duration, -1, choose, hosts)
        found = self._window(wanted, high, high if limit >= since else bisect_left(times, limit, 0, high))
        return self._others_instead(promise, wanted) if found is None and since < limit else found

    def _window(self, wanted: Wanted, high: int, limit: int) -> Slot | None:
        """Return the first window that begins before slot `limit`; `wanted.own` counts as free from slot `high` on.

        Like for counts, each window is checked from its end; if there is enough room, again for the same hosts.
        """
        times, rooms, count = self.times, self.rooms, len(self.times)
        size, duration = wanted.size, wanted.duration
        start = known = self._first_with_room(size, limit)
        while start < limit:  # slots from `start` to before `known` have room
            # A duration that is lost in rounding covers its slot all the same: no slots would have all hosts in common.
            stop = bisect_left(times, times[start] + duration, known if known > start else start + 1, count)
            index = (stop if stop < high else high) - 1  # behind, its own hosts are enough
            while index >= known and rooms[index] >= size:
                index -= 1
            if index < known:
                hosts, index = self._same_hosts(wanted, start, stop, high)
                if hosts is not None:
                    return Slot(times[start], times[start] + duration, hosts)
            # Later starts up to `index` have windows that end no earlier: they contain the same slots in the way.
            start, known = index + 1, stop
            if start >= known:
                while start < limit and rooms[start] < size:
                    start += 1
                known = start
        return None

    def _mark_freed(self, start: float) -> None:
        """Record that there is more room from `start` on."""
        if start < self._latest_full:
            full = self._full_until
            for size, time in full.items():
                if time > start:
                    full[size] = start
            self._latest_full = start

    def _first_with_room(self, size: int, high: int) -> int:
        """Return the first slot before `high` with room for `size`; `high` if there is none."""
        times, rooms = self.times, self.rooms
        index = bisect_left(times, self._full_until.get(size, 0.0), 0, len(times))
        if index >= high:
            return high
        if rooms[index] >= size:
            return index
        while index < high and rooms[index] < size:
            index += 1
        until = self._full_until[size] = times[index] if index < len(times) else math.inf
        self._latest_full = max(self._latest_full, until)
        return index

    def _same_hosts(self, wanted: Wanted, start: int, stop: int, high: int) -> tuple[HostSet | None, int]:
        """Return hosts that are free in all slots from `start` to before `stop`; else None, and the blocking slot."""
        size, own, free = wanted.size, wanted.own, self.free
        common, index = wanted.eligible, stop
        while index > start:
            index -= 1
            common &= free[index] if index < high else free[index] | own
            if common.bit_count() < size:
                return None, index
        return pick_hosts(common, size, wanted.choose), start

    def _others_instead(self, slot: Slot, wanted: Wanted) -> Slot | None:
        """Return the slot with the hosts that would be selected now; None if they are the same."""
        times, free, hosts = self.times, self.free, wanted.own
        others = ~hosts & ((1 << hosts.bit_length()) - 1) if wanted.choose is None else ~hosts
        count = len(times)
        index = max(0, bisect_right(times, slot.start, 0, count) - 1)
        while others and index < count and times[index] < slot.end:
            others &= free[index]
            index += 1
        chosen = pick_hosts(hosts | others, wanted.size, wanted.choose) if others else None
        if chosen is None or chosen.bits == hosts:
            return None
        return Slot(slot.start, slot.start + wanted.duration, chosen)

    def _cut(self, time: float) -> int:
        """Return the slot that begins at `time`, splitting one if needed; the end of the list for infinity."""
        times = self.times
        if time == math.inf:
            return len(times)
        index = bisect_left(times, time, 0, len(times))
        if index == len(times) or times[index] != time:
            times.insert(index, time)
            self.rooms.insert(index, self.rooms[index - 1])
            self.free.insert(index, self.free[index - 1])
        return index

    def _join(self, index: int) -> None:
        """Merge two slots if they have the same hosts."""
        if 0 < index < len(self.times) and self.free[index] == self.free[index - 1]:
            self._delete(index, index + 1)

    def _delete(self, first: int, last: int) -> None:
        """Delete the slots from `first` up to `last`; the one before them is extended."""
        del self.times[first:last], self.rooms[first:last], self.free[first:last]
