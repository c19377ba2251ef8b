"""Actions of the lease scheduler: commands for its caller, with reasons."""

from __future__ import annotations

from typing import NamedTuple

from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun

# Reasons for refusals.
NOT_ADMITTED = "it is not accepted by the admission policy"  # the name of the policy follows
TOO_LARGE = "it would not fit on the empty site"
NO_HOSTS = "the host selection policy leaves it too few hosts"
NO_ROOM = "not enough resources in the interval"
NOT_NOW = "it cannot start at once"
PAST = "its start is in the past"
MISSED = "it cannot end by its deadline"
LOST = "its hosts are down"
CANCELLED = "it was cancelled"
FAILED = "it has failed"
TOO_LATE = "its image cannot arrive in time"


class LeaseFailedError(Exception):
    """A lease has failed, and the run is to end with it."""


class Start(NamedTuple):
    """Start, or resume, the machines of a lease."""

    lease: Lease
    run: LeaseRun


class Stop(NamedTuple):
    """Stop the machines of a lease: to save their state ("suspend"), to run them again ("requeue"), or finally.

    Final reasons: their time is over ("shutdown"), the lease was cancelled ("cancel"), or it has failed ("fail").
    """

    lease: Lease
    run: LeaseRun
    why: str


class Reject(NamedTuple):
    """Refuse a lease.

    `alternative_start` is the first start at which a lease with a requested time would find room; None for other
    leases, and if there is none.
    """

    lease: Lease
    why: str
    alternative_start: float | None = None


class Occupy(NamedTuple):
    """A suspension or a resumption has begun: its hosts are busy with the memory of machines."""

    reservation: LeaseReservation

    @property
    def lease(self) -> Lease:
        """The lease of the machines."""
        return self.reservation.lease


Action = Start | Stop | Reject | Occupy
