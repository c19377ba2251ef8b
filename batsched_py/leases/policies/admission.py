"""Admission policies: they decide which requests may be scheduled at all (H55)."""

from __future__ import annotations

from collections.abc import Collection

from batsched_py.leases.lease import Lease
from batsched_py.model.lease_kind import LeaseKind


class Admission:
    """The policy that admits every request, Haizea's `accept-all`, and the base class of others.

    Attributes:
        name: the name in messages.
    """

    name: str = "accept-all"

    def accepts(self, lease: Lease, leases: Collection[Lease]) -> bool:  # noqa: ARG002  # others read them
        """Return whether a new request may be scheduled, regardless of whether there is room for it.

        `leases` are all requests so far in their order, this one last; their `state` shows which are still scheduled.
        """
        return True


class NoReservations(Admission):
    """The policy that admits every request but advance reservations, Haizea's `no-ARs`."""

    name = "no-ARs"

    def accepts(self, lease: Lease, leases: Collection[Lease]) -> bool:  # noqa: ARG002
        """Return True unless the lease is an advance reservation."""
        return lease.kind is not LeaseKind.ADVANCE
