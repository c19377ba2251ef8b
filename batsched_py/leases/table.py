"""Slot table of capacities: which shares of which hosts are reserved, and what is left (H12 to H19).

The table is kept host by host: Haizea's questions are about one host at a time (until when does this demand fit, when
does this host's picture change next, who is on it), and a reservation touches few of the hosts.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

from batsched_py.leases.capacity import Amounts, fits, subtract
from batsched_py.leases.lease import Lease
from batsched_py.leases.reservations import LeaseReservation
from batsched_py.model.resources import CPU, MEMORY

NOBODY: Final[frozenset[int]] = frozenset()
#: Answers that are kept, and changes after which one is found anew rather than changed.
_MOST_KEPT: Final = 4096
_MOST_REPLAYED: Final = 256
#: start, end, order of the reservation, its lease, what it takes.
_Entry = tuple[float, float, int, Lease, Amounts]


class HostTimeline:
    """What is reserved on one host, as a step function of time that is made at the first question after a change."""

    __slots__ = ("_entries", "_exclusive", "_free", "_holders", "_leases", "_points", "capacity", "down", "same_until")

    def __init__(self, capacity: Amounts, *, exclusive: bool = False) -> None:
        self.capacity, self._exclusive = capacity, exclusive
        #: Nothing can be placed on the host.
        self.down = False
        #: Reservations that have not ended, by start; those of no length are there too, and count for nothing.
        self._entries: list[_Entry] = []
        #: Where the picture changes: at `_points[i]` begins `_free[i]`, left by `_holders[i]`, which are of so many
        #: `_leases[i]`. Empty if out of date.
        self._points: list[float] = []
        self._free: list[Amounts] = []
        self._holders: list[tuple[_Entry, ...]] = []
        self._leases: list[int] = []
        #: The first change after the present of the table; long ago if it has to be found again.
        self.same_until = -math.inf

    def add(self, reservation: LeaseReservation, amounts: Amounts) -> None:
        """Put in what a reservation takes."""
        entry = reservation.start, reservation.end, reservation.order, reservation.lease, amounts
        insort(self._entries, entry)
        if reservation.start < reservation.end:
            self._change(spliced=self._splice_in(entry))

    def remove(self, reservation: LeaseReservation) -> None:
        """Take a reservation out."""
        key = (reservation.start, reservation.end, reservation.order)
        at = bisect_left(self._entries, key, key=_key)
        assert self._entries[at][:3] == key, f"{reservation!r} is not in the table"  # noqa: S101  # its owner
        entry = self._entries.pop(at)
        if reservation.start < reservation.end:
            self._change(spliced=self._splice_out(entry))

    def lose(self, *, down: bool) -> None:
        """Note that the host goes down, or is back."""
        self.down = down
        self._change(spliced=False)

    def _change(self, *, spliced: bool) -> None:
        """Note that the picture has changed; it is made anew if the change could not be spliced into it."""
        if not spliced:
            self._points = []
        self.same_until = -math.inf

    def has_room(self, demand: Amounts, time: float) -> bool:
        """Return whether a demand fits at an instant."""
        if not self._points:
            self._make()
        return fits(demand, self._free[bisect_right(self._points, time) - 1])

    def free_at(self, time: float) -> Amounts:
        """Return what is free at an instant."""
        at = self._at(time)
        return self._free[at]

    def outlook(self, time: float) -> tuple[int, float]:
        """Return how many leases are on the host at an instant, and when that or what is free changes next (H19)."""
        at = self._at(time)
        return self._leases[at], self._points[at + 1] if at + 1 < len(self._points) else math.inf

    def next_change(self, time: float) -> float:
        """Return when what is free, or who is on the host, changes next after `time`; infinity if never (H19)."""
        at = self._at(time) + 1
        return self._points[at] if at < len(self._points) else math.inf

    def fits_until(self, demand: Amounts, time: float, without: Collection[int] = NOBODY) -> float | None:
        """Return until when a demand fits from `time` on, None if it does not fit now; infinity if for ever (H18).

        Leases in `without` (their ids) are left out, as if they were not there.
        """
        at = first = self._at(time)
        points, free = self._points, self._free
        while at < len(points):
            offer = free[at]
            if without and any(entry[3].id in without for entry in self._holders[at]):
                offer = self._left([entry for entry in self._holders[at] if entry[3].id not in without])
            if not fits(demand, offer):
                return points[at] if at > first else None
            at += 1
        return math.inf

    def leases_between(self, start: float, end: float) -> Iterator[Lease]:
        """Iterate over leases that hold a share at some moment of [start, end), some of them more than once."""
        for entry in self._entries:
            if entry[0] >= end:
                break
            if entry[1] > start and entry[0] < entry[1] and any(entry[4]):
                yield entry[3]

    def _at(self, time: float) -> int:
        if not self._points:
            self._make()
        return bisect_right(self._points, time) - 1

    def _left(self, entries: Sequence[_Entry]) -> Amounts:
        if self.down or (self._exclusive and any(any(entry[4]) for entry in entries)):
            return (0.0,) * len(self.capacity)
        free = self.capacity
        for entry in entries:
            free = subtract(free, entry[4])
        return free

    def _make(self) -> None:
        """Make the step function; steps between which neither what is free nor who is there differs are one."""
        self._points, self._free, self._holders, self._leases = [-math.inf], [self._left(())], [()], [0]
        spans = [entry for entry in self._entries if entry[0] < entry[1]]
        if all(one[1] <= other[0] for one, other in pairwise(spans)):
            self._make_of_a_row(spans)
            return
        for point in sorted({time for entry in spans for time in entry[:2]}):
            holders = tuple(sorted((entry for entry in spans if entry[0] <= point < entry[1]), key=_order))
            self._step(point, holders)

    def _make_of_a_row(self, spans: Sequence[_Entry]) -> None:
        """Make it of entries that follow each other: most hosts have one lease at a time."""
        points, free, holders, leases = self._points, self._free, self._holders, self._leases
        end, last, empty = -math.inf, -1, self._left(())
        for entry in spans:
            start, until, _, lease, _ = entry
            if end < start and last >= 0:
                points.append(end)
                free.append(empty)
                holders.append(())
                leases.append(0)
                last = -1
            left = self._left((entry,))
            if lease.id != last or left != free[-1]:
                points.append(start)
                free.append(left)
                holders.append((entry,))
                leases.append(1)
                last = lease.id
            end = until
        if last >= 0:
            points.append(end)
            free.append(empty)
            holders.append(())
            leases.append(0)

    def _splice_in(self, entry: _Entry) -> bool:
        """Put an entry into a step in which the host is empty; False if it does not fit into one."""
        start, end, _, lease, _ = entry
        points, free, holders = self._points, self._free, self._holders
        at = bisect_right(points, start) - 1
        following = points[at + 1] if at + 1 < len(points) else math.inf
        if at < 0 or holders[at] or following < end:
            return False
        left = self._left((entry,))
        behind = points[at] == start and at > 0 and holders[at - 1][0][3].id == lease.id and free[at - 1] == left
        if behind or (following == end and holders[at + 1][0][3].id == lease.id and free[at + 1] == left):
            return False  # one step with its neighbour
        new: list[tuple[float, Amounts, tuple[_Entry, ...], int]] = [(start, left, (entry,), 1)]
        if points[at] < start:
            new.insert(0, (points[at], self._left(()), (), 0))
        if end < following:
            new.append((end, self._left(()), (), 0))
        self._replace(at, at + 1, new)
        return True

    def _splice_out(self, entry: _Entry) -> bool:
        """Make the step of an entry an empty one; False if the step is not its own."""
        start, end = entry[:2]
        points, holders = self._points, self._holders
        at = bisect_left(points, start)
        if at + 1 >= len(points) or holders[at] != (entry,) or points[at] != start or points[at + 1] != end:
            return False
        first = at if holders[at - 1] else at - 1
        last = at if holders[at + 1] else at + 1
        self._replace(first, last + 1, [(points[first], self._left(()), (), 0)])
        return True

    def _replace(self, first: int, last: int, steps: Sequence[tuple[float, Amounts, tuple[_Entry, ...], int]]) -> None:
        points, free, holders, leases = zip(*steps, strict=True)
        self._points[first:last] = points
        self._free[first:last] = free
        self._holders[first:last] = holders
        self._leases[first:last] = leases

    def _step(self, point: float, holders: tuple[_Entry, ...]) -> None:
        """Begin a step, unless it is like the one before."""
        free = self._left(holders)
        ids = {entry[3].id for entry in holders}
        if free != self._free[-1] or ids != {entry[3].id for entry in self._holders[-1]}:
            self._points.append(point)
            self._free.append(free)
            self._holders.append(holders)
            self._leases.append(len(ids))


def _key(entry: _Entry) -> tuple[float, float, int]:
    return entry[:3]


def _order(entry: _Entry) -> int:
    return entry[2]


class LeaseTable:
    """All hosts of a site, from 0, with what is reserved on them.

    Args:
        capacities: of the hosts.
        exclusive: no host is for two leases at a time.
        types: of the amounts.

    Attributes:
        hosts: the timelines of all.
        now: the present, in seconds.
        down: hosts on which nothing can be placed, until they are back.
    """

    def __init__(
        self, capacities: Sequence[Amounts], *, exclusive: bool = False, types: Sequence[str] = (CPU, MEMORY)
    ) -> None:
        self.types = types
        self.hosts = [HostTimeline(capacity, exclusive=exclusive) for capacity in capacities]
        self._count = 0
        self.down: set[int] = set()
        #: start, end and hosts of each change, in order; forgotten with what was found.
        self._changes: list[tuple[float, float, Collection[int]]] = []
        #: (demand, time; None for the present) -> hosts on which it fits then, after so many changes.
        self._fitting: dict[tuple[Amounts, float | None], tuple[set[int], int]] = {}
        self.now = -math.inf

    def lose(self, down: set[int]) -> None:
        """Note which hosts are down; no others are."""
        changed = down ^ self.down
        for host in changed:
            self.hosts[host].lose(down=host in down)
        self._changes.append((-math.inf, math.inf, changed))
        self.down = down

    def advance(self, now: float) -> None:
        """Go on to another instant: answers about the present are kept for hosts that are as they were."""
        changed = [host for host, line in enumerate(self.hosts) if line.same_until <= now]
        for host in changed:
            line = self.hosts[host]
            line.same_until = line.next_change(now)
        self._changes.append((-math.inf, math.inf, changed))
        self.now = now

    def add(self, reservation: LeaseReservation) -> None:
        """Put a reservation into the table, after all others of its instant."""
        self._count += 1
        reservation.order = self._count
        self.put_back(reservation)

    def put_back(self, reservation: LeaseReservation) -> None:
        """Put a reservation in where it was before it was removed."""
        self._note(reservation)
        for host, amounts in reservation.shares.items():
            self.hosts[host].add(reservation, amounts)

    def remove(self, reservation: LeaseReservation) -> None:
        """Take a reservation out."""
        self._note(reservation)
        for host in reservation.shares:
            self.hosts[host].remove(reservation)

    def _note(self, reservation: LeaseReservation) -> None:
        """Note the change of a reservation, if it takes anything."""
        if reservation.start < reservation.end and reservation.shares:
            self._changes.append((reservation.start, reservation.end, reservation.shares))

    def fitting(self, demand: Amounts, time: float) -> set[int]:
        """Return the hosts on which a demand fits at an instant; to be read before the table changes."""
        if len(self._fitting) > _MOST_KEPT or len(self._changes) > _MOST_KEPT:
            self._fitting.clear()
            self._changes.clear()
        changes, when = self._changes, None if time == self.now else time
        found, seen = self._fitting.get((demand, when), (None, 0))
        if found is None or len(changes) - seen > _MOST_REPLAYED:
            found = {host for host, line in enumerate(self.hosts) if line.has_room(demand, time)}
        elif seen < len(changes):
            for host in {host for start, end, hosts in changes[seen:] if start <= time < end for host in hosts}:
                if self.hosts[host].has_room(demand, time):
                    found.add(host)
                else:
                    found.discard(host)
        else:
            return found
        self._fitting[demand, when] = found, len(changes)
        return found

    def leases_between(self, start: float, end: float) -> list[Lease]:
        """Return leases that hold a share of some host at some moment of [start, end), in the order of their ids."""
        found = {lease.id: lease for host in self.hosts for lease in host.leases_between(start, end)}
        return [found[key] for key in sorted(found)]
