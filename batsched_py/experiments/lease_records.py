"""Records of a resource manager on leases: leases of resources and reservations, and the meaning of their states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from batsched_py.experiments.model import PlannedResource
from batsched_py.experiments.resource_manager import InstanceRequest, ReservedInstances, ResourceStatus
from batsched_py.experiments.states import ReservationState
from batsched_py.leases.lease import Lease
from batsched_py.results.lease_rows import LeaseState

#: State of a lease -> state of its reservation, which is pending in all others.
_RESERVATION_STATES: Final[Mapping[LeaseState, ReservationState]] = {
    LeaseState.ACTIVE: ReservationState.RUNNING,
    LeaseState.DONE: ReservationState.ENDED,
    LeaseState.CANCELLED: ReservationState.TERMINATED,
    LeaseState.FAIL: ReservationState.FAILED,
    LeaseState.REJECTED: ReservationState.FAILED,
}
#: Reasons for the stop of a machine, in terms of its experiment.
ENDS: Final = {
    "shutdown": "its lease is over",
    "cancel": "its lease was cancelled",
    "fail": "its host has failed",
    "requeue": "its lease was stopped for another",
    "suspend": "its lease was stopped for another",
}


class LeasedResource(Struct):
    """A requested resource.

    Attributes:
        experiment: id of its experiment.
        planned: its description.
        status: its status.
        lease: the lease of its machine; None for other kinds than computes.
        exclusive: whether no other resource uses the lease.
        node: number of its node in the lease.
        host: number of its host at the site; None before it has one, and for other kinds than computes.
    """

    experiment: str
    planned: PlannedResource
    status: ResourceStatus = ResourceStatus("pending")
    lease: Lease | None = None
    exclusive: bool = True
    node: int = 1
    host: int | None = None


class LeasedReservation(Struct):
    """A reservation.

    Attributes:
        owner: user who may use it.
        lease: its lease.
        groups: its machines.
        nodes: id of a machine -> node of the lease.
        experiment: number of the experiment for which it was made; "" for a user's own.
        users: id of a resource -> id of the machine that it uses.
        reason: reason of an early end.
    """

    owner: str
    lease: Lease
    groups: tuple[ReservedInstances, ...]
    nodes: Mapping[str, int]
    experiment: str = ""
    users: dict[str, str] = field(default_factory=dict)
    reason: str = ""


def reservation_state(lease: Lease) -> ReservationState:
    """Return the state of a reservation from that of its lease."""
    return _RESERVATION_STATES.get(lease.state, ReservationState.PENDING)


def number_machines(
    id: str, requests: Sequence[InstanceRequest]
) -> tuple[tuple[ReservedInstances, ...], Mapping[str, int]]:
    """Return groups of reserved machines with their ids, and id -> node of the lease."""
    groups, nodes, node = list[ReservedInstances](), dict[str, int](), 0
    for one in requests:
        ids = [f"{id}/{node + number}" for number in range(1, len(one.names) + 1)]
        nodes.update(zip(ids, range(node + 1, node + len(ids) + 1), strict=True))
        node += len(ids)
        groups.append(ReservedInstances(one.location, one.compute.instance_type, tuple(ids)))
    return tuple(groups), nodes
