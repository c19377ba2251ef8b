"""Many promises, in the order of serving: compressed when hosts are freed."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

from batsched_py.hostset import HostSet
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Choose, Claim, Promise, Slot, on_bits


class Entry:
    """A promise that somebody holds. It is served before those of higher numbers."""

    __slots__ = ("duration", "number", "owner", "promise", "size")

    def __init__(self, number: int, owner: str, size: int, duration: float, promise: Promise) -> None:
        self.number, self.owner, self.size, self.duration, self.promise = number, owner, size, duration, promise


class Agenda:
    """Promises in the order of serving, of one kind: all are slots, or all are claims.

    A change costs two binary searches and an insertion.
    """

    __slots__ = ("_by_start", "_entries", "_next")

    def __init__(self) -> None:
        #: Number -> entry, numbers ascend.
        self._entries: dict[int, Entry] = {}
        self._next = 0
        #: (start, number) of each, ascending.
        self._by_start: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, owner: str, size: int, duration: float, promise: Promise) -> Entry:
        """A promise that is reserved; it is served last."""
        entry = Entry(self._next, owner, size, duration, promise)
        self._next += 1
        self._entries[entry.number] = entry
        insort(self._by_start, (promise.start, entry.number))
        return entry

    def drop(self, entry: Entry) -> None:
        """It is kept or given up."""
        del self._entries[entry.number]
        del self._by_start[bisect_left(self._by_start, (entry.promise.start, entry.number))]

    @property
    def first_start(self) -> float:
        """The first start that is promised; infinite if there is none."""
        return self._by_start[0][0] if self._by_start else math.inf

    def starting(self, now: float) -> list[Entry]:
        """Those that start by now, in the order of serving."""
        due = self._by_start[: bisect_right(self._by_start, (now, math.inf))]
        return [self._entries[number] for number in sorted(number for _, number in due)]

    def compress(self, future: Availability, choose: Choose | None = None) -> Iterator[Entry]:
        """Make each promise anew in turn, at its earliest start, which is never later; those that are better then.

        That is what giving each back and reserving it again comes to. But whoever cannot have a better one is not
        touched: only the slices before its start are searched, only where there is room enough, and only up to where
        something was freed since it was last looked at.
        """
        some = next(iter(self._entries.values()), None)
        if some is None:
            return iter(())
        return self._sooner_claims(future) if isinstance(some.promise, Claim) else self._better_slots(future, choose)

    def _sooner_claims(self, future: Availability) -> Iterator[Entry]:
        now, slices = future.now, future.slots_by_count
        limit, slices.freed_until = slices.freed_until, -math.inf
        for entry in list(self._entries.values()):
            promise = entry.promise
            if promise.start < now or not isinstance(promise, Claim):  # its time has come, and its hosts are late
                continue
            start = slices.sooner(entry.size, entry.duration, promise.start, max(limit, slices.freed_until))
            if start is not None:
                better = Claim(start, start + entry.duration, entry.size)
                future.move_claim(promise, better)
                self._note(entry, better)
                slices = future.slots_by_count
                yield entry

    def _better_slots(self, future: Availability, choose: Choose | None) -> Iterator[Entry]:
        now, slices, pick = future.now, future.slots_by_host, on_bits(choose)
        for entry in list(self._entries.values()):
            promise = entry.promise
            if promise.start < now or not isinstance(promise, Slot):
                continue
            found = slices.sooner(promise.hosts.bits, entry.duration, (promise.start, promise.end), pick)
            if found is not None:
                better = Slot(found[0], found[0] + entry.duration, HostSet(found[1]))
                future.move_slot(promise, better)
                self._note(entry, better)
                slices = future.slots_by_host
                yield entry

    def _note(self, entry: Entry, promise: Promise) -> None:
        if promise.start != entry.promise.start:
            del self._by_start[bisect_left(self._by_start, (entry.promise.start, entry.number))]
            insort(self._by_start, (promise.start, entry.number))
        entry.promise = promise
