"""The future cut into slices of time, for when many reservations make it long: searched and changed in place."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable


class Slices(ABC):
    """A step function of time; slice i lasts from times[i] to times[i + 1], the last one for ever.

    A change costs two binary searches, up to two insertions, and a step for each slice that it covers. A search walks
    the slices once; it begins behind those that are known to have no room.
    """

    __slots__ = ("_barren", "_barren_until", "freed_until", "rooms", "times")

    def __init__(self) -> None:
        #: The instants at which slices begin, ascending; the first is `now`.
        self.times: list[float] = []
        #: How many hosts are free in each slice.
        self.rooms: list[int] = []
        #: Size -> every slice that begins before this instant has less room.
        self._barren: dict[int, float] = {}
        #: The latest of these instants.
        self._barren_until = -math.inf
        #: Whatever became free since somebody set it became so before this instant.
        self.freed_until = math.inf

    @abstractmethod
    def _insert(self, index: int, time: float) -> None:
        """Cut the slice before `index` at `time`."""

    @abstractmethod
    def _delete(self, first: int, last: int) -> None:
        """Forget the slices from `first` up to `last`; the one before them lasts longer then."""

    @abstractmethod
    def _alike(self, index: int) -> bool:
        """True if nothing changes between this slice and the one before it."""

    def advance(self, now: float) -> None:
        """Time has come to `now`: the slices before it are gone."""
        gone = bisect_right(self.times, now) - 1
        if gone > 0:
            self._delete(0, gone)
        self.times[0] = now

    def index(self, time: float) -> int:
        """The slice that `time` is in; the first for what is past."""
        return max(0, bisect_right(self.times, time) - 1)

    def _cut(self, time: float) -> int:
        """The slice that begins at `time`, made if there is none; the end of the list for infinity."""
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

    def _fertilise(self, start: float, end: float) -> None:
        """In [start, end) there is more room."""
        self.freed_until = max(self.freed_until, end)
        if start < self._barren_until:
            barren = self._barren
            for size, time in barren.items():
                if time > start:
                    barren[size] = start
            self._barren_until = start

    def _fertile(self, size: int, high: int) -> int:
        """The first slice before `high` with room for `size`; `high` if there is none."""
        times, rooms = self.times, self.rooms
        index = bisect_left(times, self._barren.get(size, 0.0))
        if index >= high:
            return high
        if rooms[index] >= size:
            return index
        while index < high and rooms[index] < size:
            index += 1
        until = self._barren[size] = times[index] if index < len(times) else math.inf
        self._barren_until = max(self._barren_until, until)
        return index


class CountSlices(Slices):
    """How many hosts, whichever, are free and unclaimed."""

    __slots__ = ()

    def __init__(self, steps: Iterable[tuple[float, int]]) -> None:
        """(instant, how many) from then on; instants ascend from now."""
        super().__init__()
        for time, room in steps:
            if not self.times or self.rooms[-1] != room:
                self.times.append(time)
                self.rooms.append(room)

    def give(self, start: float, end: float, count: int) -> None:
        """So many more are free in [start, end), `start` not before now; fewer if negative."""
        if start >= end:
            return
        if count > 0:
            self._fertilise(start, end)
        first, last = self._cut(start), self._cut(end)
        rooms = self.rooms
        for index in range(first, last):
            rooms[index] += count
        self._join(last)
        self._join(first)

    def move(self, size: int, before: tuple[float, float], after: tuple[float, float]) -> None:
        """So many that were taken in [start, end) are taken then instead, not later."""
        (since, until), (start, end) = before, after
        self.give(max(since, end), until, size)
        self._lose(start, min(since, end), size)

    def _lose(self, start: float, end: float, count: int) -> None:
        """So many fewer are free in [start, end), where a slice begins at `start`."""
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
        """The first start of `size` for `duration`; None if there is none."""
        return self._window(size, duration, len(self.times), len(self.times))

    def sooner(self, size: int, duration: float, since: float, limit: float) -> float | None:
        """The first start of what is taken from `since` on, if it were not yet; None if that is `since` again.

        Only starts before `limit` are looked for.
        """
        times = self.times
        high = bisect_left(times, since)
        return self._window(size, duration, high, high if limit >= since else bisect_left(times, limit, 0, high))

    def _window(self, size: int, duration: float, high: int, limit: int) -> float | None:
        """The first start of a window before slice `limit`; from slice `high` on, not before, all is free for it."""
        low = self._fertile(size, limit)
        if low == limit:
            return None
        times, rooms = self.times, self.rooms
        found, start, end = False, 0.0, 0.0
        for time, room in zip(times[low:limit], rooms[low:limit], strict=True):
            if room < size:
                if found:
                    if time >= end:
                        return start
                    found = False
            elif not found:
                found, start, end = True, time, time + duration
        if not found:
            return None
        while limit < high and times[limit] < end:
            if rooms[limit] < size:
                return None
            limit += 1
        return start

    def _insert(self, index: int, time: float) -> None:
        self.times.insert(index, time)
        self.rooms.insert(index, self.rooms[index - 1])

    def _delete(self, first: int, last: int) -> None:
        del self.times[first:last], self.rooms[first:last]

    def _alike(self, index: int) -> bool:
        return self.rooms[index] == self.rooms[index - 1]
