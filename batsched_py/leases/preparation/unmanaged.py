"""Preparation of leases whose hosts need nothing (H45); also the interface of all ways to prepare."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.leases.lease import Lease, LeaseReservation, Run
from batsched_py.leases.points import Point
from batsched_py.leases.preparation.images import Disks


class Unmanaged:
    """Nothing is prepared: every host is ready at once.

    Args:
        disks: of the hosts.
    """

    #: Hosts are ready at once or never: where a lease cannot start now, it cannot start soon.
    at_once = True

    def __init__(self, disks: Disks) -> None:
        self.disks = disks

    def points(self, lease: Lease, now: float) -> Sequence[Point]:  # noqa: ARG002  # others read it
        """Return when which hosts could be ready for a lease, in order of time."""
        return [(now, None)]

    def prepare(self, lease: Lease, run: Run, now: float) -> Sequence[LeaseReservation] | None:  # noqa: ARG002
        """Return the transfers that a planned run needs, None if they cannot be over in time."""
        return ()

    def seconds(self, lease: Lease) -> float:  # noqa: ARG002
        """Return the seconds that the preparation of a lease takes, if nothing is there and nothing is shared."""
        return 0.0

    def ready(self, lease: Lease) -> bool:  # noqa: ARG002
        """Return whether nothing has to happen any more before the planned run."""
        return True

    def movable(self, lease: Lease) -> bool:  # noqa: ARG002
        """Return whether a first run may be planned on other hosts, at another time, with nothing to be undone."""
        return True

    def in_time(self, lease: Lease, run: Run, now: float) -> bool:  # noqa: ARG002
        """Return whether a reservation's hosts can be prepared by the start of this run."""
        return True

    def cancel(self, lease: Lease, now: float) -> Sequence[LeaseReservation]:  # noqa: ARG002
        """Undo what was planned and done for a run that will not be; return transfers that nobody needs any more."""
        return ()

    def forget(self, lease: Lease) -> None:
        """Give back what a lease that has ended held."""
        self.disks.forget(lease)

    def begin(self, transfer: LeaseReservation, now: float) -> None:
        """Note that a transfer begins."""

    def finish(self, transfer: LeaseReservation, now: float) -> None:
        """Note that a transfer is over."""
