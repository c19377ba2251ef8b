"""Candidates for compression: the claims that may be moved to earlier times after hosts were released.

Most promises cannot be moved after a release, and most others move by a little only, because those before them do.
Therefore, promises are not all searched after each release, but looked up by the released hosts and times:

* A promise that begins in or just after a released interval may begin a little earlier.
* A promise that begins later may fit into the window around the released interval, if that is long enough only now.

Both rules may select too many promises, but never miss one: a new window contains some of the released hosts.
"""

from __future__ import annotations

import math
from typing import Final

from batsched_py.planning.future.count_slots import CountSlots
from batsched_py.planning.future.promise_book import Entry
from batsched_py.planning.future.promises import Claim
from batsched_py.planning.future.ranking import Ranking

# Between two calls an entry that may start sooner has a finite `near`, and all others are skipped after one comparison.
# With 10 000 jobs on 128 hosts at load 1.3 there were 2.6 million searches, of which 1.8 million found nothing;
# candidates take 0.63 of the time (ADR 38).
#
# Why none is missed: a new window contains some of what was freed, and is complete right after the last of the changes
# that made it. So it suffices to look, at each change, at promises that begin in the freed interval or at its end, and
# at later ones whose job fits into the widest window around it. Jobs that had enough room in all of the interval before
# (`before`) are left out, as are those that fit into the part of the window ahead of it: these windows are not new. The
# second exclusion does not hold for entries that are candidates already, because a job served before them may take that
# part; `_note_pending` and `_note_short` are for them. Leaving out jobs that fit *behind* the interval was wrong for
# the same reason.
#
# Durations are ranked in classes of sizes (1, 2 to 3, 4 to 7, ...), a compromise: a window for each size that waits is
# too many on a large machine, one for all sizes finds too many candidates. A window is the wider the smaller the size,
# so that classes are visited from the largest down and the borders only move outwards. `epsilon` allows for rounding: a
# job whose duration equals the window to the last digits must not be lost.
#
# A call of `note` costs O(slots of the widest window), two binary searches for each class, and the entries that it
# finds.

#: Upper bound of the relative rounding error of a sum of two times.
ROUNDING: Final = 1e-12


class Candidates:
    """Entries of a book by the starts of their promises, and by duration for sizes of 1, 2 to 3, 4 to 7, and so on."""

    __slots__ = ("_by_duration", "_slots", "starts")

    def __init__(self) -> None:
        #: Entries with a promise, by its start.
        self.starts: Ranking[Entry[Claim]] = Ranking()
        #: The same by duration, for sizes whose bit_length() - 1 is the position.
        self._by_duration: list[Ranking[Entry[Claim]]] = []
        #: The slots that were examined, and that record releases since then; None: none.
        self._slots: CountSlots | None = None

    def enter(self, entry: Entry[Claim], promise: Claim) -> None:
        """Add a promise that has the earliest possible start now."""
        self.starts.add(promise.start, entry)
        power = promise.size.bit_length() - 1
        while power >= len(self._by_duration):
            self._by_duration.append(Ranking())
        self._by_duration[power].add(entry.duration, entry)

    def leave(self, entry: Entry[Claim], promise: Claim) -> None:
        """Remove a promise."""
        self.starts.remove(promise.start, entry)
        self._by_duration[promise.size.bit_length() - 1].remove(entry.duration, entry)

    def look(self, slots: CountSlots) -> None:
        """Find the candidates after the releases since the last call; all entries if the slots are new."""
        if self._slots is slots and slots.freed is not None:
            if slots.freed:
                now = slots.times[0]
                start, end = min(start for start, _, _ in slots.freed), max(end for _, end, _ in slots.freed)
                if end > now and self.starts.items:
                    self.note(slots, max(start, now), end, sum(count for _, _, count in slots.freed))
        else:
            for entry in self.starts.items:
                entry.near = -math.inf
        self._slots, slots.freed = slots, []

    def note(self, slots: CountSlots, start: float, end: float, count: int) -> None:
        """Find the candidates after an increase by up to `count` hosts in [start, end).

        Entries for which there was already enough room in all of it are not affected.
        """
        times, rooms, starts = slots.times, slots.rooms, self.starts
        low, high = slots.between(start, end)
        room = least = rooms[low]
        if high - low > 1:
            room, least = max(rooms[low:high]), min(rooms[low:high])
        before = least - count if least > count else 0
        for entry in starts.within(start, end):
            size = entry.size
            if before < size <= room:
                first = low
                while first and rooms[first - 1] >= size:
                    first -= 1
                entry.near = min(entry.near, times[first])
        if end < starts.numbers[-1]:
            self._note_later(slots, low, high, end, before=before, room=room)

    def _note_later(self, slots: CountSlots, low: int, high: int, end: float, *, before: int, room: int) -> None:
        """Find the entries promised after `end` that may fit into a window with slots from `low` to before `high`.

        Their sizes are larger than `before`, and not larger than `room`.
        """
        times, rooms, rankings = slots.times, slots.rooms, self._by_duration
        first, count, epsilon = times[low], len(times), times[-1] * ROUNDING
        for power in range(min(room.bit_length(), len(rankings)) - 1, (before + 1).bit_length() - 2, -1):
            durations = rankings[power].numbers
            if not durations:
                continue
            least = max(1 << power, before + 1)
            wide_low, wide_high = low, high  # not by `around`: its calls would take a seventh of a run
            while wide_low and rooms[wide_low - 1] >= least:
                wide_low -= 1
            while wide_high < count and rooms[wide_high] >= least:
                wide_high += 1
            begin = times[wide_low]
            longest = (times[wide_high] - begin if wide_high < count else math.inf) + epsilon
            if durations[0] <= longest:
                low, high = slots.around(low, high, min((2 << power) - 1, room))
                if high == count:  # free forever: entries promised there are candidates anyway
                    self._note_pending(slots, low, end)
                    return
                short = first - times[low] - epsilon
                if durations[0] <= short:
                    self._note_short(rankings[power].within(-math.inf, short), end)
                for entry in rankings[power].within(short, longest):
                    if entry.start > end:
                        entry.search_between(begin, end)
            low, high = wide_low, wide_high

    def _note_pending(self, slots: CountSlots, low: int, end: float) -> None:
        """Extend the search around slot `low` for the candidates that are promised after `end`."""
        begin = slots.times[slots.around(low, low, 1)[0]]
        for entry in self.starts.within(end, math.inf):
            if entry.near < math.inf:
                entry.since, entry.until = min(entry.since, begin), max(entry.until, end)

    def _note_short(self, entries: list[Entry[Claim]], end: float) -> None:
        """Extend the search up to `end` for the candidates among these entries that are promised after `end`.

        They fitted into an existing window and are therefore candidates already, but an entry that is served before
        them may take it.
        """
        for entry in entries:
            if entry.until < end < entry.start and entry.near < math.inf:
                entry.until = end
