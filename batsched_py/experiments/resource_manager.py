"""Resource manager: what creates and deletes the resources of experiments, and reserves for them (M35).

Time is simulated. Calls are told the time, and return at once; what they ask for takes its time. `news` tells whose
status has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from batsched_py.experiments.model import Compute, Experiment, InstanceType, PlannedResource
from batsched_py.experiments.states import ReservationState


class RefusedByManagerError(Exception):
    """A resource manager refuses a call; its text is the reason, on one line."""


class InstanceRequest(Struct, frozen=True):
    """Instances that are to be reserved.

    Attributes:
        compute: of which they are instances.
        location: where; None for any at which the compute can be.
        names: of the instances, in their order.
    """

    compute: Compute
    location: str | None
    names: tuple[str, ...]


class ReservationRequest(Struct, frozen=True):
    """A reservation that is asked for: all instances or nothing.

    Attributes:
        instances: what is reserved.
        start: second at which it begins; None for as soon as possible.
        duration: seconds.
    """

    instances: tuple[InstanceRequest, ...]
    start: float | None
    duration: float


class ReservedInstances(Struct, frozen=True):
    """Reserved resources that are alike: where, of which type, and the id of each."""

    location: str | None
    instance_type: str | InstanceType
    ids: tuple[str, ...]


class ReservationStatus(Struct, frozen=True):
    """A reservation as it stands.

    Attributes:
        state: where it stands.
        start: second at which it begins, or has begun; None if that is not known.
        end: second at which it ends, or has ended; None if that is not known.
        instances: what is reserved.
        reason: why it has failed or was terminated.
    """

    state: ReservationState
    start: float | None = None
    end: float | None = None
    instances: tuple[ReservedInstances, ...] = ()
    reason: str = ""


class ResourceRequest(Struct, frozen=True):
    """A resource that is to be created.

    Attributes:
        planned: what it is, and where.
        contexts: key -> text, for a compute.
        reserved: id of the reserved resource that it uses; None for none.
        reservation: id of the reservation to which that belongs; None for none.
        until: when it will be deleted at the latest; None if nobody knows yet.
    """

    planned: PlannedResource
    contexts: Mapping[str, str] = msgspec.field(default_factory=dict)
    reserved: str | None = None
    reservation: str | None = None
    until: float | None = None


class ResourceStatus(Struct, frozen=True):
    """A resource as it stands.

    Attributes:
        state: under creation; there; not there, because it could not be created or was lost.
        addresses: network -> address of a compute; empty as long as they are not known.
        location: where it is; None if that is not known.
        host: number of the host at the site; None for what has none.
        reason: why it failed.
    """

    state: Literal["pending", "active", "failed"]
    addresses: Mapping[str, str] = msgspec.field(default_factory=dict)
    location: str | None = None
    host: int | None = None
    reason: str = ""


class ResourceManager(Protocol):
    """What an orchestrator asks. Each call may raise RefusedByManagerError, and has done nothing then."""

    def create_experiment(self, experiment: Experiment, order: Sequence[PlannedResource], now: float) -> str:
        """Return the id of a new experiment, to which resources can belong."""

    def delete_experiment(self, id: str, now: float) -> None:
        """Delete an experiment; its resources are deleted before."""

    def create_resource(self, experiment: str, request: ResourceRequest, now: float) -> str:
        """Return the id of a resource that is created from now on."""

    def get_resource(self, id: str, now: float) -> ResourceStatus:
        """Return how a resource stands."""

    def delete_resource(self, id: str, now: float) -> None:
        """Delete a resource, also one under creation. One that has failed may be deleted, and need not be."""

    def expect_end(self, experiment: str, end: float, now: float) -> None:
        """Take note of when all resources of an experiment will be deleted; this is never refused."""

    def has_room(self, request: ReservationRequest, now: float) -> bool:
        """Return whether there is room for a reservation that is asked for; nothing is changed, and nothing promised.

        This is never refused.
        """

    def create_reservation(self, request: ReservationRequest, owner: str, now: float) -> str:
        """Return the id of a reservation of all that is asked for."""

    def get_reservation(self, id: str, owner: str, now: float) -> ReservationStatus:
        """Return how a reservation stands, looked up by its id; refused if there is none, or not for this owner."""

    def delete_reservation(self, id: str, now: float) -> None:
        """Delete a reservation, in whichever state it is."""

    def news(self, now: float) -> Sequence[str]:
        """Return ids of resources and reservations whose status has changed since the last call, in order of time."""

    def next_time(self) -> float:
        """Return the second at which there will be news; infinity if only something outside can bring some."""
