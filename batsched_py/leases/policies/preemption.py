"""Preemption: which leases give way to which (H34, H56, H57)."""

from __future__ import annotations

from typing import Final

from batsched_py.leases.lease import Lease
from batsched_py.leases.terms import Kind

DAY: Final = 86400.0
#: Days after which a lease has waited too long to be stopped, and days by which its score falls to 0.
PROTECTED_AFTER: Final = 7.0
FADES_IN: Final = 31.0
#: The score of a lease that gives way to nobody.
NEVER: Final = -1.0


def age_score(lease: Lease, time: float) -> float:
    """Return how readily a best-effort lease gives way at a time: less the longer ago it was requested (H57)."""
    days = (time - lease.submit) / DAY
    return NEVER if days >= PROTECTED_AFTER else (FADES_IN - days) / FADES_IN


class Preemptability:
    """Policy by which nobody gives way: Haizea's `no-preemption`, and the base of others."""

    def score(self, preemptor: Lease, preemptee: Lease, time: float) -> float:  # noqa: ARG002  # others read them
        """Return how readily a lease gives way to another at a time, 0 to 1; less than 0 if it does not."""
        return NEVER


class ReservationsFirst(Preemptability):
    """Policy by which best-effort leases give way to advance reservations: Haizea's `ar-preempts-everything`."""

    def score(self, preemptor: Lease, preemptee: Lease, time: float) -> float:
        """Return the age score of a best-effort lease before an advance reservation."""
        if preemptor.kind is Kind.ADVANCE and preemptee.kind is Kind.BEST_EFFORT:
            return age_score(preemptee, time)
        return NEVER


class DeadlinesGiveWay(Preemptability):
    """Policy by which deadline leases give way as long as they meet their own deadlines: Haizea 1.1's `deadline`."""

    def score(self, preemptor: Lease, preemptee: Lease, time: float) -> float:
        """Return the slack of a deadline lease: how often its duration fits before its deadline."""
        if preemptee.kind is not Kind.DEADLINE or preemptor.kind not in (Kind.DEADLINE, Kind.ADVANCE):
            return NEVER
        assert preemptee.deadline is not None  # noqa: S101  # it is a deadline lease
        left = preemptee.runs[-1].end - time
        if left <= 0 or time + preemptor.duration + left >= preemptee.deadline:
            return NEVER
        return (preemptee.deadline - time) / preemptee.duration
