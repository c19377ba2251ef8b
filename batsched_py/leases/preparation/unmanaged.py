"""The absence of preparation (H45), and the interface of all kinds of preparation."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun
from batsched_py.leases.points import Point
from batsched_py.leases.preparation.images import Disks


class Unmanaged:
    """No preparation: every host is ready at once.

    Args:
        disks: the disks of the hosts.
    """

    #: True if hosts are ready at once: a lease without room now need not be tried shortly after.
    at_once = True

    def __init__(self, disks: Disks) -> None:
        self.disks = disks

    def points(self, lease: Lease, now: float) -> Sequence[Point]:  # noqa: ARG002  # others read it
        """Return the times at which hosts could be ready for a lease, with these hosts, in order of time."""
        return [(now, None)]

    def prepare(self, lease: Lease, run: LeaseRun, now: float) -> Sequence[LeaseReservation] | None:  # noqa: ARG002
        """Return the transfers that a planned run needs; None if they cannot end in time."""
        return ()

    def seconds(self, lease: Lease) -> float:  # noqa: ARG002
        """Return the duration of a lease's preparation in seconds, without caches or sharing."""
        return 0.0

    def ready(self, lease: Lease) -> bool:  # noqa: ARG002
        """Return True if the preparation for the planned run is complete."""
        return True

    def movable(self, lease: Lease) -> bool:  # noqa: ARG002
        """Return True if the first run of a lease may be replanned without undoing any preparation."""
        return True

    def in_time(self, lease: Lease, run: LeaseRun, now: float) -> bool:  # noqa: ARG002
        """Return True if a reservation's hosts can be prepared by the start of this run."""
        return True

    def cancel(self, lease: Lease, now: float) -> Sequence[LeaseReservation]:  # noqa: ARG002
        """Undo the preparation for a cancelled run; return the transfers that no lease needs any more."""
        return ()

    def forget(self, lease: Lease) -> None:
        """Release the files of an ended lease."""
        self.disks.forget(lease)

    def begin(self, transfer: LeaseReservation, now: float) -> None:
        """Handle the begin of a transfer."""

    def finish(self, transfer: LeaseReservation, now: float) -> None:
        """Handle the end of a transfer."""
