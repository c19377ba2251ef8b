"""The future cut into slices of time, for when many reservations make it long: searched in place, changed in place."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

from batsched_py.hostset import lowest

#: Picks so many of these bits, or None.
Pick = Callable[[int, int], int | None]


class Slices:
    """A step function of time: which hosts are free, and how many of them nobody claims.

    A change costs two binary searches, two insertions and a step for each slice that it covers. A search walks the
    slices from its beginning; where a window fails it goes on behind the slice that it failed in.
    """

    __slots__ = ("free", "rooms", "times")

    def __init__(self, steps: Iterable[tuple[float, int, int]]) -> None:
        """(instant, bits of free hosts, how many of them are unclaimed) from then on; instants ascend from now."""
        self.times: list[float] = []
        self.free: list[int] = []
        self.rooms: list[int] = []
        for time, free, room in steps:
            if self.times and self.free[-1] == free and self.rooms[-1] == room:
                continue
            self.times.append(time)
            self.free.append(free)
            self.rooms.append(room)

    def advance(self, now: float) -> None:
        """Time has come to `now`: the slices before it are gone."""
        gone = bisect_right(self.times, now) - 1
        if gone > 0:
            del self.times[:gone], self.free[:gone], self.rooms[:gone]
        self.times[0] = now

    def take(self, start: float, end: float, hosts: int, count: int) -> bool:
        """Hosts are taken in [start, end), `start` not before now, and so many fewer are unclaimed.

        False if some of them were not free: the slices are then wrong, and must be made anew.
        """
        first, last = self._cut(start), self._cut(end)
        free, rooms = self.free, self.rooms
        for index in range(first, last):
            if hosts & ~free[index]:
                return False
            free[index] ^= hosts
            rooms[index] -= count
        self._join(first, last)
        return True

    def give(self, start: float, end: float, hosts: int, count: int) -> None:
        """The reverse of `take`."""
        first, last = self._cut(start), self._cut(end)
        free, rooms = self.free, self.rooms
        for index in range(first, last):
            free[index] |= hosts
            rooms[index] += count
        self._join(first, last)

    def index(self, time: float) -> int:
        """The slice that `time` is in; the first for what is past."""
        return max(0, bisect_right(self.times, time) - 1)

    def earliest(
        self, size: int, duration: float, begin: float, eligible: int, pick: Pick | None
    ) -> tuple[float, int] | None:
        """The first start at or after `begin` of `size` hosts for `duration`, and the hosts; None if there is none."""
        times, free = self.times, self.free
        count = len(times)
        start = self.index(begin)
        while start < count:
            common = free[start] & eligible
            if common.bit_count() < size:
                start += 1
                continue
            end = times[start] + duration
            index = start + 1
            while index < count and times[index] < end:
                common &= free[index]
                if common.bit_count() < size:
                    break
                index += 1
            else:
                hosts = lowest(common, size) if pick is None else pick(common, size)
                if hosts is not None:
                    return times[start], hosts
                start += 1
                continue
            start = behind(free, start, index, size, eligible)
        return None

    def earliest_count(self, size: int, duration: float, begin: float) -> float | None:
        """The first start at or after `begin` from which `size` hosts, whichever, are unclaimed for `duration`."""
        times, rooms = self.times, self.rooms
        first: float | None = None
        end = math.inf
        for index in range(self.index(begin), len(times)):
            if first is not None and times[index] >= end:
                return first
            if rooms[index] < size:
                first = None
            elif first is None:
                first = times[index]
                end = first + duration
        return first

    def again(
        self, taken: tuple[float, float, int], duration: float, begin: float, eligible: int, pick: Pick | None
    ) -> tuple[float, int]:
        """Where hosts that are taken in [start, end) would be taken if they were not yet, at `begin` or later.

        A search of as many; it sees no slice from `end` on, and changes nothing.
        """
        times, (since, until, hosts) = self.times, taken
        size = hosts.bit_count()
        first, last = self._cut(since), self._cut(until)
        low = min(self.index(begin), first)
        free = self.free[low:last]
        for index in range(first - low, last - low):
            free[index] |= hosts
        found = since, hosts
        start, count = 0, last - low
        while start < count:
            common = free[start] & eligible
            if common.bit_count() < size:
                start += 1
                continue
            end = times[low + start] + duration
            index = start + 1
            while index < count and times[low + index] < end:
                common &= free[index]
                if common.bit_count() < size:
                    break
                index += 1
            else:
                chosen = lowest(common, size) if pick is None else pick(common, size)
                if chosen is not None:
                    found = times[low + start], chosen
                    break
                start += 1
                continue
            start = behind(free, start, index, size, eligible)
        self._join(first, last)
        return found if found[0] <= since else (since, hosts)

    def again_count(self, taken: tuple[float, float, int], duration: float, begin: float) -> float:
        """As `again`, for a number of hosts, whichever."""
        times, rooms, (since, until, size) = self.times, self.rooms, taken
        first, last = self._cut(since), self._cut(until)
        start: float = since
        found, end = False, math.inf
        for index in range(min(self.index(begin), first), first):
            if found and times[index] >= end:
                break
            if rooms[index] < size:
                found = False
            elif not found:
                found, start = True, times[index]
                end = start + duration
        self._join(first, last)
        return start if found else since

    def move(self, before: tuple[float, float, int, int], after: tuple[float, float, int, int]) -> bool:
        """What is taken, (start, end, bits, count), is taken then instead, not later; False as `take`.

        What is taken in both is not touched, if the hosts are the same.
        """
        since, until, hosts, count = before
        start, end, others, _ = after
        if hosts == others and end > since:
            self.give(end, until, hosts, count)
            return self.take(start, since, hosts, count) if start < since else True
        self.give(since, until, hosts, count)
        return self.take(start, end, others, count)

    def _cut(self, time: float) -> int:
        """The slice that begins at `time`, made if there is none; the end of the list for infinity."""
        times = self.times
        if time == math.inf:
            return len(times)
        index = bisect_left(times, time)
        if index == len(times) or times[index] != time:
            times.insert(index, time)
            self.free.insert(index, self.free[index - 1])
            self.rooms.insert(index, self.rooms[index - 1])
        return index

    def _join(self, first: int, last: int) -> None:
        """Take the borders out that divide nothing any more."""
        free, rooms = self.free, self.rooms
        for index in (last, first):
            if 0 < index < len(free) and free[index] == free[index - 1] and rooms[index] == rooms[index - 1]:
                del self.times[index], free[index], rooms[index]


def behind(free: Sequence[int], start: int, failed: int, size: int, eligible: int) -> int:
    """Too few hosts are common from `start` up to `failed`; the first index from which enough may be."""
    common = eligible
    index = failed
    while index > start:
        common &= free[index]
        if common.bit_count() < size:
            break
        index -= 1
    return index + 1
