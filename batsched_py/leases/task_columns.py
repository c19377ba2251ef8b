"""Columns of tasks: what a site counts in addition to its resource types, so that jobs with demands have leases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct

from batsched_py.bits import bits_of
from batsched_py.leases.capacity import Amounts, total
from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom
from batsched_py.model.resources import CPU, MEMORY, Quantity

# A demand becomes amounts, so that the slot table of leases counts it like all others (ADR 46): cores are percent of
# CPU, and memory and others are the types of this name. Three things are no types of a site, and get hidden columns
# behind them:
#
# * Nodes on a host. An exclusive task, or a node with a whole host, takes all that a host may have, others take one.
#   So a node that needs a host alone does not meet others, on hosts of any size.
# * Each GPU, in thousandths. Instances of a type are filled by first fit again at each step of a timeline, so that a
#   lease may move from one instance to another when a third one ends. Programs cannot change their GPUs. Therefore each
#   GPU is a column of its own, and the numbers are chosen once, when the lease is mapped (`task_filling`).
# * Licences. They belong to no host: the table has one timeline more, the pool, after those of the hosts.
#
# All these are whole numbers. Percent of CPU are tenths at worst, and `subtract` rounds, so that sums are exact.

#: The number of nodes that a host may have.
MOST_NODES: Final = 1_000_000
#: The maximum number of instances over which an amount of a task is spread.
MOST_PIECES: Final = 1000
#: The name of GPUs among the types in `capacity` of a lease, as that of the property of hosts.
GPUS: Final = "gpus"
#: Node -> the numbers of its GPUs, for leases without any.
NO_GPUS: Final[Mapping[int, tuple[int, ...]]] = MappingProxyType({})


class GpuNeed(NamedTuple):
    """The GPUs of a node: their number, thousandths of each, and the column of a host's first GPU."""

    number: int
    share: int
    first: int

    def on(self, demand: Amounts, gpus: Sequence[int]) -> Amounts:
        """Return the amounts of the node on these GPUs."""
        amounts = list(demand)
        for gpu in gpus:
            amounts[self.first + gpu] = self.share
        return tuple(amounts)


class TaskNeeds(NamedTuple):
    """The needs of a lease that are chosen for each host, or belong to none.

    Attributes:
        gpus: node -> its GPUs, only for nodes with any.
        spread: node -> the number of its job, only for nodes that need a host without other nodes of their job.
        licences: number of the pool among the timelines -> amounts of the whole lease; empty if it needs none.
    """

    gpus: Mapping[int, GpuNeed]
    spread: Mapping[int, int]
    licences: Mapping[int, Amounts]


class TaskColumns(Struct, frozen=True, dict=True):
    """The hidden columns of a site.

    Attributes:
        types: the resource types of the site, whose columns come before these.
        hosts: the capacities of the hosts.
        licences: number of licences of the machine, by name.
        sharing: True if nodes of leases without demands share hosts; otherwise each has a whole one.
    """

    types: tuple[str, ...]
    hosts: tuple[HostCapacity, ...]
    licences: Mapping[str, int]
    sharing: bool

    @cached_property
    def gpus(self) -> int:
        """The largest number of GPUs of a host: the number of their columns."""
        return max((host.gpus for host in self.hosts), default=0)

    @property
    def first_gpu(self) -> int:
        """The column of the first GPU."""
        return len(self.types) + 1

    @property
    def pool(self) -> int:
        """The number of the timeline of licences: that after the hosts."""
        return len(self.hosts)

    @cached_property
    def pool_capacity(self) -> Amounts:
        """The capacity of the pool."""
        return self._pooled(self.licences)

    def tail(self, host: HostCapacity) -> Amounts:
        """Return the capacity of a host in these columns."""
        gpus = (WHOLE if gpu < host.gpus else 0 for gpu in range(self.gpus))
        return (MOST_NODES, *gpus, *(0 for _ in self.licences))

    def node_tail(self, *, whole: bool) -> Amounts:
        """Return the demand of a node in these columns; its GPUs are chosen later."""
        return (MOST_NODES if whole else 1, *(0 for _ in range(self.gpus + len(self.licences))))

    def gpu_need(self, number: int, share: int = WHOLE) -> GpuNeed:
        """Return the need of a node for GPUs."""
        return GpuNeed(number, share, self.first_gpu)

    def licences_of(self, wanted: Mapping[str, int]) -> Mapping[int, Amounts]:
        """Return pool -> amounts of a lease with these licences, all of which the machine has; empty for none."""
        return {self.pool: self._pooled(wanted)} if wanted else {}

    @cached_property
    def _hosts_of(self) -> Mapping[HostCapacity, int]:
        """Capacity -> bits of its hosts, few kinds of which a machine has."""
        found: dict[HostCapacity, list[int]] = {}
        for number, capacity in enumerate(self.hosts):
            found.setdefault(capacity, []).append(number)
        return {capacity: bits_of(numbers) for capacity, numbers in found.items()}

    def suitable(self, task: TaskDemand) -> int:
        """Return the bits of the hosts on which a task fits while nothing else runs there."""
        return sum(bits for capacity, bits in self._hosts_of.items() if not HostRoom(capacity).lacking(task))

    def amounts(self, task: TaskDemand, smallest: Sequence[float]) -> Amounts:
        """Return the amounts of a task on its host, without GPUs.

        `smallest` has the smallest instance of each type of which hosts have several, and 0 for the others: over
        instances an amount is spread in pieces of at most this size. ValueError if these would be too many.
        """
        wanted: dict[str, Quantity] = {**dict(task.others), CPU: _percent(task.cores), MEMORY: task.memory}
        found = [
            _spread(name, total(wanted.get(name, 0)), piece) for name, piece in zip(self.types, smallest, strict=True)
        ]
        return (*found, *self.node_tail(whole=task.exclusive))

    def _pooled(self, numbers: Mapping[str, int]) -> Amounts:
        before = (0 for _ in range(self.first_gpu + self.gpus))
        return (*before, *(numbers.get(name, 0) for name in self.licences))


def _percent(cores: int) -> float:
    """Return thousandths of cores as percent of one."""
    return cores // 10 if cores % 10 == 0 else cores / 10


def _spread(name: str, amount: float, piece: float) -> Quantity:
    """Return an amount, spread over instances if hosts have several of them; a part of one is the last."""
    if not piece:
        return amount
    if amount / piece > MOST_PIECES:
        raise ValueError(f"{name}: must be spread over at most {MOST_PIECES} instances of {piece:g}, not {amount:g}")
    pieces = math.ceil(amount / piece) if amount else 0
    return (*((piece,) * (pieces - 1)), round(amount - piece * (pieces - 1), 9)) if pieces else (0,)
