"""Transitions between the states of a lease (H10, H11)."""

from __future__ import annotations

from typing import Final

from batsched_py.results.lease_rows import LeaseState

#: State -> allowed next states. Any other transition is a programming error.
TRANSITIONS: Final[dict[LeaseState, frozenset[LeaseState]]] = {
    LeaseState.NEW: frozenset({LeaseState.PENDING}),
    LeaseState.PENDING: frozenset({LeaseState.SCHEDULED, LeaseState.QUEUED, LeaseState.CANCELLED, LeaseState.REJECTED}),
    LeaseState.SCHEDULED: frozenset(
        {
            LeaseState.PREPARING,
            LeaseState.QUEUED,
            LeaseState.PENDING,
            LeaseState.READY,
            LeaseState.CANCELLED,
            LeaseState.FAIL,
        }
    ),
    LeaseState.QUEUED: frozenset({LeaseState.SCHEDULED, LeaseState.CANCELLED}),
    LeaseState.PREPARING: frozenset({LeaseState.READY, LeaseState.PENDING, LeaseState.CANCELLED, LeaseState.FAIL}),
    LeaseState.READY: frozenset(
        {LeaseState.ACTIVE, LeaseState.QUEUED, LeaseState.PENDING, LeaseState.CANCELLED, LeaseState.FAIL}
    ),
    LeaseState.ACTIVE: frozenset(
        {LeaseState.SUSPENDING, LeaseState.QUEUED, LeaseState.DONE, LeaseState.CANCELLED, LeaseState.FAIL}
    ),
    LeaseState.SUSPENDING: frozenset({LeaseState.SUSPENDED_PENDING, LeaseState.CANCELLED, LeaseState.FAIL}),
    LeaseState.SUSPENDED_PENDING: frozenset(
        {LeaseState.SUSPENDED_QUEUED, LeaseState.SUSPENDED_SCHEDULED, LeaseState.CANCELLED, LeaseState.FAIL}
    ),
    LeaseState.SUSPENDED_QUEUED: frozenset({LeaseState.SUSPENDED_SCHEDULED, LeaseState.CANCELLED, LeaseState.FAIL}),
    LeaseState.SUSPENDED_SCHEDULED: frozenset(
        {
            LeaseState.SUSPENDED_QUEUED,
            LeaseState.SUSPENDED_PENDING,
            LeaseState.MIGRATING,
            LeaseState.RESUMING,
            LeaseState.CANCELLED,
            LeaseState.FAIL,
        }
    ),
    LeaseState.MIGRATING: frozenset({LeaseState.SUSPENDED_SCHEDULED, LeaseState.CANCELLED, LeaseState.FAIL}),
    LeaseState.RESUMING: frozenset({LeaseState.RESUMED_READY, LeaseState.CANCELLED, LeaseState.FAIL}),
    LeaseState.RESUMED_READY: frozenset({LeaseState.ACTIVE, LeaseState.CANCELLED, LeaseState.FAIL}),
    LeaseState.DONE: frozenset(),
    LeaseState.CANCELLED: frozenset(),
    LeaseState.FAIL: frozenset(),
    LeaseState.REJECTED: frozenset(),
}

#: States in which a lease never runs again.
FINAL: Final = frozenset(state for state, following in TRANSITIONS.items() if not following)
#: States in which the memory of a lease is in files and must be resumed.
SUSPENDED: Final = (LeaseState.SUSPENDED_PENDING, LeaseState.SUSPENDED_QUEUED, LeaseState.SUSPENDED_SCHEDULED)
