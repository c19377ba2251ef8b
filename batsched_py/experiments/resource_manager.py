"""Resource manager: the interface to create, delete and reserve resources of experiments (M35).

Time is simulated. Calls take the current time, and return immediately, although the requested operations take time;
`news` returns the resources and reservations whose status has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, Protocol

import msgspec
from msgspec import Struct

from batsched_py.experiments.model import Compute, Experiment, InstanceType, PlannedResource
from batsched_py.experiments.states import ReservationState

#: The first part of the ids of reservations.
RESERVATIONS: Final = "/reservations"


class RefusedByManagerError(Exception):
    """The refusal of a call by a resource manager; its text is the reason, on one line."""


class InstanceRequest(Struct, frozen=True):
    """A request to reserve instances.

    Attributes:
        compute: the template of the instances.
        location: their location; None for any location possible for the compute.
        names: names of the instances, in order.
    """

    compute: Compute
    location: str | None
    names: tuple[str, ...]


class ReservationRequest(Struct, frozen=True):
    """A request for a reservation of all instances or none.

    Attributes:
        instances: the instances to reserve.
        start: second at which it begins; None for as soon as possible.
        duration: duration in seconds.
        experiment: number of the experiment for which it is made; "" for a user's own.
    """

    instances: tuple[InstanceRequest, ...]
    start: float | None
    duration: float
    experiment: str = ""


class ReservedInstances(Struct, frozen=True):
    """Identical reserved resources: location, type, and ids."""

    location: str | None
    instance_type: str | InstanceType
    ids: tuple[str, ...]


class ReservationStatus(Struct, frozen=True):
    """The status of a reservation.

    Attributes:
        state: its state.
        start: second at which it begins, or has begun; None if unknown.
        end: second at which it ends, or has ended; None if unknown.
        instances: the reserved instances.
        reason: reason of its failure or termination.
    """

    state: ReservationState
    start: float | None = None
    end: float | None = None
    instances: tuple[ReservedInstances, ...] = ()
    reason: str = ""


class ResourceRequest(Struct, frozen=True):
    """A request to create a resource.

    Attributes:
        planned: description and location.
        contexts: key -> text, for a compute.
        reserved: id of the reserved resource that it uses; None for none.
        reservation: id of the reservation to which that belongs; None for none.
        until: latest time of its deletion; None if not known yet.
    """

    planned: PlannedResource
    contexts: Mapping[str, str] = msgspec.field(default_factory=dict)
    reserved: str | None = None
    reservation: str | None = None
    until: float | None = None


class ResourceStatus(Struct, frozen=True):
    """The status of a resource.

    Attributes:
        state: being created; existing; or failed, because it could not be created or was lost.
        addresses: network -> address of a compute; empty while unknown.
        location: its location; None if unknown.
        host: number of its host at the site; None without a host.
        reason: reason of its failure.
    """

    state: Literal["pending", "active", "failed"]
    addresses: Mapping[str, str] = msgspec.field(default_factory=dict)
    location: str | None = None
    host: int | None = None
    reason: str = ""


class ResourceManager(Protocol):
    """The interface used by an orchestrator. Each call may raise RefusedByManagerError, without any effect."""

    def create_experiment(self, experiment: Experiment, order: Sequence[PlannedResource], now: float) -> str:
        """Return the id of a new experiment, to which resources can belong."""

    def delete_experiment(self, id: str, now: float) -> None:
        """Delete an experiment, whose resources have been deleted."""

    def create_resource(self, experiment: str, request: ResourceRequest, now: float) -> str:
        """Begin the creation of a resource; return its id."""

    def get_resource(self, id: str, now: float) -> ResourceStatus:
        """Return the status of a resource."""

    def delete_resource(self, id: str, now: float) -> None:
        """Delete a resource, including one being created. Deleting a failed one is allowed, but not required."""

    def expect_end(self, experiment: str, end: float, now: float) -> None:
        """Announce the time at which all resources of an experiment will be deleted; this is never refused."""

    def has_room(self, request: ReservationRequest, now: float) -> bool:
        """Return whether a requested reservation would currently fit, without any change or promise.

        This is never refused.
        """

    def create_reservation(self, request: ReservationRequest, owner: str, now: float) -> str:
        """Create a reservation of all requested instances; return its id."""

    def get_reservation(self, id: str, owner: str, now: float) -> ReservationStatus:
        """Return the status of the reservation with this id; refused if it is unknown, or belongs to another owner."""

    def delete_reservation(self, id: str, now: float) -> None:
        """Delete a reservation in any state."""

    def news(self, now: float) -> Sequence[str]:
        """Return ids of resources and reservations whose status has changed since the last call, in order of time."""

    def next_time(self) -> float:
        """Return the second of the next change of a status; infinity if only external events can cause one."""
