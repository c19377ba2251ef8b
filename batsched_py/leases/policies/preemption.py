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


class NoPreemption:
    """Nobody gives way: Haizea's `no-preemption`."""

    def score(self, preemptor: Lease, preemptee: Lease, time: float) -> float:
        return NEVER


class ReservationsFirst(NoPreemption):
    """Best-effort leases give way to advance reservations: Haizea's `ar-preempts-everything`."""

    def score(self, preemptor: Lease, preemptee: Lease, time: float) -> float:
        if preemptor.kind is Kind.ADVANCE and preemptee.kind is Kind.BEST_EFFORT:
            return age_score(preemptee, time)
        return NEVER
