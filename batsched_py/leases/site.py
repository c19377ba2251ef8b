"""Site: the hosts on which leases run, and the types of resources that they have (H8, H62)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from batsched_py.leases.capacity import Amounts, total
from batsched_py.leases.task_columns import TaskColumns
from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.resources import (
    CPU,
    HOST_PROPERTIES,
    MEMORY,
    OTHERS,
    Quantity,
    Resources,
    read_quantity,
    read_resources,
)

Value = TypeVar("Value")

#: The default resources of a host.
_USUAL: Final[Resources] = {CPU: 100.0, MEMORY: 1024.0}


@dataclass(frozen=True, slots=True)
class Site:
    """Hosts, numbered from 0.

    Attributes:
        types: the names of the resource types, including CPU (in percent of one) and Memory (in MB).
        capacities: the capacity of each host, in the order of the types.
        exclusive: True if each host runs one lease at a time, as in a Batsim without compute sharing.
        tasks: the columns after those of the types, which jobs with demands need; None without them.
    """

    types: tuple[str, ...]
    capacities: tuple[Amounts, ...]
    exclusive: bool = False
    tasks: TaskColumns | None = None
    #: For each type, whether some host has several instances of it.
    _several: tuple[bool, ...] = field(init=False, repr=False, compare=False)
    #: For each type, the smallest instance if some host has several, otherwise 0.
    _pieces: tuple[float, ...] = field(init=False, repr=False, compare=False)
    #: For each type, what every host has.
    _everywhere: Amounts = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        columns = list(zip(*self.capacities, strict=True))[: len(self.types)]
        several = tuple(any(isinstance(quantity, tuple) for quantity in column) for column in columns)
        object.__setattr__(self, "_several", several)
        object.__setattr__(self, "_pieces", tuple(map(_smallest_piece, columns)))
        object.__setattr__(self, "_everywhere", tuple(min(column, key=total) for column in columns))

    @classmethod
    def of(cls, hosts: Sequence[Mapping[str, Quantity]], *, exclusive: bool = False) -> Site:
        """Return the site with these hosts, each given as resources by type; missing types count as 0."""
        others = dict.fromkeys(name for host in hosts for name in host if name not in (CPU, MEMORY))
        types = (CPU, MEMORY, *others)
        return cls(types, tuple(tuple(host.get(name, 0.0) for name in types) for host in hosts), exclusive)

    def with_tasks(self, hosts: Sequence[HostCapacity], licences: Mapping[str, int], *, sharing: bool) -> Site:
        """Return this site with columns for jobs with demands.

        `hosts` are the capacities that these jobs see, `licences` those of the machine. With `sharing`, nodes of other
        leases share hosts, too.
        """
        tasks = TaskColumns(self.types, tuple(hosts), dict(licences), sharing)
        rows = zip(self.capacities, hosts, strict=True)
        return Site(self.types, tuple((*amounts, *tasks.tail(host)) for amounts, host in rows), self.exclusive, tasks)

    def amounts(self, demand: Mapping[str, Quantity]) -> Amounts | None:
        """Return a demand by type as amounts; None if the site lacks a type.

        If hosts have several instances of a type, a demand uses one of them, and two demands may use two.
        """
        if any(name not in self.types for name in demand):
            return None
        wanted = [demand.get(name, 0.0) for name in self.types]
        return tuple(
            (need,) if many and not isinstance(need, tuple) else need
            for need, many in zip(wanted, self._several, strict=False)
        ) + self._tail(whole=self.tasks is not None and not self.tasks.sharing)

    def smallest(self) -> Amounts:
        """Return the demand of a node that requests a whole host: what every host has."""
        return self._everywhere + self._tail(whole=True)

    def task_amounts(self, task: TaskDemand) -> Amounts:
        """Return the amounts of a task on its host, without GPUs; ValueError if they need too many instances."""
        assert self.tasks is not None  # noqa: S101  # the caller's promise
        return self.tasks.amounts(task, self._pieces)

    @property
    def pool(self) -> Amounts | None:
        """The capacity of the timeline of licences; None if there are none."""
        return self.tasks.pool_capacity if self.tasks is not None and self.tasks.licences else None

    def _tail(self, *, whole: bool) -> Amounts:
        return () if self.tasks is None else self.tasks.node_tail(whole=whole)

    @property
    def cpu(self) -> int:
        """The index of the CPU among the types."""
        return self.types.index(CPU)

    @property
    def memory(self) -> int:
        """The index of the memory among the types."""
        return self.types.index(MEMORY)


def host_resources(properties: Mapping[str, object], cores: int = 1) -> Resources:
    """Return the resources of a host from its properties: `cpu` in percent of one, `mem` in MB, `capacity` for others.

    Without `cpu` it has all of its cores. ValueError, which names the property and the rule.
    """
    found = {**_USUAL, CPU: 100.0 * cores}
    for kind, name in HOST_PROPERTIES.items():
        if name in properties:
            found[kind] = _read(name, properties, read_quantity)
    return {**found, **_read(OTHERS, properties, read_resources)} if OTHERS in properties else found


def _smallest_piece(column: Sequence[Quantity]) -> float:
    """Return the smallest instance if a host has several, otherwise 0."""
    several = [amount for quantity in column if isinstance(quantity, tuple) for amount in quantity]
    return min(several, default=0.0)


def _read(name: str, properties: Mapping[str, object], read: Callable[[str], Value]) -> Value:
    try:
        return read(str(properties[name]))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
