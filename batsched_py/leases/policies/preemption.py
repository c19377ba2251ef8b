"""Preemption policies: they decide which leases are stopped for others (H34, H56, H57)."""

from __future__ import annotations

from typing import Final

from batsched_py.leases.lease import Lease
from batsched_py.model.lease_kind import LeaseKind

DAY: Final = 86400.0
#: Days since the request after which a lease is no longer preempted, and days after which its score would be 0.
PROTECTED_AFTER: Final = 7.0
FADES_IN: Final = 31.0
#: The score of a lease that is not preempted.
NEVER: Final = -1.0


def age_score(lease: Lease, time: float) -> float:
    """Return the preemptability of a best-effort lease at a time, which decreases with its age (H57)."""
    days = (time - lease.submit) / DAY
    return NEVER if days >= PROTECTED_AFTER else (FADES_IN - days) / FADES_IN


class Preemptability:
    """The policy without preemption, Haizea's `no-preemption`, and the base class of others."""

    def score(self, preemptor: Lease, preemptee: Lease, time: float) -> float:  # noqa: ARG002  # others read them
        """Return the score of a lease: the higher, the sooner it is preempted for another; negative if never."""
        return NEVER


class ReservationsFirst(Preemptability):
    """The policy that preempts best-effort leases for advance reservations, Haizea's `ar-preempts-everything`."""

    def score(self, preemptor: Lease, preemptee: Lease, time: float) -> float:
        """Return the age score of a best-effort lease that conflicts with an advance reservation."""
        if preemptor.kind is LeaseKind.ADVANCE and preemptee.kind is LeaseKind.BEST_EFFORT:
            return age_score(preemptee, time)
        return NEVER


class DeadlinesGiveWay(Preemptability):
    """The policy that preempts deadline leases if they still meet their deadlines, Haizea 1.1's `deadline`."""

    def score(self, preemptor: Lease, preemptee: Lease, time: float) -> float:
        """Return the slack of a deadline lease: the time until its deadline as a multiple of its duration."""
        if preemptee.kind is not LeaseKind.DEADLINE or preemptor.kind not in (LeaseKind.DEADLINE, LeaseKind.ADVANCE):
            return NEVER
        assert preemptee.deadline is not None  # noqa: S101  # it is a deadline lease
        left = preemptee.runs[-1].end - time
        if left <= 0 or time + preemptor.duration + left >= preemptee.deadline:
            return NEVER
        return (preemptee.deadline - time) / preemptee.duration
