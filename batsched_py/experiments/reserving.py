"""Reservations of experiments: what is asked for, how much of it fits, and which reserved resource is for whom."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from batsched_py.experiments.managed import ManagedExperiment, ManagedResource
from batsched_py.experiments.model import Compute, Experiment, InstanceType, PlannedResource
from batsched_py.experiments.resource_manager import (
    InstanceRequest,
    RefusedByManagerError,
    ReservationRequest,
    ReservedInstances,
    ResourceManager,
)

# With best effort as many machines as possible are reserved, in the order of deployment. To ask for one unit less after
# each refusal takes minutes where thousands do not fit: the number is found by a binary search that only asks whether
# there would be room, O(log n) questions, and the request that follows is refused only if the answer was not exact.
# Whether there is room falls with the number of machines, which the search relies on.
#
# Machines of one set are reserved all or none, so the search is over units and not over machines.

#: What makes reserved instances alike: where and of which type they are, and how many.
_Group = tuple[str | None, str | InstanceType, int]


def instance_requests(computes: Iterable[ManagedResource]) -> tuple[InstanceRequest, ...]:
    """Return what is to be reserved for instances: a request for each compute, at each of its locations (M14)."""
    groups: dict[tuple[str, str | None], list[ManagedResource]] = {}
    for one in computes:
        groups.setdefault((one.planned.resource.name, one.planned.location), []).append(one)
    return tuple(
        InstanceRequest(_compute(members[0]), location, tuple(one.name for one in members))
        for (_, location), members in groups.items()
    )


def reservation_request(experiment: Experiment, order: Iterable[PlannedResource]) -> ReservationRequest:
    """Return what is to be reserved for all computes of a descriptor."""
    computes = [ManagedResource(planned) for planned in order if isinstance(planned.resource, Compute)]
    return ReservationRequest(instance_requests(computes), experiment.start, experiment.duration)


def largest_reservation(one: ManagedExperiment, manager: ResourceManager, now: float) -> tuple[str, frozenset[str]]:
    """Return the id of a reservation for all computes, and their names; with best effort for as many as fit (M30).

    Then these are the first ones of the deployment order, a resource set all or none. RefusedByManagerError if nothing
    fits.
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
    """Return how many units to ask for first: as many as there seems to be room for, or one to learn why it is refused.

    To ask for one unit less after each refusal takes minutes where thousands of machines do not fit.
    """
    if len(units) <= 1:
        return len(units)
    too_many = range(2, len(units) + 1)
    return 1 + bisect_left(too_many, True, key=lambda count: not manager.has_room(_request(one, units[:count]), now))


def _request(one: ManagedExperiment, units: Iterable[list[ManagedResource]]) -> ReservationRequest:
    members = (member for unit in units for member in unit)
    return ReservationRequest(instance_requests(members), one.experiment.start, one.experiment.duration)


def _units(one: ManagedExperiment) -> list[list[ManagedResource]]:
    """Return instances that are reserved together or not at all, in deployment order."""
    sets = {compute: name for name, computes in one.experiment.resource_sets.items() for compute in computes}
    units: dict[str, list[ManagedResource]] = {}
    for member in one.computes:
        group = sets.get(member.planned.resource.name)
        units.setdefault(f"instance {member.name}" if group is None else f"set {group}", []).append(member)
    return list(units.values())


def assign_reserved(one: ManagedExperiment, names: Iterable[str], reserved: Sequence[ReservedInstances]) -> str:
    """Give each of these instances a reserved resource of its own (M19); return whom there is none for, "" for nobody.

    Instances of a compute at one location get resources that match them in location, type and number; a resource is
    used once. Nobody is given anything unless all are.
    """
    left = list(reserved)
    given = dict[str, str]()
    for request in instance_requests(one.resources[name] for name in names):
        wanted: _Group = request.location, request.compute.instance_type, len(request.names)
        match = next((group for group in left if _group(group) == wanted), None)
        if match is None:
            return request.compute.name
        left.remove(match)
        given.update(zip(request.names, match.ids, strict=True))
    _give(one.resources, given)
    return ""


def _give(resources: Mapping[str, ManagedResource], given: Mapping[str, str]) -> None:
    for name, reserved in given.items():
        resources[name].reserved = reserved


def _group(reserved: ReservedInstances) -> _Group:
    return reserved.location, reserved.instance_type, len(reserved.ids)


def _compute(one: ManagedResource) -> Compute:
    assert isinstance(one.planned.resource, Compute)  # noqa: S101
    return one.planned.resource
