"""How far the windows go that something freed has opened: who may profit is seen by size, duration and start."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left

from batsched_py.planning.availability import Promise, Slot
from batsched_py.planning.slices import Slices

#: Sums of times round; windows are taken for a little longer than they are, and the search that follows is exact.
SLACK = 1.000001


class Reach(ABC):
    """What became free during [start, end), and the windows around it.

    Attributes:
        start, end: hull of all windows that have some of it.
        most: the most hosts that are free at once inside; no larger job can start there earlier than promised.
        least: to smaller jobs it means nothing that any of it was freed.
    """

    __slots__ = ("end", "least", "most", "start")

    start: float
    end: float
    most: int
    least: int

    @abstractmethod
    def begin(self, size: int) -> float:
        """No window for `size` hosts begins before."""

    @abstractmethod
    def longest(self, size: int, enough: float) -> float:
        """No window for `size` hosts is longer; it need not be told exactly beyond `enough`."""

    @abstractmethod
    def helps(self, size: int, duration: float, promise: Promise) -> bool:
        """A window of this duration may begin earlier than the promise."""

    @abstractmethod
    def touches(self, size: int, promise: Promise) -> bool:
        """The promise, which begins in the hull, begins where a window ends, or has one around it."""


class HostReach(Reach):
    """Of these very hosts: for each the time that it is free around what was freed."""

    __slots__ = ("_longest", "_lowest_first", "_runs")

    def __init__(self, slices: Slices, start: float, end: float, hosts: int, *, lowest_first: bool) -> None:
        self._lowest_first = lowest_first
        #: (from when, until when, which hosts): free without a break, and some of it was freed.
        self._runs: list[tuple[float, float, int]] = []
        first = slices.index(start)
        self._walk(slices, first, end, hosts)
        self.start = min((run[0] for run in self._runs), default=start)
        self.end = max((run[1] for run in self._runs), default=start)
        self._longest = max((until - since for since, until, _ in self._runs), default=0.0) * SLACK
        low, count = slices.index(self.start), len(slices.times)
        self.most, self.least = 0, 1
        while low < count and slices.times[low] < self.end:
            self.most = max(self.most, slices.free[low].bit_count())
            low += 1

    def _walk(self, slices: Slices, first: int, end: float, hosts: int) -> None:
        times, free = slices.times, slices.free
        open_runs = self._behind(slices, first, hosts & free[first])
        held = hosts & free[first]
        index = first + 1
        while index < len(times):
            inside = times[index] < end
            here = hosts & free[index]
            ended = held & ~here
            if ended:
                self._runs += [(since, times[index], bits & ended) for since, bits in open_runs if bits & ended]
                open_runs = [(since, bits & ~ended) for since, bits in open_runs if bits & ~ended]
            begun = here & ~held if inside else 0
            if begun:
                open_runs.append((times[index], begun))
            held = held & here | begun
            if not held and not inside:
                break
            index += 1
        self._runs += [(since, math.inf, bits) for since, bits in open_runs]

    def _behind(self, slices: Slices, index: int, hosts: int) -> list[tuple[float, int]]:
        """(since when, hosts) for those free in the slice."""
        runs: list[tuple[float, int]] = []
        while hosts:
            before = hosts & slices.free[index - 1] if index else 0
            if hosts & ~before:
                runs.append((slices.times[index], hosts & ~before))
            hosts = before
            index -= 1
        return runs

    def _below(self, bits: int) -> int:
        """Bits of the hosts that may be better than these."""
        return (1 << bits.bit_length()) - 1 if self._lowest_first else -1

    def begin(self, size: int) -> float:  # noqa: ARG002
        """The first window's."""
        return self.start

    def longest(self, size: int, enough: float) -> float:  # noqa: ARG002
        """The longest host's."""
        return self._longest

    def helps(self, size: int, duration: float, promise: Promise) -> bool:  # noqa: ARG002
        """One of the hosts is free for so long, from before the promise's start."""
        start = promise.start
        for since, until, _ in self._runs:  # noqa: SIM110  (any() takes twice as long)
            if since < start and since + duration <= until:
                return True
        return False

    def touches(self, size: int, promise: Promise) -> bool:
        """It follows on one of its own hosts, or a host that it has not is free all the while."""
        if not isinstance(promise, Slot):
            return False
        bits, start, end = promise.hosts.bits, promise.start, promise.end
        wanted = ~bits & self._below(bits)
        for since, until, hosts in self._runs:
            if until == start:
                if hosts & bits and size <= self.most:
                    return True
            elif since <= start and end <= until and hosts & wanted:
                return True
        return False


class CountReach(Reach):
    """Of any hosts: for each size the time that so many are unclaimed around what was freed.

    Only sizes count for which there was too little somewhere before, and is enough now.
    """

    __slots__ = ("_finish", "_first", "_known", "_last", "_least", "_slices")

    def __init__(self, slices: Slices, start: float, end: float, count: int) -> None:
        self._slices = slices
        self._first = slices.index(start)
        self._last = max(self._first + 1, bisect_left(slices.times, end))
        rooms = slices.rooms[self._first : self._last]
        self.most = max(rooms)
        self.least = max(1, min(rooms) - count + 1)
        self.start, self.end = start, end
        #: Size -> windows (since, until) of so many hosts.
        self._known: dict[int, list[tuple[float, float]]] = {}

    def _windows(self, size: int, enough: float) -> list[tuple[float, float]]:
        times, rooms, last = self._slices.times, self._slices.rooms, self._last
        count, index = len(times), self._first
        windows: list[tuple[float, float]] = []
        while index < last:
            if rooms[index] < size:
                index += 1
                continue
            low = index
            if index == self._first:
                while low and rooms[low - 1] >= size:
                    low -= 1
            while index < last and rooms[index] >= size:
                index += 1
            if index == last:
                far = times[low] + enough
                while index < count and rooms[index] >= size and times[index] < far:
                    index += 1
            windows.append((times[low], times[index] if index < count else math.inf))
        self._known[size] = windows
        if windows:
            self.start, self.end = min(self.start, windows[0][0]), max(self.end, windows[-1][1])
        return windows

    def begin(self, size: int) -> float:
        """The first window's of this size."""
        return self._known[size][0][0]

    def longest(self, size: int, enough: float) -> float:
        """The longest window's of this size."""
        longest = 0.0
        for since, until in self._windows(size, enough):
            longest = max(longest, until - since)
        return longest * SLACK

    def helps(self, size: int, duration: float, promise: Promise) -> bool:
        """A window of this size is long enough, and begins before the promise."""
        for since, until in self._known[size]:  # noqa: SIM110  (any() takes twice as long)
            if since < promise.start and since + duration <= until:
                return True
        return False

    def touches(self, size: int, promise: Promise) -> bool:
        """It begins inside a window or where one ends: what it has itself makes that longer."""
        for since, until in self._known.get(size, ()):  # noqa: SIM110
            if since < promise.start <= until:
                return True
        return False
