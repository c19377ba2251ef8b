"""A book of reservations: hosts that owners reserve for intervals, on top of the availability."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import InvariantError
from batsched_py.hostset import HostSet
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Slot
from batsched_py.text.wording import seconds

NO_HOSTS = HostSet()


class Reservation(Struct, frozen=True):
    """Hosts that are reserved for an owner.

    Attributes:
        id: unique in its book.
        slot: the hosts and the interval.
        owner: the owner, such as a job's id; one owner may have several reservations.
        kind: purpose of the reservation, a word of the owner's choice.
    """

    id: str
    slot: Slot
    owner: str = ""
    kind: str = "run"

    def __str__(self) -> str:
        return f"{self.owner or self.id} in [{seconds(self.slot.start)}, {seconds(self.slot.end)})"


class Reservations:
    """Reservations without overlaps of hosts and times, each also reserved in the availability.

    An impossible change returns the reason and changes nothing. A query checks each reservation that begins before the
    end of its interval; a change costs a query, a binary search and an insertion.
    """

    __slots__ = ("_added", "_availability", "_by_id", "_ends", "_starts")

    def __init__(self, availability: Availability) -> None:
        self._availability = availability
        #: Id -> (number, reservation); numbers are in order of addition, and do not change when it is moved.
        self._by_id: dict[str, tuple[int, Reservation]] = {}
        #: (start, number, id) and (end, number, id) of each of them, ascending.
        self._starts: list[tuple[float, int, str]] = []
        self._ends: list[tuple[float, int, str]] = []
        #: Number of reservations ever added.
        self._added = 0

    def add(self, *reservations: Reservation, over: HostSet = NO_HOSTS) -> str | None:
        """Add all of these reservations, or none: then return the reason.

        A slot's hosts must be free during all of it, except those in `over`, on which the owner will have stopped the
        work. No host may be in two reservations at once.
        """
        done: list[str] = []
        for reservation in reservations:
            fault = self._fault(reservation, over)
            if fault is not None:
                for earlier in done:
                    self.remove(earlier)
                return fault
            self._added += 1
            self._put(self._added, reservation)
            done.append(reservation.id)
        return None

    def move(self, reservation_id: str, slot: Slot, over: HostSet = NO_HOSTS) -> str | None:
        """Move a reservation to another slot; if that is not possible, it keeps its own, and the reason is returned.

        Raises KeyError if there is no such reservation.
        """
        number, before = self._take(reservation_id)
        after = replace(before, slot=slot)
        fault = self._fault(after, over)
        self._put(number, after if fault is None else before)
        return fault

    def truncate(self, reservation_id: str, end: float) -> Reservation | None:
        """Shorten a reservation; it is removed, and None returned, if nothing of it remains.

        Raises KeyError if there is no such reservation, ValueError if it ends before `end`.
        """
        number, before = self._by_id[reservation_id]
        if end > before.slot.end:
            raise ValueError(f"truncate {before}: {seconds(end)} is later than its end")
        self._take(reservation_id)
        if end <= max(before.slot.start, self._availability.now):
            return None
        after = replace(before, slot=replace(before.slot, end=end))
        self._put(number, after)
        return after

    def remove(self, reservation_id: str) -> Reservation:
        """Remove a reservation completely; KeyError if there is none with this id."""
        return self._take(reservation_id)[1]

    def expire(self) -> list[Reservation]:
        """Remove the reservations that have ended by now; return them in order of their ends."""
        gone = [key for _, _, key in self._ends[: bisect_right(self._ends, (self._availability.now, math.inf))]]
        return [self.remove(reservation_id) for reservation_id in gone]

    def get(self, reservation_id: str) -> Reservation | None:
        """Return the reservation of this id."""
        found = self._by_id.get(reservation_id)
        return None if found is None else found[1]

    def starting(self, until: float) -> list[Reservation]:
        """Return the reservations that begin at or before `until`, in order of their starts, then of addition."""
        return [self._by_id[key][1] for _, _, key in self._starts[: bisect_right(self._starts, (until, math.inf))]]

    def next_change(self, after: float) -> float | None:
        """Return the first instant after `after` at which a reservation begins or ends; None if there is none."""
        found = [
            times[place][0]
            for times in (self._starts, self._ends)
            if (place := bisect_right(times, (after, math.inf))) < len(times)
        ]
        return min(found, default=None)

    def holder(self, host: int, time: float) -> Reservation | None:
        """Return the reservation that has this host at `time`: one that begins at or before it and ends later."""
        return next(
            (found for found in self.starting(time) if found.slot.end > time and host in found.slot.hosts), None
        )

    def touching(self, hosts: HostSet, start: float, end: float) -> Iterator[Reservation]:
        """Yield the reservations of any of these hosts that overlap [start, end), in order of their starts."""
        for _, _, key in self._starts[: bisect_left(self._starts, (end, 0))]:
            found = self._by_id[key][1]
            if found.slot.end > start and not found.slot.hosts.isdisjoint(hosts):
                yield found

    def held(self, start: float, end: float) -> HostSet:
        """Return the hosts that are reserved at any time in [start, end)."""
        bits = 0
        for found in self.touching(HostSet(self._availability.hosts), start, end):
            bits |= found.slot.hosts.bits
        return HostSet(bits)

    def __iter__(self) -> Iterator[Reservation]:
        """Yield all, in order of their starts, then of addition; the book may change meanwhile."""
        return iter([self._by_id[key][1] for _, _, key in self._starts])

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, reservation_id: object) -> bool:
        return reservation_id in self._by_id

    def check(self) -> None:
        """Raise InvariantError if the book is inconsistent."""
        kept = [(number, found.slot, key) for key, (number, found) in self._by_id.items()]
        if self._starts != sorted((slot.start, number, key) for number, slot, key in kept):
            raise InvariantError(f"t={seconds(self._availability.now)}: the starts are not those of the reservations")
        if self._ends != sorted((slot.end, number, key) for number, slot, key in kept):
            raise InvariantError(f"t={seconds(self._availability.now)}: the ends are not those of the reservations")
        for one in self:
            for other in self.touching(one.slot.hosts, one.slot.start, one.slot.end):
                if other.id != one.id:
                    raise InvariantError(f"{one} and {other} have hosts in common")

    def _put(self, number: int, reservation: Reservation) -> None:
        self._by_id[reservation.id] = number, reservation
        insort(self._starts, (reservation.slot.start, number, reservation.id))
        insort(self._ends, (reservation.slot.end, number, reservation.id))
        if reservation.slot.end > self._availability.now:
            self._availability.reserve(reservation.slot)

    def _take(self, reservation_id: str) -> tuple[int, Reservation]:
        number, reservation = self._by_id.pop(reservation_id)
        del self._starts[bisect_left(self._starts, (reservation.slot.start, number, reservation_id))]
        del self._ends[bisect_left(self._ends, (reservation.slot.end, number, reservation_id))]
        self._availability.release(reservation.slot)
        return number, reservation

    def _fault(self, reservation: Reservation, over: HostSet) -> str | None:
        """Return the reason why a reservation is impossible; None if it is possible."""
        slot, future = reservation.slot, self._availability
        if reservation.id in self._by_id:
            return f"{reservation.id} has a reservation already"
        if not slot.hosts or slot.hosts.bits & ~future.hosts:
            return f"{HostSet(slot.hosts.bits & ~future.hosts) or 'none'}: not hosts of the platform"
        if not slot.start < slot.end or slot.end <= future.now:
            return f"[{seconds(slot.start)}, {seconds(slot.end)}) is {'empty' if slot.start >= slot.end else 'past'}"
        other = next(self.touching(slot.hosts, slot.start, slot.end), None)
        if other is not None:
            return f"{slot.hosts & other.slot.hosts} is reserved for {other}"
        taken = slot.hosts - over - future.free_during(max(slot.start, future.now), slot.end)
        if taken:
            down = HostSet(taken.bits & future.down)
            return f"{down} is down" if down else f"{taken} works, or is promised to others, in that time"
        return None
