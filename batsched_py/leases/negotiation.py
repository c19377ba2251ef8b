"""Negotiation: the alternative start offered for a refused lease (H114)."""

from __future__ import annotations

from batsched_py.leases.book import LeaseBook
from batsched_py.leases.lease import Lease
from batsched_py.leases.mapping import Victims
from batsched_py.leases.planner import Planner
from batsched_py.leases.points import points_from
from batsched_py.model.lease_kind import LeaseKind


def nearest_start(lease: Lease, now: float, book: LeaseBook, planner: Planner, victims: Victims) -> float | None:
    """Return the first start, not before the requested one, at which a refused lease would find room.

    A reservation may preempt other leases as usual. For a deadline lease, the deadline is ignored and no other lease is
    moved. None if there is no such start, unless hosts that are down return.
    """
    assert lease.start is not None  # noqa: S101  # a reservation or a deadline lease
    earliest = max(lease.start, now)
    points = points_from(book.preparation.points(lease, now), earliest)
    later = [time for time in book.frees_after(earliest) if time > points[-1][0]]
    if lease.kind is LeaseKind.DEADLINE:
        run = planner.as_soon_as_possible(lease, [*points, *((time, None) for time in later)], now)
        return None if run is None else run.start
    for time in sorted({earliest, *(time for time, _ in points), *book.frees_after(earliest)}):
        found = planner.at(time, lease, victims)
        if found is not None and book.preparation.in_time(lease, found[0], now):
            return time
    return None
