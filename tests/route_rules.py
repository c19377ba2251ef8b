"""Routes by the rules that recordings of SimGrid 3.32 show, found naively and without the simulator's own routing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Wire(NamedTuple):
    """A link, or one direction of it; a distance without a link has an infinite bandwidth."""

    name: str
    bandwidth: float
    latency: float
    shared: bool = True


#: The loopback that all hosts of Full, Floyd and Dijkstra zones have in common.
LOOPBACK = Wire("__loopback__", 10e9, 0.0, shared=False)


class Cabling(NamedTuple):
    """The wires of a cluster with a topology; a limiter or loopback of 0 bytes per second is none."""

    cluster: str
    bandwidth: float
    latency: float
    splits: bool
    limiter: float
    loopback: float
    loopback_latency: float

    def wire(self, name: str, *, up: bool, count: int = 1) -> Wire:
        """Return one direction of a cable, if it has two."""
        way = ("up" if up else "down") if self.splits else "both"
        return Wire(f"{self.cluster} {name} {way}", self.bandwidth * count, self.latency)

    def limit(self, node: object) -> list[Wire]:
        """Return the limiter of a node, if there is one."""
        return [Wire(f"{self.cluster} limits {node}", self.limiter, 0.0)] if self.limiter else []

    def own(self, host: int) -> list[Wire]:
        """Return the loopback of a host, if there is one."""
        wire = Wire(f"{self.cluster} loops {host}", self.loopback, self.loopback_latency, shared=False)
        return [wire] if self.loopback else []


def torus(sizes: Sequence[int], cabling: Cabling, source: int, target: int) -> list[Wire]:
    """Dimension after dimension; the way round depends on the coordinate of the source."""
    strides = [math.prod(sizes[:dimension]) for dimension in range(len(sizes))]
    place, goal = (
        [end // stride % size for stride, size in zip(strides, sizes, strict=True)] for end in (source, target)
    )
    wires, here = [], source
    for dimension, size in enumerate(sizes):
        x, y, half = place[dimension], goal[dimension], size // 2
        ahead = x < y <= x + half or (x > half and (x + half) % size >= y)
        while place[dimension] != y:
            place[dimension] = (place[dimension] + (1 if ahead else -1)) % size
            there = sum(one * stride for one, stride in zip(place, strides, strict=True))
            wires += [*cabling.limit(here), cabling.wire(f"{here if ahead else there} in {dimension}", up=ahead)]
            here = there
    return [*wires, *cabling.limit(target)]


class Tree(NamedTuple):
    """A fat tree: children, parents and cables of each level, and the number of hosts in fat trees before it."""

    down: Sequence[int]
    up: Sequence[int]
    cables: Sequence[int]
    before: int

    def way(self, cabling: Cabling, source: int, target: int) -> list[Wire]:
        """Up as the number of the target says, down by the ports that the number of the source begins with."""
        node, goal = (
            [end // math.prod(self.down[:level]) % size for level, size in enumerate(self.down)]
            for end in (source, target)
        )
        level, wires = 0, cabling.limit((0, node))
        while level == 0 or node[level:] != goal[level:]:
            choice = (target + self.before) // math.prod(self.up[:level]) % (self.up[level] * self.cables[level])
            cable, parent = divmod(choice, self.up[level])
            wires.append(cabling.wire(f"{level} {node} {parent} {cable}", up=True))
            node[level] = parent
            level += 1
            wires += cabling.limit((level, node))
        port = 0
        while level > 0:
            level -= 1
            size, ports = self.down[level], self.down[level] * self.cables[level]
            start = (source + self.before) % self.cables[level] * size
            tried = [*range(port or start, ports), *range(start, ports)]
            port = next(one for one in tried if one % size == goal[level])
            cable, parent, node[level] = port // size, node[level], goal[level]
            wires += [cabling.wire(f"{level} {node} {parent} {cable}", up=False), *cabling.limit((level, node))]
            port += 1
        return wires


class Fly(NamedTuple):
    """A dragonfly: numbers of groups, chassis, blades and nodes, and of cables side by side."""

    groups: int
    blue: int
    chassis: int
    black: int
    blades: int
    green: int
    nodes: int

    def way(self, cabling: Cabling, source: int, target: int) -> list[Wire]:
        """Between routers by `hops`; all limiters of nodes that are left, as far as SimGrid knows where it is."""
        wires = [*cabling.limit(f"host {source}"), cabling.wire(f"host {source}", up=True)]
        for here, there, count in self.hops(self.router(source), self.router(target)):
            cable = f"{min(here, there)} {max(here, there)}"
            wires += [*cabling.limit(here), cabling.wire(cable, up=here < there, count=count)]
        wires += [*cabling.limit(self.router(target)), cabling.wire(f"host {target}", up=False)]
        return [*wires, *cabling.limit(f"host {target}")]

    def router(self, host: int) -> tuple[int, int, int]:
        """Return the group, chassis and blade of a host."""
        blade, chassis = host // self.nodes, host // self.nodes // self.blades
        return chassis // self.chassis, chassis % self.chassis, blade % self.blades

    def hops(
        self, here: tuple[int, int, int], target: tuple[int, int, int]
    ) -> list[tuple[tuple[int, int, int], tuple[int, int, int], int]]:
        """Return (router, next router, cables); after a hop between blades it takes itself to be in chassis 0."""
        group, chassis, blade = here
        hops = []
        if group != target[0]:
            gate = target[0]
            if blade != gate:
                hops.append((here, (group, chassis, gate), self.green))
            if chassis:
                hops.append(((group, chassis, gate), (group, 0, gate), self.black))
            hops.append(((group, 0, gate), (gate, 0, group), self.blue))
            group, chassis, blade = gate, 0, group
        if blade != target[2]:
            hops.append(((group, chassis, blade), (group, chassis, target[2]), self.green))
            chassis = 0
        if chassis != target[1]:
            hops.append(((group, chassis, target[2]), target, self.black))
        return hops


#: (source, destination) of a declared route -> its number of links, in the order of declarations.
Costs = Mapping[tuple[str, str], int]


def floyd(costs: Costs, order: Sequence[str]) -> dict[tuple[str, str], list[str] | None]:
    """Return the points on the path of each pair, with one more intermediate point at a time; None without a path."""
    costs = {(a, a): 1 for a in order} | dict(costs)
    cost = {(a, b): costs.get((a, b), math.inf) for a in order for b in order}
    last = {(a, b): a for a, b in costs}
    for c in order:
        for a in order:
            for b in order:
                if cost[a, c] + cost[c, b] < cost[a, b]:
                    cost[a, b], last[a, b] = cost[a, c] + cost[c, b], last[c, b]
    found: dict[tuple[str, str], list[str] | None] = {}
    for (a, b), links in cost.items():
        path = [b]
        while math.isfinite(links) and (len(path) == 1 or path[0] != a):
            path.insert(0, last[a, path[0]])
        found[a, b] = path if len(path) > 1 else None
    return found


def dijkstra(costs: Costs, source: str) -> dict[str, list[str]]:
    """Return the points on the path to each point that is reached.

    Of the points that wait, the cheapest is next, and of equal ones that which a route names first.
    """
    waiting = list(dict.fromkeys(point for ends in costs for point in ends))
    cost, paths = {source: 0}, {source: [source]}
    while reached := [point for point in waiting if point in cost]:
        here = min(reached, key=cost.__getitem__)
        waiting.remove(here)
        for (a, b), links in costs.items():
            if a == here and cost[here] + links < cost.get(b, math.inf):
                cost[b], paths[b] = cost[here] + links, [*paths[here], b]
    return paths


class Leg(NamedTuple):
    """A route between two points of a zone, between the gateways `first` and `last` if the points are zones."""

    first: str
    wires: Sequence[Wire]
    last: str


class Area(NamedTuple):
    """A zone.

    Attributes:
        points: its hosts and routers, none of which is in an area inside it.
        inside: the zones in it.
        legs: from one point, or zone in it, to another -> the route.
        bypasses: (from, to) -> the route instead.
    """

    name: str
    points: Sequence[str]
    inside: Sequence[Area]
    legs: Mapping[tuple[str, str], Sequence[Leg]]
    bypasses: Mapping[tuple[str, str], Leg]

    def around(self, point: str) -> list[Area]:
        """Return the zones around a point from this one inwards, none if it is elsewhere."""
        inner = [found for area in self.inside for found in area.around(point)]
        return [self, *inner] if inner or point in self.points else []


def route(world: Area, source: str, target: str) -> list[Wire]:
    """Return the wires from one host or router to another, from gateway to gateway."""
    up, down = world.around(source), world.around(target)
    while len(up) > 1 and len(down) > 1 and up[1] is down[1]:
        up, down = up[1:], down[1:]
    zone, starts, ends = up[0], up[:0:-1], down[:0:-1]
    legs = zone.legs.get((source, target), ())
    bypasses = [(source, target)]
    if starts:
        legs = zone.legs[starts[-1].name, ends[-1].name]
        pairs = ((max(i, k), min(i, k), i, k) for i in range(len(starts)) for k in range(len(ends)))
        bypasses = [(starts[i].name, ends[k].name) for _, _, i, k in sorted(pairs)]
    legs = next(([zone.bypasses[pair]] for pair in bypasses if pair in zone.bypasses), legs)
    here, wires = source, list[Wire]()
    for leg in legs:
        wires += route(world, here, leg.first) if here != leg.first else []
        wires += leg.wires
        here = leg.last
    return wires + (route(world, here, target) if legs and here != target else [])
