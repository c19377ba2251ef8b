"""Admission: which requests may be scheduled at all (H55)."""

from __future__ import annotations

from batsched_py.leases.lease import Lease
from batsched_py.leases.terms import Kind


class Admission:
    """Policy that admits every request: Haizea's `accept-all`, and the base of others."""

    def accepts(self, lease: Lease) -> bool:  # noqa: ARG002  # others read it
        """Return whether a new request may be scheduled; whether there is room for it is another question."""
        return True


class NoReservations(Admission):
    """Policy that admits every request but advance reservations: Haizea's `no-ARs`."""

    def accepts(self, lease: Lease) -> bool:
        """Return whether it is no advance reservation."""
        return lease.kind is not Kind.ADVANCE
