"""The summary of a run: the eight figures that Haizea prints, updated during the run (H90, H101)."""

from __future__ import annotations

from batsched_py.leases.lease import Lease, LeaseRun
from batsched_py.leases.observer import LeaseSchedule, Observer
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import LeaseState


class StatusSummary(Observer):
    """Figures of a run so far.

    Attributes:
        open: leases that were requested and have not ended.
        done: leases that have run to their end, including best-effort ones.
        done_best_effort: the best-effort ones among them.
        queue: best-effort leases that wait for a place.
        accepted: kind -> leases that got a place, each counted once.
        rejected: kind -> leases that were refused, by the admission policy or for lack of room.
    """

    def __init__(self) -> None:
        self.open = self.done = self.done_best_effort = self.queue = 0
        self.accepted = dict.fromkeys(LeaseKind, 0)
        self.rejected = dict.fromkeys(LeaseKind, 0)
        #: Open leases that got a place.
        self._placed = set[int]()

    def requested(self, lease: Lease, now: float) -> None:
        """Count a request."""
        del lease, now
        self.open += 1

    def planned(self, lease: Lease, run: LeaseRun, now: float) -> None:
        """Count a lease that got its first place."""
        del run, now
        if lease.id not in self._placed:
            self._placed.add(lease.id)
            self.accepted[lease.kind] += 1

    def refused(self, lease: Lease, why: str, now: float) -> None:
        """Count a refusal."""
        del why, now
        self.rejected[lease.kind] += 1

    def ended(self, lease: Lease, now: float) -> None:
        """Count a lease that is in a final state."""
        del now
        self.open -= 1
        self._placed.discard(lease.id)
        if lease.state is LeaseState.DONE:
            self.done += 1
            self.done_best_effort += lease.kind is LeaseKind.BEST_EFFORT

    def stepped(self, scheduler: LeaseSchedule, now: float) -> None:
        """Update the length of the queue."""
        del now
        self.queue = len(scheduler.queue)

    def lines(self) -> list[str]:
        """Return the figures in Haizea's order, each with its name."""
        return [
            f"Number of leases (not including completed): {self.open}",
            f"Completed leases: {self.done}",
            f"Completed best-effort leases: {self.done_best_effort}",
            f"Queue size: {self.queue}",
            f"Accepted AR leases: {self.accepted[LeaseKind.ADVANCE]}",
            f"Rejected AR leases: {self.rejected[LeaseKind.ADVANCE]}",
            f"Accepted IM leases: {self.accepted[LeaseKind.IMMEDIATE]}",
            f"Rejected IM leases: {self.rejected[LeaseKind.IMMEDIATE]}",
        ]
