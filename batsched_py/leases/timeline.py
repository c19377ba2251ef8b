"""Timeline of one host: its reserved and free capacity over time (H12 to H19)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Final

from batsched_py.leases.capacity import Amounts, fits, subtract, total
from batsched_py.leases.lease import Lease

# The entries are the truth; the steps are computed from them at the first question after a change. A plan that is tried
# changes a host several times before anything is asked, and most hosts are never asked, since the occupancy answers for
# them (see `table`): keeping the steps up to date would pay for questions that do not come. To make them costs O(n log
# n) for n entries, a question afterwards O(log n).
#
# Between two questions either `_points` is empty, or the four lists are equally long and neighbouring steps differ in
# what is free or in the ids of the leases. The second part matters: a host whose tenant changes without a change of
# amounts has changed for Haizea's selection of hosts (H19). Entries of no length are kept, so that they can be removed
# like all others, and make no step.
#
# Amounts are subtracted in the order in which reservations were made: on a host with several CPUs the rest depends on
# it (first fit), and elsewhere its last bit. Most hosts have one lease at a time: their steps are made in one pass
# (`_make_of_a_row`), with the same result.

NO_LEASES: Final[frozenset[int]] = frozenset()
#: The marker of outdated points; it always stays empty.
_STALE: Final[list[float]] = []
#: start, end, order of the reservation, its lease, its share of the host.
Entry = tuple[float, float, int, Lease, Amounts]


class HostTimeline:
    """The reservations of one host as a step function of time, computed lazily after changes.

    Attributes:
        capacity: the amounts of the host.
        down: True while the host is down, when nothing can be placed on it.
    """

    __slots__ = ("_entries", "_exclusive", "_free", "_holders", "_in_a_row", "_leases", "_points", "capacity", "down")

    def __init__(self, capacity: Amounts, *, exclusive: bool = False) -> None:
        self.capacity, self._exclusive = capacity, exclusive
        self.down = False
        #: Order -> entry of each reservation; those without duration have no effect.
        self._entries: dict[int, Entry] = {}
        #: The steps: from `_points[i]` on, `_free[i]` is free, and `_holders[i]` are the entries, of `_leases[i]`
        #: different leases. Empty if outdated.
        self._points: list[float] = _STALE
        self._free: list[Amounts] = []
        self._holders: list[tuple[Entry, ...]] = []
        self._leases: list[int] = []
        #: True if no two reservations overlap; computed with the steps.
        self._in_a_row = True

    def add(self, entry: Entry) -> None:
        """Add the entry of a reservation."""
        self._entries[entry[2]] = entry
        self._points = _STALE

    def remove(self, order: int) -> None:
        """Remove the entry of a reservation."""
        del self._entries[order]
        self._points = _STALE

    def lose(self, *, down: bool) -> None:
        """Set whether the host is down."""
        self.down = down
        self._points = _STALE

    @property
    def in_a_row(self) -> bool:
        """True if no two reservations overlap."""
        if not self._points:
            self._make()
        return self._in_a_row

    def fills(self, amounts: Amounts) -> bool:
        """Return whether a single reservation of these amounts uses up the first resource type."""
        return not total(self._left((amounts,))[0])

    def taken(self, time: float) -> tuple[bool, bool]:
        """Return whether the host is in use at an instant, and whether its first resource type is used up."""
        at = self._at(time)
        holders = self._holders[at]
        return bool(holders), bool(holders) and not total(self._left([entry[4] for entry in holders])[0])

    def has_room(self, demand: Amounts, time: float) -> bool:
        """Return whether a demand fits at an instant."""
        at = self._at(time)
        return fits(demand, self._free[at])

    def free_at(self, time: float) -> Amounts:
        """Return the free amounts at an instant."""
        at = self._at(time)
        return self._free[at]

    def outlook(self, time: float) -> tuple[int, float]:
        """Return the number of leases at an instant, and the next time at which they or free amounts change (H19)."""
        at = self._at(time)
        return self._leases[at], self._points[at + 1] if at + 1 < len(self._points) else math.inf

    def next_change(self, time: float) -> float:
        """Return the next time after `time` at which leases or free amounts change; infinity if never (H19)."""
        return self.outlook(time)[1]

    def fits_until(self, demand: Amounts, time: float, without: Collection[int] = NO_LEASES) -> float | None:
        """Return the time until which a demand fits from `time` on: infinity if forever, None if it does not fit (H18).

        Leases with their ids in `without` are ignored.
        """
        at = first = self._at(time)
        points, free = self._points, self._free
        while at < len(points):
            offer = free[at]
            if without and any(entry[3].id in without for entry in self._holders[at]):
                offer = self._offer([entry for entry in self._holders[at] if entry[3].id not in without])
            if not fits(demand, offer):
                return points[at] if at > first else None
            at += 1
        return math.inf

    def steps(self, start: float, end: float, without: Collection[int] = NO_LEASES) -> Iterator[tuple[float, Amounts]]:
        """Yield the steps of [start, end): their begins, and the amounts that are free without these leases."""
        for at in range(self._at(start), len(self._points)):
            if self._points[at] >= end:
                return
            offer = self._free[at]
            if without and any(entry[3].id in without for entry in self._holders[at]):
                offer = self._offer([entry for entry in self._holders[at] if entry[3].id not in without])
            yield self._points[at], offer

    def leases_between(self, start: float, end: float) -> Iterator[Lease]:
        """Iterate over the leases that hold a share within [start, end); a lease may appear more than once."""
        for entry in self._entries.values():
            if start < entry[1] and entry[0] < min(end, entry[1]) and any(entry[4]):
                yield entry[3]

    def _at(self, time: float) -> int:
        if not self._points:
            self._make()
        return bisect_right(self._points, time) - 1

    def _left(self, taken: Sequence[Amounts]) -> Amounts:
        """Return the amounts that these shares leave free, ignoring whether the host is down."""
        if self._exclusive and any(any(amounts) for amounts in taken):
            return (0.0,) * len(self.capacity)
        free = self.capacity
        for amounts in taken:
            free = subtract(free, amounts)
        return free

    def _offer(self, entries: Sequence[Entry]) -> Amounts:
        return (0.0,) * len(self.capacity) if self.down else self._left([entry[4] for entry in entries])

    def _make(self) -> None:
        """Compute the step function; steps with equal free amounts and leases are merged."""
        self._points, self._free, self._holders, self._leases = [-math.inf], [self._offer(())], [()], [0]
        spans = sorted([entry for entry in self._entries.values() if entry[0] < entry[1]], key=lambda entry: entry[:3])
        self._in_a_row = all(one[1] <= other[0] for one, other in pairwise(spans))
        if self._in_a_row:
            self._make_of_a_row(spans)
            return
        here, coming = list[Entry](), 0
        for point in sorted({time for entry in spans for time in entry[:2]}):
            here = [entry for entry in here if entry[1] > point]
            while coming < len(spans) and spans[coming][0] <= point:
                here.append(spans[coming])
                coming += 1
            self._step(point, tuple(sorted(here, key=itemgetter(2))))

    def _make_of_a_row(self, spans: Sequence[Entry]) -> None:
        """Compute the step function of entries that do not overlap, the common case."""
        end, last = -math.inf, -1
        for entry in spans:
            if end < entry[0] and last >= 0:
                self._append(end, self._offer(()), ())
                last = -1
            left = self._offer((entry,))
            if entry[3].id != last or left != self._free[-1]:
                self._append(entry[0], left, (entry,))
                last = entry[3].id
            end = entry[1]
        if last >= 0:
            self._append(end, self._offer(()), ())

    def _append(self, point: float, free: Amounts, holders: tuple[Entry, ...]) -> None:
        self._points.append(point)
        self._free.append(free)
        self._holders.append(holders)
        self._leases.append(len({entry[3].id for entry in holders}))

    def _step(self, point: float, holders: tuple[Entry, ...]) -> None:
        """Append a step, unless it equals the one before."""
        free = self._offer(holders)
        ids = {entry[3].id for entry in holders}
        if free != self._free[-1] or ids != {entry[3].id for entry in self._holders[-1]}:
            self._append(point, free, holders)
