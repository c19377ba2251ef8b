"""Slot table: the reserved and the free capacity of all hosts over time (H12 to H19).

Most hosts have one lease at a time, and most queries concern all hosts: an `Occupancy` finds free whole hosts for all
of them at once. Only shared hosts and queries about single hosts need a `HostTimeline`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from batsched_py.bits import bit_runs, bits_of
from batsched_py.leases.capacity import Amounts, fits, total
from batsched_py.leases.lease import Lease, LeaseReservation
from batsched_py.leases.occupancy import Occupancy
from batsched_py.leases.points import Point
from batsched_py.leases.timeline import Entry, HostTimeline
from batsched_py.model.resources import CPU, MEMORY

# Two views of the same reservations. The timelines of the hosts are the truth about amounts and holders; the occupancy
# is drawn from them and answers most questions for all hosts at once. Between two calls both agree at every instant,
# `_holding` has the reservations that have a length and take something, and `_shared` has each host on which
# reservations overlap, now or later.
#
# Only on shared hosts must steps be drawn anew from the timeline when a reservation comes or goes: elsewhere its bits
# are added or removed as they are. A host leaves `_shared` as soon as its reservations follow each other in a row. When
# it stayed until nothing at all was reserved, which is never with conservative backfilling, one migration next to a run
# made each later change of that host a timeline: 17.5 s instead of 10.2 s for the first 900 leases of KTH-SP2 with
# migration, and more than four fifths of the time after 4 700 (ADR 27).
#
# `order` decides ties: machines that start at one instant start in the order in which they were reserved, as in Haizea.
# A reservation that comes back by an undo keeps its number (`put_back`); a new number would change which machine starts
# first, and a refused lease would leave a trace.
#
# `_large` and `_filled` depend on capacities alone, which never change. Their sizes are limited, since requests may
# name any amounts.

#: The largest numbers of cached demands (with the hosts that are large enough) and shares (with the hosts they fill).
_MOST_KEPT: Final = 4096


class LeaseTable:
    """The reservations on all hosts of a site, numbered from 0; sets of hosts are the bits of integers.

    Args:
        capacities: the capacities of the hosts.
        exclusive: True if each host runs one lease at a time.
        types: the resource types of the amounts; hidden columns may follow.
        pool: the capacity of one more timeline, which is no host: that of licences. None without it.

    Attributes:
        hosts: the timelines of all hosts.
        lines: these, and that of the pool.
        everywhere: the set of all hosts.
        now: the current time in seconds.
        down: the hosts that are down, on which nothing can be placed.
    """

    def __init__(
        self,
        capacities: Sequence[Amounts],
        *,
        exclusive: bool = False,
        types: Sequence[str] = (CPU, MEMORY),
        pool: Amounts | None = None,
    ) -> None:
        self.types = types
        self.hosts = [HostTimeline(capacity, exclusive=exclusive) for capacity in capacities]
        self.lines = self.hosts if pool is None else [*self.hosts, HostTimeline(pool)]
        self.everywhere = (1 << len(self.hosts)) - 1
        self.down: set[int] = set()
        self.now = -math.inf
        self._count = 0
        self._up = self.everywhere
        self._occupancy = Occupancy()
        #: Hosts with several reservations at the same time, now or later.
        self._shared = 0
        #: Order -> reservation with shares.
        self._holding: dict[int, LeaseReservation] = {}
        #: Demand -> hosts that are large enough for it, and whether it needs the first resource type.
        self._large: dict[Amounts, tuple[int, bool]] = {}
        #: Shares -> hosts that they fill.
        self._filled: dict[Amounts, int] = {}

    def lose(self, down: set[int]) -> None:
        """Set the hosts that are down."""
        for host in down ^ self.down:
            self.hosts[host].lose(down=host in down)
        self.down = down
        self._up = self.everywhere ^ bits_of(down)

    def advance(self, now: float) -> None:
        """Set the current time."""
        self.now = now

    def add(self, reservation: LeaseReservation) -> None:
        """Add a reservation, ordered after all others of its instant."""
        self._count += 1
        reservation.order = self._count
        self.put_back(reservation)

    def put_back(self, reservation: LeaseReservation) -> None:
        """Add a removed reservation again, with its former order."""
        start, end = reservation.start, reservation.end
        taken = self._note(reservation)
        if start < end and taken:
            self._holding[reservation.order] = reservation
            full, part = self._kinds(taken)
            steps = self._occupancy.open(start, end)
            some, others = self._occupancy.busy(steps)
            # Hosts on which a lease is already, at any moment of it, cannot be added up from sets: two halves are a
            # full host, a quarter and a half are not. They are drawn from their timelines, in which it is noted by now.
            met = (some | others) & (full | part)
            self._occupancy.take(steps, full ^ (full & met), part ^ (part & met))
            if met:
                self._shared |= met
                self._redraw(met, steps)

    def remove(self, reservation: LeaseReservation) -> None:
        """Remove a reservation."""
        start, end, order = reservation.start, reservation.end, reservation.order
        hosts, lines = 0, self.lines
        for host in reservation.shares:
            lines[host].remove(order)
            hosts |= 1 << host
        if start < end and hosts:
            del self._holding[order]
            shared = self._shared & hosts
            steps = self._occupancy.steps(start, end)
            self._occupancy.free(steps, hosts ^ shared)
            if shared:
                self._redraw(shared, steps)
                self._shared ^= bits_of(host for host in numbers(shared) if self.lines[host].in_a_row)
            self._occupancy.close(start, end)

    def room(self, demand: Amounts, time: float) -> int:
        """Return the hosts on which a demand fits at an instant."""
        occupancy = self._occupancy
        at = bisect_right(occupancy.times, time) - 1
        full, part = occupancy.full[at], occupancy.part[at]
        large, needs_first = self._large.get(demand) or self._needs(demand)
        if needs_first and not part:  # all hosts are fully occupied or unused: no timeline is needed
            return large & self._up & ~full
        found, unknown = self._sifted(demand, full, part)
        for host in numbers(unknown):
            if self.hosts[host].has_room(demand, time):
                found |= 1 << host
        return found

    def roomy(self, demand: Amounts, points: Iterable[Point], where: int, count: int) -> Iterator[Point]:
        """Yield the points at which a demand fits on at least `count` of these hosts."""
        occupancy = self._occupancy
        times, full, part = occupancy.times, occupancy.full, occupancy.part
        large, needs_first = self._needs(demand)
        large &= self._up & where
        for point in points:
            at = bisect_right(times, point[0]) - 1
            whole = needs_first and not part[at]  # no timeline is needed
            found = large & ~full[at] if whole else self.room(demand, point[0]) & where
            if found.bit_count() >= count:
                yield point

    def room_during(self, demand: Amounts, start: float, end: float) -> int:
        """Return the hosts on which a demand fits during all of [start, end)."""
        full, part = self._occupancy.busy(self._occupancy.steps(start, end))
        found, unknown = self._sifted(demand, full, part)
        for host in numbers(unknown):
            until = self.hosts[host].fits_until(demand, start)
            if until is not None and until >= end:
                found |= 1 << host
        return found

    def fits_until(self, hosts: int, demand: Amounts, time: float) -> float:
        """Return the time until which a demand that fits on all of these hosts keeps fitting; infinity if forever."""
        occupancy, (_, needs_first) = self._occupancy, self._needs(demand)
        for at in range(occupancy.at(time) + 1, len(occupancy.times)):
            full, part = occupancy.full[at] & hosts, occupancy.part[at] & hosts
            if full and needs_first:
                return occupancy.times[at]
            begin = occupancy.times[at]
            if (full or part) and not all(self.hosts[host].has_room(demand, begin) for host in numbers(full | part)):
                return begin
        return math.inf

    def quiet_until(self, hosts: int, time: float, seconds: float) -> list[tuple[int, float, int]]:
        """Return the number of leases on hosts at an instant, and the time of the next change there (H19).

        Each entry is for a group of hosts: leases, time, hosts. The time is exact if it is less than `seconds` away,
        otherwise any later time.
        """
        busy = self._occupancy.busy_at(time) & hosts
        found = [(0, change, group) for change, group in self._occupancy.first_taken(hosts ^ busy, time, seconds)]
        return found + [(*self.hosts[host].outlook(time), 1 << host) for host in numbers(busy)]

    def leases_between(self, start: float, end: float) -> list[Lease]:
        """Return the leases that hold a share of a host within [start, end), ordered by id."""
        found = {
            one.lease.id: one.lease
            for one in self._holding.values()
            if one.start < end and one.end > start and any(map(any, one.shares.values()))
        }
        return [found[key] for key in sorted(found)]

    def _sifted(self, demand: Amounts, full: int, part: int) -> tuple[int, int]:
        """Return the hosts on which a demand certainly fits, and those whose timelines must be checked."""
        large, needs_first = self._needs(demand)
        busy = full | part
        asked = part ^ (part & full) if needs_first else busy
        return (large & self._up) & ~busy, asked & self._up

    def _needs(self, demand: Amounts) -> tuple[int, bool]:
        known = self._large.get(demand)
        if known is None:
            if len(self._large) >= _MOST_KEPT:
                self._large.clear()
            large = bits_of(host for host, line in enumerate(self.hosts) if fits(demand, line.capacity))
            known = self._large[demand] = large, total(demand[0]) > 0
        return known

    def _note(self, reservation: LeaseReservation) -> dict[Amounts, int]:
        """Add a reservation to the timelines of its hosts; return amounts -> hosts with this share."""
        start, end, order, lease = reservation.start, reservation.end, reservation.order, reservation.lease
        taken: dict[Amounts, int] = {}
        lines, some = self.lines, 0
        last: Amounts = ()
        entry: Entry = start, end, order, lease, last
        for host, amounts in reservation.shares.items():
            if amounts is not last:  # rare: most reservations have equal shares
                if some:
                    taken[last] = taken.get(last, 0) | some
                last, some, entry = amounts, 0, (start, end, order, lease, amounts)
            lines[host].add(entry)
            some |= 1 << host
        if some:
            taken[last] = taken.get(last, 0) | some
        return taken

    def _kinds(self, taken: Mapping[Amounts, int]) -> tuple[int, int]:
        """Return the hosts that a reservation occupies fully, and partly."""
        full = part = 0
        for amounts, some in taken.items():
            filled = self._filled.get(amounts)
            if filled is None:
                if len(self._filled) >= _MOST_KEPT:
                    self._filled.clear()
                large = (host for host, line in enumerate(self.hosts) if fits(amounts, line.capacity))
                filled = self._filled[amounts] = bits_of(host for host in large if self.hosts[host].fills(amounts))
            full |= some & filled
            part |= some & ~filled
        return full, part

    def _redraw(self, hosts: int, steps: range) -> None:
        """Recompute the occupancy of shared hosts during these steps."""
        occupancy = self._occupancy
        occupancy.free(steps, hosts)
        for host in numbers(hosts):
            line, bit = self.lines[host], 1 << host
            for at in steps:
                partly, full = line.taken(occupancy.times[at])
                if full:
                    occupancy.full[at] |= bit
                elif partly:
                    occupancy.part[at] |= bit


def numbers(hosts: int) -> list[int]:
    """Return the numbers of hosts in ascending order."""
    if not hosts:
        return []
    return [host for low, high in bit_runs(hosts) for host in range(low, high + 1)]
