"""States of managed experiments, their reservations and resources, and the possible transitions (M13 to M16, M24).

A transition that is absent from a table is a programming error.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class ExperimentState(Enum):
    """The states of an experiment, with the names shown to users."""

    READY = "READY"
    DEPLOYABLE = "DEPLOYABLE"
    RESERVED = "RESERVED"
    DEPLOYING = "DEPLOYING"
    DEPLOYED = "DEPLOYED"
    ENDED = "ENDED"
    FAILED = "FAILED"
    DELETED = "DELETED"


#: The sub-status of an experiment that only waits for a worker (M24).
QUEUED: Final = "QUEUED"


class ReservationState(Enum):
    """The states of a reservation, with the names shown to users."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    ENDED = "ENDED"
    FAILED = "FAILED"
    TERMINATED = "TERMINATED"


class ResourceState(Enum):
    """The states of a resource of an experiment, with the names shown to users."""

    #: In the deployment order, and not requested yet.
    PLANNED = "planned"
    REQUESTED = "requested"
    CREATED = "created"
    #: Could not be created, or was lost.
    FAILED = "failed"
    #: Optional and not deployed for lack of room, or never requested.
    LEFT_OUT = "left out"
    REMOVED = "removed"
    #: Outlives its experiment (M22).
    KEPT = "kept"
    #: Could not be removed (M34).
    LEAKED = "leaked"


#: State -> possible next states, for an experiment without a reservation.
WITHOUT_RESERVATION: Final[Mapping[ExperimentState, frozenset[ExperimentState]]] = {
    ExperimentState.READY: frozenset(
        {ExperimentState.DEPLOYABLE, ExperimentState.FAILED, ExperimentState.DELETED},
    ),
    ExperimentState.DEPLOYABLE: frozenset(
        {ExperimentState.DEPLOYING, ExperimentState.FAILED, ExperimentState.DELETED},
    ),
    ExperimentState.DEPLOYING: frozenset(
        {ExperimentState.DEPLOYED, ExperimentState.FAILED, ExperimentState.DELETED},
    ),
    ExperimentState.DEPLOYED: frozenset(
        {ExperimentState.ENDED, ExperimentState.FAILED, ExperimentState.DELETED},
    ),
    ExperimentState.ENDED: frozenset({ExperimentState.DELETED}),
    ExperimentState.FAILED: frozenset({ExperimentState.DELETED}),
    ExperimentState.DELETED: frozenset(),
}

#: The same for one with a reservation, its own or the user's.
WITH_RESERVATION: Final[Mapping[ExperimentState, frozenset[ExperimentState]]] = {
    **WITHOUT_RESERVATION,
    ExperimentState.DEPLOYABLE: frozenset(
        {ExperimentState.RESERVED, ExperimentState.FAILED, ExperimentState.DELETED},
    ),
    ExperimentState.RESERVED: frozenset(
        {ExperimentState.DEPLOYING, ExperimentState.FAILED, ExperimentState.DELETED},
    ),
}

#: State -> possible next states, for a reservation.
RESERVATION: Final[Mapping[ReservationState, frozenset[ReservationState]]] = {
    ReservationState.PENDING: frozenset(
        {ReservationState.RUNNING, ReservationState.FAILED, ReservationState.TERMINATED},
    ),
    ReservationState.RUNNING: frozenset(
        {ReservationState.ENDED, ReservationState.FAILED, ReservationState.TERMINATED},
    ),
    ReservationState.ENDED: frozenset(),
    ReservationState.FAILED: frozenset(),
    ReservationState.TERMINATED: frozenset(),
}

#: State -> possible next states, for a resource.
RESOURCE: Final[Mapping[ResourceState, frozenset[ResourceState]]] = {
    ResourceState.PLANNED: frozenset({ResourceState.REQUESTED, ResourceState.LEFT_OUT}),
    ResourceState.REQUESTED: frozenset(
        {
            ResourceState.CREATED,
            ResourceState.FAILED,
            ResourceState.LEFT_OUT,
            ResourceState.REMOVED,
            ResourceState.LEAKED,
        }
    ),
    ResourceState.CREATED: frozenset(
        {ResourceState.FAILED, ResourceState.REMOVED, ResourceState.KEPT, ResourceState.LEAKED},
    ),
    ResourceState.LEAKED: frozenset({ResourceState.REMOVED}),
    ResourceState.FAILED: frozenset(),
    ResourceState.LEFT_OUT: frozenset(),
    ResourceState.REMOVED: frozenset(),
    ResourceState.KEPT: frozenset(),
}

#: Final states of a reservation.
OVER: Final = frozenset(state for state, following in RESERVATION.items() if not following)
#: Final states of an experiment.
ENDED_STATES: Final = frozenset({ExperimentState.ENDED, ExperimentState.FAILED, ExperimentState.DELETED})
