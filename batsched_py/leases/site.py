"""Site: the hosts on which leases run, and the types of resources that they have (H8, H62)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from batsched_py.leases.capacity import Amounts, total
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
    """

    types: tuple[str, ...]
    capacities: tuple[Amounts, ...]
    exclusive: bool = False
    #: For each type, whether some host has several instances of it.
    _several: tuple[bool, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        columns = zip(*self.capacities, strict=True)
        several = tuple(any(isinstance(quantity, tuple) for quantity in column) for column in columns)
        object.__setattr__(self, "_several", several)

    @classmethod
    def of(cls, hosts: Sequence[Mapping[str, Quantity]], *, exclusive: bool = False) -> Site:
        """Return the site with these hosts, each given as resources by type; missing types count as 0."""
        others = dict.fromkeys(name for host in hosts for name in host if name not in (CPU, MEMORY))
        types = (CPU, MEMORY, *others)
        return cls(types, tuple(tuple(host.get(name, 0.0) for name in types) for host in hosts), exclusive)

    def amounts(self, demand: Mapping[str, Quantity]) -> Amounts | None:
        """Return a demand by type as amounts; None if the site lacks a type.

        If hosts have several instances of a type, a demand uses one of them, and two demands may use two.
        """
        if any(name not in self.types for name in demand):
            return None
        wanted = [demand.get(name, 0.0) for name in self.types]
        return tuple(
            (need,) if many and not isinstance(need, tuple) else need
            for need, many in zip(wanted, self._several, strict=True)
        )

    def smallest(self) -> Amounts:
        """Return the capacity that every host has: the demand of a node that requests a whole host."""
        return tuple(min(column, key=total) for column in zip(*self.capacities, strict=True))

    @property
    def cpu(self) -> int:
        """The index of the CPU among the types."""
        return self.types.index(CPU)

    @property
    def memory(self) -> int:
        """The index of the memory among the types."""
        return self.types.index(MEMORY)


def host_resources(properties: Mapping[str, object]) -> Resources:
    """Return the resources of a host from its properties: `cpu` in percent of one, `mem` in MB, `capacity` for others.

    ValueError, which names the property and the rule.
    """
    found = dict(_USUAL)
    for kind, name in HOST_PROPERTIES.items():
        if name in properties:
            found[kind] = _read(name, properties, read_quantity)
    return {**found, **_read(OTHERS, properties, read_resources)} if OTHERS in properties else found


def _read(name: str, properties: Mapping[str, object], read: Callable[[str], Value]) -> Value:
    try:
        return read(str(properties[name]))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
