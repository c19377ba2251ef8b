"""Observer of a lease scheduler: is told of requests, of ends, and of each instant when all is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from batsched_py.leases.lease import Lease

if TYPE_CHECKING:
    from batsched_py.leases.scheduler import LeaseScheduler


class Observer:
    """Base of observers; by itself it does nothing. Observers change nothing."""

    def admitted(self, lease: Lease, now: float) -> None:
        """Note that a lease is admitted: it may be scheduled, or refused yet."""

    def ended(self, lease: Lease, now: float) -> None:
        """Note that a lease is in a final state, whichever that is."""

    def stepped(self, scheduler: LeaseScheduler, now: float) -> None:
        """Look at the scheduler at the end of an instant, when everything that begins and ends then has done so."""
