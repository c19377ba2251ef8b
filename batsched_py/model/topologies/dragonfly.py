"""Dragonflies: groups of chassis of blades, all connected with each other (Kim et al. 2008)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from batsched_py.model.topologies.cables import Cables
from batsched_py.model.topologies.crossings import Cable, Crossings
from batsched_py.model.zone import Link
from batsched_py.text.representation import Brief

# Each blade has a router for its hosts. Green cables join the blades of a chassis, black ones the chassis of a group at
# each blade, blue ones the groups: that of groups i and j is at blade j of chassis 0 in group i, and at blade i of
# chassis 0 in group j. Hence there are at most as many groups as blades.
#
# A quirk of SimGrid 3.32 changes times, and is as there: after a hop between blades it believes to be in chassis 0.
# From chassis 2 to another blade of chassis 2 a black hop from 0 to 2 follows, and to one of chassis 0 none.

#: Kinds of cables. A `Cable` is (HOST, position, True if up), (GREEN, group, chassis, blade, next blade),
#: (BLACK, group, blade, chassis, next chassis) or (BLUE, group, next group).
_HOST, _GREEN, _BLACK, _BLUE = range(4)
#: Coordinates of a router: group, chassis, blade.
_Router = tuple[int, int, int]
#: Router of a group -> number of its hosts in an exchange.
_Routers = Mapping[_Router, int]


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

    @property
    def blocks(self) -> tuple[int, ...]:
        """Sizes of a blade, a chassis and a group."""
        return self.nodes, self.nodes * self.blades, self.nodes * self.blades * self.chassis

    def curve(self) -> Sequence[int]:
        """Return the positions as numbered."""
        return range(self.hosts)

    def places(self, position: int) -> tuple[int, ...]:
        """Return the numbers of the router and of the group of a position."""
        router = position // self.nodes
        return router, router // (self.chassis * self.blades)

    def way(self, source: int, destination: int, cables: Cables) -> Iterator[Link]:
        """Yield the links: to the target's group, its blade, and its chassis."""
        here, target = self._router(source), self._router(destination)
        yield from cables.limiter(f"h{source}")
        yield self.link((_HOST, source, True), cables)
        if here != target:
            yield from self._between_routers(here, target, cables)
        yield from cables.limiter(_name(target))
        yield self.link((_HOST, destination, False), cables)
        yield from cables.limiter(f"h{destination}")

    def crossings(self, positions: Sequence[int]) -> Crossings:
        """Count the crossings of an exchange, at routers for each other group, and in a group for each two blades."""
        pairs, others = defaultdict[Cable, int](int), len(positions) - 1
        for position in positions:
            pairs[_HOST, position, True] = pairs[_HOST, position, False] = others
        groups = defaultdict[int, dict[_Router, int]](dict)
        for position in positions:
            router = self._router(position)
            routers = groups[router[0]]
            routers[router] = routers.get(router, 0) + 1
        longest = 0
        for group, routers in groups.items():
            longest = max(longest, self._count_within(routers, pairs))
            for other, targets in groups.items():
                if other != group:
                    longest = max(longest, self._count_between(routers, targets, pairs))
        return Crossings(pairs, longest + 2)

    def link(self, cable: Cable, cables: Cables) -> Link:
        """Return the link of a cable in one direction; both have a name with the smaller number first."""
        kind, *numbers = cable
        if kind == _HOST:
            return cables.cable(f"h{numbers[0]}", up=bool(numbers[1]))
        *place, here, there = numbers
        name, count = {
            _GREEN: ("green", self.green),
            _BLACK: ("black", self.black),
            _BLUE: ("blue", self.blue),
        }[kind]
        where = f"{place[0]}.{place[1]}:" if place else ""
        ends = f"{min(here, there)}-{max(here, there)}"
        return cables.cable(f"{name}{where}{ends}", up=here < there, count=count)

    def _count_between(self, routers: _Routers, targets: _Routers, pairs: dict[Cable, int]) -> int:
        """Count the crossings from one group to another; return the largest number of links between two routers."""
        (group, *_), (other, *_) = next(iter(routers)), next(iter(targets))
        here, there = sum(routers.values()), sum(targets.values())
        pairs[_BLUE, group, other] += here * there
        leaving = arriving = 0
        for (_, chassis, blade), hosts in routers.items():
            if blade != other:
                pairs[_GREEN, group, chassis, blade, other] += hosts * there
            if chassis != 0:
                pairs[_BLACK, group, other, chassis, 0] += hosts * there
            if leaving < 2:
                leaving = max(leaving, (blade != other) + (chassis != 0))
        for (_, chassis, blade), hosts in targets.items():
            if blade != group:
                pairs[_GREEN, other, 0, group, blade] += hosts * here
            if chassis != 0:
                pairs[_BLACK, other, blade, 0, chassis] += hosts * here
            if arriving < 2:
                arriving = max(arriving, (blade != group) + (chassis != 0))
        return leaving + 1 + arriving

    def _count_within(self, routers: _Routers, pairs: dict[Cable, int]) -> int:
        """Count the crossings between the routers of a group; return the largest number of links between two."""
        longest = 0
        for (group, chassis, blade), hosts in routers.items():
            for (_, to_chassis, to_blade), targets in routers.items():
                links, believed = 0, chassis
                if blade != to_blade:
                    pairs[_GREEN, group, chassis, blade, to_blade] += hosts * targets
                    links, believed = 1, 0
                if believed != to_chassis:
                    pairs[_BLACK, group, to_blade, believed, to_chassis] += hosts * targets
                    links += 1
                longest = max(longest, links)
        return longest

    def _between_routers(self, here: _Router, target: _Router, cables: Cables) -> Iterator[Link]:
        group, chassis, blade = here
        if target[0] != group:
            if blade != target[0]:
                yield from cables.limiter(_name((group, chassis, blade)))
                yield self.link((_GREEN, group, chassis, blade, target[0]), cables)
                blade = target[0]
            if chassis != 0:
                yield from cables.limiter(_name((group, chassis, blade)))
                yield self.link((_BLACK, group, blade, chassis, 0), cables)
            yield from cables.limiter(_name((group, 0, target[0])))
            yield self.link((_BLUE, group, target[0]), cables)
            group, chassis, blade = target[0], 0, group
        if blade != target[2]:
            yield from cables.limiter(_name((group, chassis, blade)))
            yield self.link((_GREEN, group, chassis, blade, target[2]), cables)
            chassis, blade = 0, target[2]  # so SimGrid believes
        if chassis != target[1]:
            yield from cables.limiter(_name((group, chassis, blade)))
            yield self.link((_BLACK, group, blade, chassis, target[1]), cables)

    def _router(self, position: int) -> _Router:
        rest, blade = divmod(position // self.nodes, self.blades)
        group, chassis = divmod(rest, self.chassis)
        return group, chassis, blade


def _name(router: _Router) -> str:
    return f"r{router[0]}.{router[1]}.{router[2]}"
