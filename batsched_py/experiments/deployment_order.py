"""Deployment order of an experiment: templates become instances, and each resource follows its dependencies.

BonFIRE's planner (M8, M9): a dependency graph, then one topological order. The document's order decides between
resources whose dependencies are satisfied, and the instances of a template are adjacent.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush

from batsched_py.experiments.model import (
    AddressOf,
    Compute,
    Experiment,
    Network,
    PlannedResource,
    Reference,
    Resource,
    Router,
    SiteLink,
)


class DependencyCycleError(ValueError):
    """A cycle of dependencies; `names` begins and ends with the same resource, and each one depends on the next."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        super().__init__(f"cycle {' -> '.join(names)}")


def deployment_order(experiment: Experiment) -> tuple[PlannedResource, ...]:
    """Return the resources of a valid experiment in the order of their creation.

    DependencyCycleError if there is no order.
    """
    resources = {one.name: one for one in experiment.resources}
    instances = {one.name: instance_names(one) for one in experiment.resources}
    needs = needed_by_each(experiment)
    order = resource_order(needs)
    return tuple(planned for name in order for planned in _instances(resources[name], instances, needs[name]))


def needed_by_each(experiment: Experiment) -> dict[str, dict[str, None]]:
    """Return name -> names of its dependencies, for all resources, in the document's order."""
    names = {one.name for one in experiment.resources}
    networks: dict[str, list[str]] = {}
    for one in experiment.resources:
        if isinstance(one, Network):
            networks.setdefault(one.location, []).append(one.name)
    place = {one.name: number for number, one in enumerate(experiment.resources)}
    return {one.name: _dependencies(one, names, networks, place) for one in experiment.resources}


def instance_names(resource: Resource) -> tuple[str, ...]:
    """Return the names of the instances of a template, or the name of another resource (M32)."""
    if isinstance(resource, Compute) and resource.count > 1:
        return tuple(f"{resource.name}-{number}" for number in range(1, resource.count + 1))
    return (resource.name,)


def _dependencies(
    resource: Resource, names: Container[str], networks: Mapping[str, Sequence[str]], place: Mapping[str, int]
) -> dict[str, None]:
    """Return the names of a resource's direct dependencies within the experiment, without repetition, in order.

    Args:
        resource: the resource with the dependencies.
        names: names of all resources.
        networks: location -> names of networks there.
        place: name -> place in the document.
    """
    named = (*resource.after, *(one.name for one in references(resource) if not one.exists), *addresses_of(resource))
    joined = list[str]()
    if isinstance(resource, SiteLink):
        ends = dict.fromkeys(resource.endpoints)
        joined = sorted((name for end in ends for name in networks.get(end, ())), key=place.__getitem__)
    return dict.fromkeys(name for name in (*named, *joined) if name in names)


def references(resource: Resource) -> tuple[Reference, ...]:
    """Return all references of a resource to storages, networks and their connections."""
    if isinstance(resource, Compute):
        return (*resource.storages, *resource.networks)
    return resource.networks if isinstance(resource, Router) else ()


def addresses_of(resource: Resource) -> tuple[str, ...]:
    """Return the names of the computes whose addresses a resource depends on."""
    if not isinstance(resource, Compute):
        return ()
    return tuple(one.compute for one in resource.contexts.values() if isinstance(one, AddressOf))


def resource_order(needs: Mapping[str, Mapping[str, None]]) -> list[str]:
    """Return names in topological order of their dependencies, the earliest in the document first.

    DependencyCycleError if there is no such order.
    """
    position = {name: number for number, name in enumerate(needs)}
    sorter = TopologicalSorter(needs)
    try:
        sorter.prepare()
    except CycleError as error:
        raise DependencyCycleError(_begun_early(error.args[1], position)) from None
    names, ready, order = list(needs), list[int](), list[str]()
    while sorter.is_active():
        for name in sorter.get_ready():
            heappush(ready, position[name])
        name = names[heappop(ready)]
        order.append(name)
        sorter.done(name)
    return order


def _begun_early(cycle: Sequence[str], position: Mapping[str, int]) -> list[str]:
    """Reverse a cycle of names, so that each depends on the next, and begin with the earliest in the document."""
    around = list(reversed(cycle))[:-1]
    first = around.index(min(around, key=position.__getitem__))
    return [*around[first:], *around[: first + 1]]


def _instances(
    resource: Resource, instances: Mapping[str, tuple[str, ...]], needs: Mapping[str, None]
) -> Iterator[PlannedResource]:
    after = tuple(one for name in needs for one in instances[name])
    needed = dict.fromkeys(name for name in addresses_of(resource) if name in instances)
    addresses = tuple(one for name in needed for one in instances[name])
    for number, name in enumerate(instances[resource.name]):
        if isinstance(resource, Compute):
            locations = resource.locations
            location = locations[number % len(locations)] if locations else None
            reserved = resource.reserved[number] if resource.reserved else None
        else:
            location, reserved = None if isinstance(resource, SiteLink) else resource.location, None
        yield PlannedResource(name, resource, location, after, addresses, reserved)
