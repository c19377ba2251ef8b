"""Amounts of the resources of hosts that a job has: cores, memory, GPUs, others, and licences of the machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.results.places import JobPlaces, MachineCapacity
from batsched_py.results.records import JobRecord

# Amounts are whole numbers, in thousandths for cores and GPUs, so that sums are exact in any order of the jobs.

CORES: Final = "cores"
MEMORY: Final = "memory"
GPUS: Final = "gpus"
OTHER: Final = "other"
LICENCE: Final = "licence"
#: Kinds of resources, in the order of tables; those of the last two have names.
KINDS: Final = (CORES, MEMORY, GPUS, OTHER, LICENCE)


class ResourceName(NamedTuple):
    """A resource: its kind, of KINDS, and its name if the kind has several.

    GPUs of one model have its name, all GPUs none.
    """

    kind: str
    name: str = ""

    def __str__(self) -> str:
        """Return the name in tables: "cores", "gpus V100", "licence matlab"."""
        return f"{self.kind} {self.name}".rstrip()

    @property
    def unit(self) -> int:
        """The number by which amounts are divided: 1000 if they are thousandths."""
        return WHOLE if self.kind in (CORES, GPUS) else 1


#: Amounts by resource; none is 0.
Amounts = Counter[ResourceName]


class JobUse(NamedTuple):
    """Amounts that a job had from its start to its end: those that no other job could have, and those it requested."""

    allocated: Amounts
    requested: Amounts


def machine_amounts(machine: MachineCapacity) -> Amounts:
    """Return the amounts of all resources of a machine; GPUs of each model only if there are several models."""
    total = Amounts()
    for host, number in Counter(machine.hosts).items():
        for resource, amount in host_amounts(host).items():
            total[resource] += amount * number
    total.update({ResourceName(LICENCE, name): number for name, number in machine.licences})
    models = [resource for resource in total if resource.kind == GPUS and resource.name]
    if len(models) < 2:
        for resource in models:
            del total[resource]
    return +total


def host_amounts(host: HostCapacity) -> Amounts:
    """Return the amounts of a whole host."""
    gpus = host.gpus * WHOLE
    amounts = Amounts({ResourceName(CORES): host.cores, ResourceName(MEMORY): host.memory, ResourceName(GPUS): gpus})
    if host.model:
        amounts[ResourceName(GPUS, host.model)] = gpus
    amounts.update({ResourceName(OTHER, name): amount for name, amount in host.others})
    return +amounts


def task_amounts(task: TaskDemand, tasks: int, host: HostCapacity) -> Amounts:
    """Return the amounts of several equal tasks on a host."""
    gpus = task.gpu_amount * tasks
    amounts = Amounts(
        {
            ResourceName(CORES): task.cores * tasks,
            ResourceName(MEMORY): task.memory * tasks,
            ResourceName(GPUS): gpus,
        }
    )
    if host.model:
        amounts[ResourceName(GPUS, host.model)] = gpus
    amounts.update({ResourceName(OTHER, name): amount * tasks for name, amount in task.others})
    return +amounts


class UseMeter:
    """The measure of what each job has of the resources of a machine."""

    def __init__(self, machine: MachineCapacity) -> None:
        self._hosts = machine.hosts
        #: Host capacity -> its amounts; many hosts are equal.
        self._whole = {host: host_amounts(host) for host in set(machine.hosts)}
        #: Bits of hosts -> the sum of their amounts, for jobs without demands.
        self._sums: dict[int, Amounts] = {}

    def use(self, record: JobRecord) -> JobUse:
        """Return what a job had."""
        places = record.places
        if places is None:
            whole = self._sum(record.hosts.bits)
            return JobUse(whole, whole)
        allocated, requested = Amounts(), Amounts()
        for one in self.host_uses(places):
            allocated.update(one.allocated)
            requested.update(one.requested)
        licences = {ResourceName(LICENCE, name): number for name, number in places.licences}
        allocated.update(licences)
        requested.update(licences)
        return JobUse(allocated, requested)

    def host_uses(self, places: JobPlaces) -> Iterator[JobUse]:
        """Yield what a job had on each of its hosts, in their order; at most the host's amounts."""
        for place in places.places:
            host = self._hosts[place.host]
            asked = task_amounts(places.task, place.tasks, host)
            if places.whole:
                yield JobUse(self._whole[host], asked & self._whole[host])
            else:
                yield JobUse(asked, asked)

    def whole(self, host: int) -> Amounts:
        """Return the amounts of a host; none for a storage host."""
        return self._whole[self._hosts[host]] if host < len(self._hosts) else Amounts()

    def _sum(self, bits: int) -> Amounts:
        found = self._sums.get(bits)
        if found is None:
            found = self._sums[bits] = Amounts()
            left = bits & ((1 << len(self._hosts)) - 1)
            while left:
                lowest = left & -left
                found.update(self.whole(lowest.bit_length() - 1))
                left ^= lowest
        return found
