"""States of a lease and their transitions (H10, H11)."""

from __future__ import annotations

from enum import Enum
from typing import Final


class State(Enum):
    """The state of a lease: the name that users see, and its number in Haizea's interfaces."""

    NEW = "New", 0
    PENDING = "Pending", 1
    REJECTED = "Rejected", 2
    SCHEDULED = "Scheduled", 3
    QUEUED = "Queued", 4
    CANCELLED = "Cancelled", 5
    PREPARING = "Preparing", 6
    READY = "Ready", 7
    ACTIVE = "Active", 8
    SUSPENDING = "Suspending", 9
    SUSPENDED_PENDING = "Suspended-Pending", 10
    SUSPENDED_QUEUED = "Suspended-Queued", 11
    SUSPENDED_SCHEDULED = "Suspended-Scheduled", 12
    MIGRATING = "Migrating", 13
    RESUMING = "Resuming", 14
    RESUMED_READY = "Resumed-Ready", 15
    DONE = "Done", 16
    FAIL = "Fail", 17

    __hash__ = object.__hash__  # faster than Enum's; the order of sets of states is never used

    @property
    def label(self) -> str:
        """The name that users see."""
        return self.value[0]

    @property
    def code(self) -> int:
        """The number of the state in Haizea's interfaces."""
        return self.value[1]


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
