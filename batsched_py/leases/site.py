"""Site: the hosts on which leases run, and the types of resources that they have (H8, H62)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from batsched_py.leases.capacity import Amounts, Quantity, total
from batsched_py.model.resources import (
    CPU,
    HOST_PROPERTIES,
    MEMORY,
    OTHERS,
    Resources,
    read_quantity,
    read_resources,
)

Value = TypeVar("Value")

#: What a host has unless its properties tell.
_USUAL: Final[Resources] = {CPU: 100.0, MEMORY: 1024.0}


@dataclass(frozen=True, slots=True)
class Site:
    """Hosts, numbered from 0.

    Attributes:
        types: names of resource types; CPU (in percent of one) and Memory (in MB) are among them.
        capacities: of each host, in the order of the types.
        exclusive: no host is for two leases at a time, as where Batsim shares none.
    """

    types: tuple[str, ...]
    capacities: tuple[Amounts, ...]
    exclusive: bool = False
    #: Of each type, whether a host has several instances of it.
    _several: tuple[bool, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        columns = zip(*self.capacities, strict=True)
        several = tuple(any(isinstance(quantity, tuple) for quantity in column) for column in columns)
        object.__setattr__(self, "_several", several)

    @classmethod
    def of(cls, hosts: Sequence[Mapping[str, Quantity]], *, exclusive: bool = False) -> Site:
        """Return the site of these hosts, each given by type; a type that a host does not name is 0 there."""
        others = dict.fromkeys(name for host in hosts for name in host if name not in (CPU, MEMORY))
        types = (CPU, MEMORY, *others)
        return cls(types, tuple(tuple(host.get(name, 0.0) for name in types) for host in hosts), exclusive)

    def amounts(self, demand: Mapping[str, Quantity]) -> Amounts | None:
        """Return a demand by type as amounts; None if it is for a type that the site does not have.

        Where a host has several instances of a type, the demand is for one of them: two such demands may be met by two.
        """
        if any(name not in self.types for name in demand):
            return None
        wanted = [demand.get(name, 0.0) for name in self.types]
        return tuple(
            (need,) if many and not isinstance(need, tuple) else need
            for need, many in zip(wanted, self._several, strict=True)
        )

    def smallest(self) -> Amounts:
        """Return what every host has: the demand of a node that asks for a whole host."""
        return tuple(min(column, key=total) for column in zip(*self.capacities, strict=True))

    @property
    def cpu(self) -> int:
        """Position of the CPU among the types."""
        return self.types.index(CPU)

    @property
    def memory(self) -> int:
        """Position of the memory among the types."""
        return self.types.index(MEMORY)


def host_resources(properties: Mapping[str, object]) -> Resources:
    """Return what a host has, from its properties: `cpu` in percent of one, `mem` in MB, `capacity` for other types.

    ValueError names the property and the rule.
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
