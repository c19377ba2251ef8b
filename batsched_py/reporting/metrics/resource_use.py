"""The use of each resource over time in runs whose jobs share hosts: cores, memory, GPUs, others, and licences.

Allocated is what no other job could have: the amounts of tasks, and whole hosts where a job had them. Of it, requested
is what tasks requested; the rest was wasted. A host of a job without a demand is requested whole.
"""

from __future__ import annotations

from msgspec import Struct

from batsched_py.reporting.metrics.steps import Steps, scaled, stacked
from batsched_py.reporting.schedules.job_uses import (
    GPUS,
    KINDS,
    LICENCE,
    OTHER,
    ResourceName,
    UseMeter,
    machine_amounts,
)
from batsched_py.reporting.schedules.schedule import Schedule


class ResourceCurve(Struct, frozen=True):
    """A resource of the machine over time; amounts are in cores, MiB, GPUs, or numbers of others.

    Attributes:
        resource: the resource.
        capacity: what the machine has.
        allocated: the part of it that no other job could have, from 0 to 1.
        requested: the part of it that running tasks requested, at most as much.
    """

    resource: ResourceName
    capacity: float
    allocated: Steps
    requested: Steps


def resource_curves(schedule: Schedule) -> list[ResourceCurve]:
    """Return the curve of each resource that the machine has, in the order of KINDS; none without capacities."""
    if schedule.capacity is None:
        return []
    meter = UseMeter(schedule.capacity)
    uses = [(record.start, record.finish, meter.use(record)) for record in schedule.ran]
    return [
        ResourceCurve(
            resource,
            capacity / resource.unit,
            scaled(stacked((begin, end, use.allocated[resource]) for begin, end, use in uses), capacity),
            scaled(stacked((begin, end, use.requested[resource]) for begin, end, use in uses), capacity),
        )
        for resource, capacity in sorted(machine_amounts(schedule.capacity).items(), key=_order)
    ]


def resource_title(resource: ResourceName) -> str:
    """Return the name of a resource in pictures: "cores", "GPUs", "fpga", "licences matlab"."""
    titles = {GPUS: "GPUs", OTHER: "", LICENCE: "licences"}
    return f"{titles.get(resource.kind, resource.kind)} {resource.name}".strip()


def _order(item: tuple[ResourceName, int]) -> tuple[int, str]:
    return KINDS.index(item[0].kind), item[0].name
