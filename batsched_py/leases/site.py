"""Site: the hosts on which leases run, and the types of resources that they have (H8, H62)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from batsched_py.leases.capacity import Amounts, Quantity, total

#: Types that every site has, by Haizea's names.
CPU: Final = "CPU"
MEMORY: Final = "Memory"


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

    @classmethod
    def of(cls, hosts: Sequence[Mapping[str, Quantity]], *, exclusive: bool = False) -> Site:
        """Return the site of these hosts, each given by type; a type that a host does not name is 0 there."""
        others = dict.fromkeys(name for host in hosts for name in host if name not in (CPU, MEMORY))
        types = (CPU, MEMORY, *others)
        return cls(types, tuple(tuple(host.get(name, 0.0) for name in types) for host in hosts), exclusive)

    def amounts(self, demand: Mapping[str, Quantity]) -> Amounts | None:
        """Return a demand by type as amounts; None if it is for a type that the site does not have."""
        if any(name not in self.types for name in demand):
            return None
        return tuple(demand.get(name, 0.0) for name in self.types)

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
