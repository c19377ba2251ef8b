"""Upcoming starts and ends of reservations, in a deterministic order (H14, H15)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Final

from batsched_py.leases.lease import LeaseReservation, Phase
from batsched_py.results.lease_rows import ReservationUse

_Entry = tuple[float, int, LeaseReservation]
#: The number of entries above which outdated ones are dropped.
_MANY: Final = 1024


class Agenda:
    """The starts of planned reservations, and the ends of those under way; ties in the order of the table."""

    def __init__(self) -> None:
        #: Entries of removed or changed reservations are outdated, and are dropped when they are reached.
        self._starts: list[_Entry] = []
        self._ends: list[_Entry] = []
        #: The numbers of starts and of ends above which outdated ones are dropped.
        self._full, self._full_ends = _MANY, _MANY

    def note(self, reservation: LeaseReservation) -> None:
        """Add a reservation that is new, or whose time or phase has changed."""
        if reservation.phase is Phase.PLANNED:
            heapq.heappush(self._starts, (reservation.start, reservation.order, reservation))
        elif reservation.phase is Phase.UNDER_WAY:
            heapq.heappush(self._ends, (reservation.end, reservation.order, reservation))

    def next_instant(self) -> float | None:
        """Return the time of the next begin or end; None if there is none. Call it between two instants."""
        if len(self._starts) > self._full:  # not during tentative plans, when outdated entries may become valid again
            self._starts = [entry for entry in self._starts if _begins(entry)]
            heapq.heapify(self._starts)
            self._full = _MANY + 2 * len(self._starts)
        if len(self._ends) > self._full_ends:
            self._ends = [entry for entry in self._ends if _is_over(entry)]
            heapq.heapify(self._ends)
            self._full_ends = _MANY + 2 * len(self._ends)
        while self._starts and not _begins(self._starts[0]):
            heapq.heappop(self._starts)
        while self._ends and not _is_over(self._ends[0]):
            heapq.heappop(self._ends)
        if self._starts and self._ends:
            return min(self._starts[0][0], self._ends[0][0])
        heap = self._starts or self._ends
        return heap[0][0] if heap else None

    def starts(self, now: float) -> Iterator[LeaseReservation]:
        """Iterate over planned reservations that begin by now, including those added during the iteration."""
        while self._starts and self._starts[0][0] <= now:
            entry = heapq.heappop(self._starts)
            if _begins(entry):
                yield entry[2]

    def ends(self, now: float) -> Iterator[LeaseReservation]:
        """Iterate over reservations under way that end by now."""
        while self._ends and self._ends[0][0] <= now:
            entry = heapq.heappop(self._ends)
            if _is_over(entry):
                yield entry[2]

    def under_way(self) -> Iterator[LeaseReservation]:
        """Iterate over reservations under way, in no particular order."""
        return iter(
            [
                reservation
                for time, order, reservation in self._ends
                if reservation.phase is Phase.UNDER_WAY and reservation.end == time and reservation.order == order
            ]
        )

    def in_use(self, use: ReservationUse) -> Iterator[LeaseReservation]:
        """Iterate over reservations under way with this use, in no particular order."""
        return (entry[2] for entry in self._ends if entry[2].use is use and _is_over(entry))


def _begins(entry: _Entry) -> bool:
    time, order, reservation = entry
    return reservation.phase is Phase.PLANNED and reservation.start == time and reservation.order == order


def _is_over(entry: _Entry) -> bool:
    time, order, reservation = entry
    return reservation.phase is Phase.UNDER_WAY and reservation.end == time and reservation.order == order
