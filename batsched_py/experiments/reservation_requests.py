"""Reservations of experiments: requests, their largest feasible part, and the assignment of reserved resources."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

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


def reservation_request(experiment: Experiment, order: Iterable[PlannedResource]) -> ReservationRequest:
    """Return the request to reserve all computes of a descriptor."""
    computes = [ManagedResource(planned) for planned in order if isinstance(planned.resource, Compute)]
    return ReservationRequest(instance_requests(computes), experiment.start, experiment.duration)


def largest_reservation(one: ManagedExperiment, manager: ResourceManager, now: float) -> tuple[str, frozenset[str]]:
    """Reserve all computes, or with best effort as many as fit; return the id and the names (M30).

    With best effort, these are the first ones of the deployment order; a resource set is reserved as a whole or not at
    all. RefusedByManagerError if nothing fits.
    """
    units = _units(one) if one.experiment.best_effort_allocation else [one.computes]
    refusal = RefusedByManagerError("there is nothing to reserve")
    for count in range(_most(one, units, manager, now), 0, -1):
        request = _request(one, units[:count])
        try:
            id = manager.create_reservation(request, one.owner, now)
        except RefusedByManagerError as error:
            refusal = error
        else:
            return id, frozenset(name for each in request.instances for name in each.names)
    raise refusal


def _most(one: ManagedExperiment, units: list[list[ManagedResource]], manager: ResourceManager, now: float) -> int:
    """Return the number of units to request first: as many as seem to fit, or one to learn the reason of a refusal.

    Requesting one unit less after each refusal would take minutes if thousands of machines do not fit.
    """
    if len(units) <= 1:
        return len(units)
    too_many = range(2, len(units) + 1)
    return 1 + bisect_left(too_many, True, key=lambda count: not manager.has_room(_request(one, units[:count]), now))


def _request(one: ManagedExperiment, units: Iterable[list[ManagedResource]]) -> ReservationRequest:
    members = (member for unit in units for member in unit)
    return ReservationRequest(instance_requests(members), one.experiment.start, one.experiment.duration)


def _units(one: ManagedExperiment) -> list[list[ManagedResource]]:
    """Return the groups of instances that are reserved together or not at all, in deployment order."""
    sets = {compute: name for name, computes in one.experiment.resource_sets.items() for compute in computes}
    units: dict[str, list[ManagedResource]] = {}
    for member in one.computes:
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
