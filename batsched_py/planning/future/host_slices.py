"""Which hosts are free when, cut into slices of time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import NamedTuple

from batsched_py.bits import lowest
from batsched_py.planning.future.slices import Slices

#: Picks so many of these bits, or None.
Pick = Callable[[int, int], int | None]


class Wanted(NamedTuple):
    """So many of the eligible hosts (bits) for so many seconds; what is their own already is not in the way."""

    size: int
    duration: float
    eligible: int
    pick: Pick | None
    own: int = 0


class HostSlices(Slices):
    """Which hosts are free; `rooms` are their numbers."""

    __slots__ = ("free",)

    def __init__(self, steps: Iterable[tuple[float, int]]) -> None:
        """(instant, bits) from then on; instants ascend from now."""
        super().__init__()
        #: Bits of the hosts that are free in each slice.
        self.free: list[int] = []
        for time, free in steps:
            if not self.times or self.free[-1] != free:
                self.times.append(time)
                self.free.append(free)
                self.rooms.append(free.bit_count())

    def take(self, start: float, end: float, hosts: int) -> bool:
        """These hosts are taken in [start, end), `start` not before now.

        False if some of them were not free: the slices are then wrong, and must be made anew.
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
        """The reverse of `take`."""
        if start >= end:
            return
        self._fertilise(start, end)
        first, last = self._cut(start), self._cut(end)
        free, rooms, count = self.free, self.rooms, hosts.bit_count()
        for index in range(first, last):
            free[index] |= hosts
            rooms[index] += count
        self._join(last)
        self._join(first)

    def move(self, before: tuple[float, float, int], after: tuple[float, float, int]) -> bool:
        """Hosts that were taken in [start, end), others are taken then instead, not later; False as `take`.

        What is taken in both is not touched, if the hosts are the same.
        """
        (since, until, hosts), (start, end, others) = before, after
        if hosts == others and end > since:
            self.give(end, until, hosts)
            return self.take(start, since, hosts)
        self.give(since, until, hosts)
        return self.take(start, end, others)

    def earliest(self, size: int, duration: float, eligible: int, pick: Pick | None) -> tuple[float, int] | None:
        """The first start of `size` of the eligible hosts for `duration`, and the hosts; None if there is none."""
        return self._window(Wanted(size, duration, eligible, pick), len(self.times))

    def sooner(
        self, hosts: int, duration: float, slot: tuple[float, float], pick: Pick | None
    ) -> tuple[float, int] | None:
        """Where hosts that are taken in the slot [start, end) would be taken if they were not yet.

        A search of as many that changes nothing; None if they would be taken again as they are.
        """
        wanted = Wanted(hosts.bit_count(), duration, -1, pick, hosts)
        return self._window(wanted, bisect_left(self.times, slot[0])) or self._others_instead(slot, hosts, pick)

    def _window(self, wanted: Wanted, high: int) -> tuple[float, int] | None:
        """The first window that begins before slice `high`; from there on wanted.own is thought to be free.

        First it looks for enough hosts for long enough, then whether they are the same ones.
        """
        times, rooms, (size, duration, *_) = self.times, self.rooms, wanted
        start = self._fertile(size, high)
        while start < high:
            stop = start + 1
            while stop < high and rooms[stop] >= size:
                stop += 1
            if stop == high or times[start] + duration <= times[stop]:
                found = self._common(start, stop, wanted, high)
                if found is not None:
                    return found
            start = stop + 1
            while start < high and rooms[start] < size:
                start += 1
        return None

    def _common(self, start: int, stop: int, wanted: Wanted, high: int) -> tuple[float, int] | None:
        """The first window that begins in one of these slices, in each of which enough hosts are free."""
        times, free, count = self.times, self.free, len(self.times)
        size, duration, eligible, pick, own = wanted
        while start < stop:
            common, end = free[start] & eligible, times[start] + duration
            if stop < high and end > times[stop]:
                return None
            index = start + 1
            while index < count and times[index] < end:
                common &= free[index] if index < high else free[index] | own
                if common.bit_count() < size:
                    break
                index += 1
            else:
                if common.bit_count() >= size:
                    chosen = lowest(common, size) if pick is None else pick(common, size)
                    if chosen is not None:
                        return times[start], chosen
                start += 1
                continue
            start = self._behind(start, index, wanted, high)
        return None

    def _behind(self, start: int, failed: int, wanted: Wanted, high: int) -> int:
        """Too few hosts are common from `start` up to `failed`; the first slice from which enough may be."""
        free, common, index = self.free, wanted.eligible, failed
        while index > start:
            common &= free[index] if index < high else free[index] | wanted.own
            if common.bit_count() < wanted.size:
                break
            index -= 1
        return index + 1

    def _others_instead(self, slot: tuple[float, float], hosts: int, pick: Pick | None) -> tuple[float, int] | None:
        """Hosts that would be picked instead of these at the same time; None if they would be the same."""
        times, free, (since, until) = self.times, self.free, slot
        others = ~hosts & ((1 << hosts.bit_length()) - 1) if pick is None else ~hosts
        index, count = self.index(since), len(times)
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
