"""Admission: which requests may be scheduled at all (H55)."""

from __future__ import annotations

from batsched_py.leases.lease import Lease
from batsched_py.leases.terms import Kind


class AcceptAll:
    """Every request may be scheduled."""

    def accepts(self, lease: Lease) -> bool:
        return True


class NoReservations(AcceptAll):
    """Every request but advance reservations: Haizea's `no-ARs`."""

    def accepts(self, lease: Lease) -> bool:
        return lease.kind is not Kind.ADVANCE
