"""Statistics of one lease: waiting time, slowdown, suspensions, discarded runs, migrations (H80)."""

from __future__ import annotations

from typing import Final

from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun, Phase
from batsched_py.leases.lifecycle import FINAL
from batsched_py.results.lease_rows import LeaseState, ReservationUse

#: The smallest duration in slowdowns, in seconds.
SLOWDOWN_BOUND: Final = 10.0


def waiting_time(lease: Lease) -> float | None:
    """Return the seconds from the request to the start of the first run not discarded; None if there is none."""
    return None if lease.started is None else lease.started - lease.submit


def ended(lease: Lease) -> float | None:
    """Return the time at which a lease was done, cancelled or failed; None for others, also for rejected ones."""
    over = lease.state in FINAL and lease.state is not LeaseState.REJECTED
    return lease.history[-1][0] if over else None


def slowdown(lease: Lease, duration: float | None = None) -> float | None:
    """Return the bounded slowdown of a lease that is done; None for others.

    It is the time from request to end divided by `duration`, by default the requested duration, as in Haizea: the value
    may be below 1 for a lease that ends early.
    """
    if lease.state is not LeaseState.DONE or lease.end is None:
        return None
    return (lease.end - lease.submit) / max(lease.duration if duration is None else duration, SLOWDOWN_BOUND)


def suspensions(lease: Lease) -> int:
    """Return the number of suspensions, including one under way."""
    return [state for _, state in lease.history].count(LeaseState.SUSPENDING)


def suspended_time(lease: Lease) -> float:
    """Return the total seconds from the end of each suspension to the begin of its resumption."""
    seconds, since = 0.0, None
    for time, state in lease.history:
        if state is LeaseState.SUSPENDED_PENDING and since is None:
            since = time
        elif state is LeaseState.RESUMING and since is not None:
            seconds, since = seconds + time - since, None
    return seconds


def lost_runs(lease: Lease) -> list[LeaseRun]:
    """Return the runs that were discarded when the lease was put back into the queue."""
    kept = lease.runs
    return [
        one for one in lease.executed if one.use is ReservationUse.VM and isinstance(one, LeaseRun) and one not in kept
    ]


def migrations(lease: Lease) -> int:
    """Return the number of migrations to other hosts."""
    return sum(1 for run in lease.runs if run.before and any(map(_is_move, run.before)))


def _is_move(reservation: LeaseReservation) -> bool:
    return reservation.use is ReservationUse.MIGRATE_MEMORY and reservation.phase is not Phase.PLANNED
