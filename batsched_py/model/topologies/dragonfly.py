"""Dragonflies: groups of chassis of blades, all connected with each other (Kim et al. 2008)."""

from __future__ import annotations

from collections.abc import Iterator

from batsched_py.model.topologies.cables import Cables
from batsched_py.model.zone import Link
from batsched_py.text.representation import Brief

# Each blade has a router for its hosts. Green cables join the blades of a chassis, black ones the chassis of a group at
# each blade, blue ones the groups: that of groups i and j is at blade j of chassis 0 in group i, and at blade i of
# chassis 0 in group j. Hence there are at most as many groups as blades.
#
# A quirk of SimGrid 3.32 changes times, and is as there: after a hop between blades it believes to be in chassis 0.
# From chassis 2 to another blade of chassis 2 a black hop from 0 to 2 follows, and to one of chassis 0 none.

#: Coordinates of a router: group, chassis, blade.
_Router = tuple[int, int, int]


class Dragonfly(Brief, frozen=True):
    """A dragonfly.

    Attributes:
        groups, chassis, blades, nodes: number of groups, of chassis in a group, of blades in a chassis, of hosts at a
            blade.
        blue, black, green: number of cables side by side between two groups, chassis and blades.
    """

    groups: int
    blue: int
    chassis: int
    black: int
    blades: int
    green: int
    nodes: int

    @property
    def hosts(self) -> int:
        """Number of positions."""
        return self.groups * self.chassis * self.blades * self.nodes

    def way(self, source: int, destination: int, cables: Cables) -> Iterator[Link]:
        """Yield the links: to the target's group, its blade, and its chassis."""
        here, target = self._router(source), self._router(destination)
        yield from cables.limiter(f"h{source}")
        yield cables.cable(f"h{source}", up=True)
        if here != target:
            yield from self._between_routers(here, target, cables)
        yield from cables.limiter(_name(target))
        yield cables.cable(f"h{destination}", up=False)
        yield from cables.limiter(f"h{destination}")

    def _between_routers(self, here: _Router, target: _Router, cables: Cables) -> Iterator[Link]:
        group, chassis, blade = here
        if target[0] != group:
            if blade != target[0]:
                yield from cables.limiter(_name((group, chassis, blade)))
                yield self._green(group, chassis, (blade, target[0]), cables)
                blade = target[0]
            if chassis != 0:
                yield from cables.limiter(_name((group, chassis, blade)))
                yield self._black(group, blade, (chassis, 0), cables)
            yield from cables.limiter(_name((group, 0, target[0])))
            ends = (group, target[0])
            yield cables.cable(f"blue{min(ends)}-{max(ends)}", up=ends[0] < ends[1], count=self.blue)
            group, chassis, blade = target[0], 0, group
        if blade != target[2]:
            yield from cables.limiter(_name((group, chassis, blade)))
            yield self._green(group, chassis, (blade, target[2]), cables)
            chassis, blade = 0, target[2]  # so SimGrid believes
        if chassis != target[1]:
            yield from cables.limiter(_name((group, chassis, blade)))
            yield self._black(group, blade, (chassis, target[1]), cables)

    def _green(self, group: int, chassis: int, ends: tuple[int, int], cables: Cables) -> Link:
        name = f"green{group}.{chassis}:{min(ends)}-{max(ends)}"
        return cables.cable(name, up=ends[0] < ends[1], count=self.green)

    def _black(self, group: int, blade: int, ends: tuple[int, int], cables: Cables) -> Link:
        name = f"black{group}.{blade}:{min(ends)}-{max(ends)}"
        return cables.cable(name, up=ends[0] < ends[1], count=self.black)

    def _router(self, position: int) -> _Router:
        rest, blade = divmod(position // self.nodes, self.blades)
        group, chassis = divmod(rest, self.chassis)
        return group, chassis, blade


def _name(router: _Router) -> str:
    return f"r{router[0]}.{router[1]}.{router[2]}"
