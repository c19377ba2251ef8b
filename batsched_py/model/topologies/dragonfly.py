"""Dragonflies: groups of chassis of blades, all connected with each other (Kim et al. 2008)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

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

# A `Cable` is the number of one of (position, True if up) of hosts, or behind these of (group, chassis, blade, next
# blade) of green cables, (group, blade, chassis, next chassis) of black ones, (group, next group) of blue ones.

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
        yield self.link(2 * source + 1, cables)
        if here != target:
            yield from self._between_routers(here, target, cables)
        yield from cables.limiter(_name(target))
        yield self.link(2 * destination, cables)
        yield from cables.limiter(f"h{destination}")

    def crossings(self, positions: Sequence[int]) -> Crossings:
        """Count the crossings of an exchange, group by group, for all that crosses a cable at once."""
        others = len(positions) - 1
        pairs: dict[Cable, int] = defaultdict(int)
        pairs.update(dict.fromkeys([cable for position in positions for cable in _ends(position)], others))
        #: Group -> (chassis, blade) -> number of hosts.
        groups = defaultdict[int, dict[tuple[int, int], int]](dict)
        for number, hosts in Counter([position // self.nodes for position in positions]).items():
            group, chassis, blade = self._place(number)
            groups[group][chassis, blade] = hosts
        sizes = {group: sum(routers.values()) for group, routers in groups.items()}
        high = {group: {blade for chassis, blade in routers if chassis} for group, routers in groups.items()}
        longest = 0
        for group, routers in groups.items():
            self._count_within(group, routers, len(positions), pairs)
            longest = max(longest, _longest_within(routers, high[group]))
            for other, there in sizes.items():
                if other != group:
                    pairs[self._blue(group, other)] = sizes[group] * there
                    self._count_between(group, routers, (other, there), pairs)
                    leaving = _longest_to(routers, high[group], other)
                    longest = max(longest, leaving + 1 + _longest_to(groups[other], high[other], group))
        return Crossings(pairs, longest + 2)

    def link(self, cable: Cable, cables: Cables) -> Link:
        """Return the link of a cable in one direction; both have a name with the smaller number first."""
        if cable < 2 * self.hosts:
            return cables.cable(f"h{cable // 2}", up=bool(cable % 2))
        if cable < self._first_black:
            row, there = divmod(cable - 2 * self.hosts, self.blades)
            row, here = divmod(row, self.blades)
            return self._joined(cables, "green{}.{}:".format(*divmod(row, self.chassis)), (here, there), self.green)
        if cable < self._first_blue:
            row, there = divmod(cable - self._first_black, self.chassis)
            row, here = divmod(row, self.chassis)
            return self._joined(cables, "black{}.{}:".format(*divmod(row, self.blades)), (here, there), self.black)
        return self._joined(cables, "blue", divmod(cable - self._first_blue, self.groups), self.blue)

    def _joined(self, cables: Cables, place: str, ends: tuple[int, int], count: int) -> Link:
        here, there = ends
        return cables.cable(f"{place}{min(ends)}-{max(ends)}", up=here < there, count=count)

    def _green(self, group: int, chassis: int, blade: int, to_blade: int) -> Cable:
        row = (group * self.chassis + chassis) * self.blades + blade
        return 2 * self.hosts + row * self.blades + to_blade

    @property
    def _first_black(self) -> Cable:
        return 2 * self.hosts + self.groups * self.chassis * self.blades * self.blades

    def _black(self, group: int, blade: int, chassis: int, to_chassis: int) -> Cable:
        row = (group * self.blades + blade) * self.chassis + chassis
        return self._first_black + row * self.chassis + to_chassis

    @property
    def _first_blue(self) -> Cable:
        return self._first_black + self.groups * self.blades * self.chassis * self.chassis

    def _blue(self, group: int, to_group: int) -> Cable:
        return self._first_blue + group * self.groups + to_group

    def _count_within(
        self, group: int, routers: Mapping[tuple[int, int], int], everywhere: int, pairs: dict[Cable, int]
    ) -> None:
        """Count the crossings between the routers of a group, and of the black cables from all others to their targets.

        `everywhere` is the number of hosts of the exchange.
        """
        blades = defaultdict[int, int](int)
        for (_, blade), hosts in routers.items():
            blades[blade] += hosts
        green, black, many = self._green(group, 0, 0, 0), self._black(group, 0, 0, 0), self.chassis
        for (chassis, blade), hosts in routers.items():
            row = green + (chassis * self.blades + blade) * self.blades
            for to_blade, targets in blades.items():
                if to_blade != blade:
                    pairs[row + to_blade] += hosts * targets
            row = black + (blade * many + chassis) * many
            for to_chassis in range(many):
                if to_chassis != chassis and (targets := routers.get((to_chassis, blade), 0)):
                    pairs[row + to_chassis] += hosts * targets
            if chassis != 0 and everywhere > blades[blade]:  # from other blades, which believe to be in chassis 0
                pairs[black + blade * many * many + chassis] += hosts * (everywhere - blades[blade])

    def _count_between(
        self, group: int, routers: Mapping[tuple[int, int], int], other: tuple[int, int], pairs: dict[Cable, int]
    ) -> None:
        """Count the crossings in a group of what it exchanges with another one; `other` is that and its hosts."""
        gate, there = other
        to_gate, blades = self._green(group, 0, 0, gate), dict[int, int]()
        chassis_hosts: dict[int, int] = {}
        for (chassis, blade), hosts in routers.items():
            if blade != gate:
                pairs[to_gate + (chassis * self.blades + blade) * self.blades] += hosts * there
                blades[blade] = blades.get(blade, 0) + hosts
            if chassis != 0:
                chassis_hosts[chassis] = chassis_hosts.get(chassis, 0) + hosts
        for chassis, hosts in chassis_hosts.items():
            pairs[self._black(group, gate, chassis, 0)] += hosts * there
        row = self._green(group, 0, gate, 0)
        for blade, hosts in blades.items():
            pairs[row + blade] += hosts * there

    def _between_routers(self, here: _Router, target: _Router, cables: Cables) -> Iterator[Link]:
        group, chassis, blade = here
        if target[0] != group:
            if blade != target[0]:
                yield from cables.limiter(_name((group, chassis, blade)))
                yield self.link(self._green(group, chassis, blade, target[0]), cables)
                blade = target[0]
            if chassis != 0:
                yield from cables.limiter(_name((group, chassis, blade)))
                yield self.link(self._black(group, blade, chassis, 0), cables)
            yield from cables.limiter(_name((group, 0, target[0])))
            yield self.link(self._blue(group, target[0]), cables)
            group, chassis, blade = target[0], 0, group
        if blade != target[2]:
            yield from cables.limiter(_name((group, chassis, blade)))
            yield self.link(self._green(group, chassis, blade, target[2]), cables)
            chassis, blade = 0, target[2]  # so SimGrid believes
        if chassis != target[1]:
            yield from cables.limiter(_name((group, chassis, blade)))
            yield self.link(self._black(group, blade, chassis, target[1]), cables)

    def _router(self, position: int) -> _Router:
        return self._place(position // self.nodes)

    def _place(self, router: int) -> _Router:
        rest, blade = divmod(router, self.blades)
        group, chassis = divmod(rest, self.chassis)
        return group, chassis, blade


def _ends(position: int) -> tuple[Cable, Cable]:
    return 2 * position + 1, 2 * position


def _longest_within(routers: Mapping[tuple[int, int], int], high: Set[int]) -> int:
    """Return the largest number of links between two routers of a group, each of which is a chassis and a blade.

    `high` has the blades of those in other chassis than 0.
    """
    if high and len({blade for _, blade in routers}) > 1:
        return 2
    return int(len(routers) > 1)


def _longest_to(routers: Mapping[tuple[int, int], int], high: Set[int], gate: int) -> int:
    """Return the largest number of links between routers of a group and a blade of chassis 0."""
    if len(high) > 1 or (high and gate not in high):
        return 2
    return int(len(routers) > 1 or (0, gate) not in routers)


def _name(router: _Router) -> str:
    return f"r{router[0]}.{router[1]}.{router[2]}"
