"""Many promises, made better when hosts are freed, without a look at those that what was freed cannot help."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from heapq import heappop, heappush

from msgspec.structs import replace

from batsched_py.planning.availability import Availability, Choose, Freed, Promise, Slot
from batsched_py.planning.reach import CountReach, HostReach, Reach


class Entry:
    """A promise that somebody holds. It is served before those of higher numbers."""

    __slots__ = ("duration", "number", "owner", "promise", "size")

    def __init__(self, number: int, owner: str, size: int, duration: float, promise: Promise) -> None:
        self.number, self.owner, self.size, self.duration, self.promise = number, owner, size, duration, promise


class Agenda:
    """Promises in the order of serving, each of which was at its earliest start when it was last looked at.

    `compress` does what giving each promise back in turn, and making it again at its earliest start, would do. But only
    what was freed since can let a promise start earlier, or on lower hosts at its start: a window that was not there
    before has some of it. So a promise is looked at if it is small and short enough for a window that what was freed
    has opened, or ends where such a window ends, or takes place inside one. Each promise that moves frees what it had:
    for those after it now, and for those before it when `compress` is next called.

    Costs two binary searches and insertions for each promise that is made, moved or dropped, and for what was freed a
    search for each promise that it may help.
    """

    __slots__ = ("_by_duration", "_by_start", "_entries", "_later", "_next", "_sizes")

    def __init__(self) -> None:
        #: Number -> entry.
        self._entries: dict[int, Entry] = {}
        self._next = 0
        #: (start, number) of each, ascending.
        self._by_start: list[tuple[float, int]] = []
        #: Size -> (duration, number) of each of this size, ascending; none is empty.
        self._by_duration: dict[int, list[tuple[float, int]]] = {}
        #: The sizes, ascending.
        self._sizes: list[int] = []
        #: Number -> from when on there may be a window, for those whom it may help that one after them has moved: they
        #: are looked at when `compress` is next called.
        self._later: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, owner: str, size: int, duration: float, promise: Promise) -> Entry:
        """A promise that was reserved at its earliest start; it is served last."""
        entry = Entry(self._next, owner, size, duration, promise)
        self._next += 1
        self._entries[entry.number] = entry
        insort(self._by_start, (promise.start, entry.number))
        shelf = self._by_duration.get(size)
        if shelf is None:
            shelf = self._by_duration[size] = []
            insort(self._sizes, size)
        insort(shelf, (duration, entry.number))
        return entry

    def drop(self, entry: Entry) -> None:
        """It is kept or given up; what it had is not free, or told otherwise."""
        del self._entries[entry.number]
        self._later.pop(entry.number, None)
        del self._by_start[bisect_left(self._by_start, (entry.promise.start, entry.number))]
        shelf = self._by_duration[entry.size]
        del shelf[bisect_left(shelf, (entry.duration, entry.number))]
        if not shelf:
            del self._by_duration[entry.size]
            del self._sizes[bisect_left(self._sizes, entry.size)]

    def look_at_all(self, begin: float) -> None:
        """More has happened than can be told: each is looked at when `compress` is next called."""
        self._later = dict.fromkeys(self._entries, begin)

    @property
    def first_start(self) -> float:
        """The first start that is promised; infinite if there is none."""
        return self._by_start[0][0] if self._by_start else math.inf

    def starting(self, now: float) -> list[Entry]:
        """Those that start by now, in the order of serving."""
        due = self._by_start[: bisect_right(self._by_start, (now, math.inf))]
        return [self._entries[number] for number in sorted(number for _, number in due)]

    def compress(self, future: Availability, freed: list[Freed], choose: Choose | None = None) -> Iterator[Entry]:
        """Make each promise better that can be, in the order of serving; those that were, each when it was."""
        begins, self._later = self._later, {}
        together = sum(each.count for each in freed)
        for each in freed:  # each may have been opened by all of them together
            for number, begin in self._helped(replace(each, count=together), future, choose):
                begins[number] = min(begin, begins.get(number, math.inf))
        heap = sorted(begins)
        while heap:
            number = heappop(heap)
            entry, begin = self._entries[number], begins.pop(number)
            before = entry.promise
            if before.start < future.now:  # its time has come, and its hosts are late
                continue
            better = future.improve(before, entry.duration, max(begin, future.now), choose)
            if better is before:
                continue
            self._move(entry, better)
            for other, begin in self._helped(Freed.between(before, better), future, choose):
                if other < number:
                    self._later[other] = min(begin, self._later.get(other, math.inf))
                elif other not in begins:
                    begins[other] = begin
                    heappush(heap, other)
                elif begin < begins[other]:
                    begins[other] = begin
            yield entry

    def _move(self, entry: Entry, promise: Promise) -> None:
        if promise.start != entry.promise.start:
            del self._by_start[bisect_left(self._by_start, (entry.promise.start, entry.number))]
            insort(self._by_start, (promise.start, entry.number))
        entry.promise = promise

    def _reach(self, freed: Freed, future: Availability, choose: Choose | None) -> Reach | None:
        """How far the windows go that it opened; None if it is over."""
        if freed.end <= max(freed.start, future.now) or not self._entries:
            return None
        some = next(iter(self._entries.values()))
        slices = future.slices
        start = max(freed.start, future.now)
        if isinstance(some.promise, Slot):
            return HostReach(slices, start, freed.end, freed.bits, lowest_first=choose is None)
        return CountReach(slices, start, freed.end, freed.count)

    def _helped(self, freed: Freed, future: Availability, choose: Choose | None) -> Iterator[tuple[int, float]]:
        """(number, from when on there may be a window) of those whom it may help; some perhaps twice."""
        reach = self._reach(freed, future, choose)
        if reach is None:
            return
        entries, sizes, by_start = self._entries, self._sizes, self._by_start
        for size in sizes[bisect_left(sizes, reach.least) : bisect_right(sizes, reach.most)]:
            shelf = self._by_duration[size]
            longest = reach.longest(size, shelf[-1][0])
            for duration, number in shelf:
                if duration > longest:
                    break
                if reach.helps(size, duration, entries[number].promise):
                    yield number, reach.begin(size)
        first, last = bisect_left(by_start, (reach.start, -1)), bisect_right(by_start, (reach.end, math.inf))
        for _, number in by_start[first:last]:
            entry = entries[number]
            if reach.touches(entry.size, entry.promise):
                yield number, reach.begin(entry.size)
