"""Transitions between the states of a lease (H10, H11)."""

from __future__ import annotations

from typing import Final

from batsched_py.results.lease_rows import State

#: State -> allowed next states. Any other transition is a programming error.
TRANSITIONS: Final[dict[State, frozenset[State]]] = {
    State.NEW: frozenset({State.PENDING}),
    State.PENDING: frozenset({State.SCHEDULED, State.QUEUED, State.CANCELLED, State.REJECTED}),
    State.SCHEDULED: frozenset(
        {State.PREPARING, State.QUEUED, State.PENDING, State.READY, State.CANCELLED, State.FAIL}
    ),
    State.QUEUED: frozenset({State.SCHEDULED, State.CANCELLED}),
    State.PREPARING: frozenset({State.READY, State.PENDING, State.CANCELLED, State.FAIL}),
    State.READY: frozenset({State.ACTIVE, State.QUEUED, State.PENDING, State.CANCELLED, State.FAIL}),
    State.ACTIVE: frozenset({State.SUSPENDING, State.QUEUED, State.DONE, State.CANCELLED, State.FAIL}),
    State.SUSPENDING: frozenset({State.SUSPENDED_PENDING, State.CANCELLED, State.FAIL}),
    State.SUSPENDED_PENDING: frozenset(
        {State.SUSPENDED_QUEUED, State.SUSPENDED_SCHEDULED, State.CANCELLED, State.FAIL}
    ),
    State.SUSPENDED_QUEUED: frozenset({State.SUSPENDED_SCHEDULED, State.CANCELLED, State.FAIL}),
    State.SUSPENDED_SCHEDULED: frozenset(
        {
            State.SUSPENDED_QUEUED,
            State.SUSPENDED_PENDING,
            State.MIGRATING,
            State.RESUMING,
            State.CANCELLED,
            State.FAIL,
        }
    ),
    State.MIGRATING: frozenset({State.SUSPENDED_SCHEDULED, State.CANCELLED, State.FAIL}),
    State.RESUMING: frozenset({State.RESUMED_READY, State.CANCELLED, State.FAIL}),
    State.RESUMED_READY: frozenset({State.ACTIVE, State.CANCELLED, State.FAIL}),
    State.DONE: frozenset(),
    State.CANCELLED: frozenset(),
    State.FAIL: frozenset(),
    State.REJECTED: frozenset(),
}

#: States in which a lease never runs again.
FINAL: Final = frozenset(state for state, following in TRANSITIONS.items() if not following)
#: States in which the memory of a lease is in files and must be resumed.
SUSPENDED: Final = (State.SUSPENDED_PENDING, State.SUSPENDED_QUEUED, State.SUSPENDED_SCHEDULED)
