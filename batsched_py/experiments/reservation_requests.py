"""Reservations of experiments: requests, their largest feasible part, and the assignment of reserved resources."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from msgspec.structs import replace

from batsched_py.experiments.managed import ManagedExperiment, ManagedResource
from batsched_py.experiments.model import Compute, Experiment, InstanceType, PlannedResource
from batsched_py.experiments.resource_manager import (
    InstanceRequest,
    RefusedByManagerError,
    ReservationRequest,
    ReservedInstances,
    ResourceManager,
)

# With best effort as many machines as possible are reserved, in the order of deployment. Requesting one unit less after
# each refusal would take minutes if thousands do not fit: the number is found by a binary search with O(log n) queries
# of `has_room`, and the following request is refused only if the answer was not exact. The search relies on
# monotonicity: fewer machines never need more room.
#
# Machines of one set are reserved all or none, so the search is over units and not over machines.

#: Key for matching reserved instances: location, type and number.
_Group = tuple[str | None, str | InstanceType, int]


def instance_requests(computes: Iterable[ManagedResource]) -> tuple[InstanceRequest, ...]:
    """Return the requests to reserve instances: one for each compute at each of its locations (M14)."""
    groups: dict[tuple[str, str | None], list[ManagedResource]] = {}
    for one in computes:
        groups.setdefault((one.planned.resource.name, one.planned.location), []).append(one)
    return tuple(
        InstanceRequest(_compute(members[0]), location, tuple(one.name for one in members))
        for (_, location), members in groups.items()
    )


def computes_of(order: Iterable[PlannedResource]) -> list[ManagedResource]:
    """Return the instances of computes of a deployment order, none of which exists yet."""
    return [ManagedResource(planned) for planned in order if isinstance(planned.resource, Compute)]


def reservation_request(experiment: Experiment, computes: Iterable[ManagedResource]) -> ReservationRequest:
    """Return the request to reserve these computes of a descriptor."""
    return ReservationRequest(instance_requests(computes), experiment.start, experiment.duration)


def largest_reservation(one: ManagedExperiment, manager: ResourceManager, now: float) -> tuple[str, frozenset[str]]:
    """Reserve the computes of an experiment, as `reserve_most` does."""

    def create(request: ReservationRequest) -> str:
        return manager.create_reservation(replace(request, experiment=one.id), one.owner, now)

    return reserve_most(one.experiment, one.computes, manager, create, now)


def reserve_most(
    experiment: Experiment,
    computes: Sequence[ManagedResource],
    manager: ResourceManager,
    create: Callable[[ReservationRequest], str],
    now: float,
) -> tuple[str, frozenset[str]]:
    """Reserve all computes, or with best effort as many as fit; return the id and the names (M30).

    With best effort, these are the first ones of the deployment order; a resource set is reserved as a whole or not at
    all. `create` makes the reservation at the manager, and returns its id. RefusedByManagerError if nothing fits.
    """
    units = _units(experiment, computes) if experiment.best_effort_allocation else [computes]
    refusal = RefusedByManagerError("there is nothing to reserve")
    for count in range(_most(experiment, units, manager, now), 0, -1):
        request = reservation_request(experiment, chain.from_iterable(units[:count]))
        try:
            id = create(request)
        except RefusedByManagerError as error:
            refusal = error
        else:
            return id, frozenset(name for each in request.instances for name in each.names)
    raise refusal


def _most(
    experiment: Experiment, units: Sequence[Sequence[ManagedResource]], manager: ResourceManager, now: float
) -> int:
    """Return the number of units to request first: as many as seem to fit, or one to learn the reason of a refusal.

    Requesting one unit less after each refusal would take minutes if thousands of machines do not fit.
    """

    def has_no_room(count: int) -> bool:
        request = reservation_request(experiment, chain.from_iterable(units[:count]))
        return not manager.has_room(request, now)

    return len(units) if len(units) <= 1 else 1 + bisect_left(range(2, len(units) + 1), True, key=has_no_room)


def _units(experiment: Experiment, computes: Iterable[ManagedResource]) -> list[list[ManagedResource]]:
    """Return the groups of instances that are reserved together or not at all, in deployment order."""
    sets = {compute: name for name, members in experiment.resource_sets.items() for compute in members}
    units: dict[str, list[ManagedResource]] = {}
    for member in computes:
        group = sets.get(member.planned.resource.name)
        units.setdefault(f"instance {member.name}" if group is None else f"set {group}", []).append(member)
    return list(units.values())


def assign_reserved(one: ManagedExperiment, names: Iterable[str], reserved: Sequence[ReservedInstances]) -> str:
    """Assign a reserved resource to each of these instances (M19); return "" or the name of a compute without a match.

    Instances of a compute at one location receive resources of the same location, type and number; each resource is
    used once. Nothing is assigned unless all instances have a match.
    """
    left = list(reserved)
    ids = dict[str, str]()
    for request in instance_requests(one.resources[name] for name in names):
        wanted: _Group = request.location, request.compute.instance_type, len(request.names)
        match = next((one for one in left if (one.location, one.instance_type, len(one.ids)) == wanted), None)
        if match is None:
            return request.compute.name
        left.remove(match)
        ids.update(zip(request.names, match.ids, strict=True))
    for name, reserved_id in ids.items():
        one.resources[name].reserved = reserved_id
    return ""


def _compute(one: ManagedResource) -> Compute:
    assert isinstance(one.planned.resource, Compute)  # noqa: S101
    return one.planned.resource
