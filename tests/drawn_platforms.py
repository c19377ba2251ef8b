"""Drawn platforms of zones of all kinds, as text and as areas with the routes that SimGrid's rules give them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, permutations
from typing import NamedTuple

from tests.route_rules import LOOPBACK, Area, Cabling, Fly, Leg, Tree, Wire, dijkstra, floyd, torus

Legs = dict[tuple[str, str], Sequence[Leg]]
Way = Callable[[int, int], list[Wire]]


class Drawn(NamedTuple):
    """A zone, its text, its hosts, and the points in it that may be gateways."""

    area: Area
    text: str
    hosts: Sequence[str]
    gateways: Sequence[str]


class Strand(NamedTuple):
    """A declared link, the same in both directions unless it is SPLITDUPLEX."""

    name: str
    up: Wire
    down: Wire


def _spokes(hosts: Iterable[str], way: Callable[[str, str], Sequence[Wire]]) -> Legs:
    """Return one leg for each pair."""
    return {(a, b): [Leg(a, way(a, b), b)] for a in hosts for b in hosts}


class Drawing:
    """Draws one platform; names are given in turn, and fat trees count the hosts of those before."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self._names = 0
        self._fat_hosts = 0

    def world(self, kind: str) -> Drawn:
        """Return a platform whose hosts are in one zone or some zones of this kind, or of all kinds if "nested"."""
        if kind == "nested":
            core = self.nest(2, list(KINDS))
        else:
            core = self.nest(1, [kind]) if self.rng.random() < 0.5 else KINDS[kind](self)
        master = '<zone id="cfg" routing="Full"><host id="master_host" speed="1Gf"/></zone>'
        way = '<link id="wire" bandwidth="1000GBps" latency="0" sharing_policy="FATPIPE"/>'
        way += f'<zoneRoute src="{core.area.name}" dst="cfg" gw_src="{core.gateways[0]}" gw_dst="master_host">'
        text = f'<zone id="all" routing="Full">{core.text}{master}{way}<link_ctn id="wire"/></zoneRoute></zone>'
        area = Area("all", (), [core.area], {}, {})
        return Drawn(area, f'<platform version="4.1">{text}</platform>', core.hosts, ())

    def nest(self, depth: int, kinds: Sequence[str]) -> Drawn:
        """Return a zone of zones of these kinds: at most so many levels of them."""
        name, draw = self._name(), self.rng
        routing = draw.choice(ROUTINGS)
        parts = [
            self.nest(depth - 1, kinds) if depth > 1 and draw.random() < 0.4 else KINDS[draw.choice(kinds)](self)
            for _ in range(draw.randint(2, 3 if depth > 1 or routing == "Full" else 5))
        ]
        own = {part.area.name: part for part in parts}
        # SimGrid crashes if a route passes through a zone by two gateways with Dijkstra: there is one for each zone.
        gates = {part.area.name: draw.choice(part.gateways) for part in parts if routing == "Dijkstra"}
        links, strands = self._links()
        ends = list(permutations(own, 2)) if routing == "Full" else self._edges(list(own))
        routes, text = dict[tuple[str, str], Leg](), ""
        for a, b in ends:
            gateways = [gates.get(end) or draw.choice(own[end].gateways) for end in (a, b)]
            text += self._route("zoneRoute", (a, b), gateways, strands, routes)
        bypasses = dict[tuple[str, str], Leg]()
        for _ in range(draw.choice([0, 2, 8])):
            sides = [draw.choice(_within(part.area)) for part in draw.sample(parts, 2)]
            gateways = [draw.choice([point for point in _points(side) if point in _doors(parts)]) for side in sides]
            text += self._route("bypassZoneRoute", (sides[0].name, sides[1].name), gateways, strands, bypasses)
        legs = _found(routing, routes, list(own))
        area = Area(name, (), [part.area for part in parts], legs, bypasses)
        body = "".join(part.text for part in parts)
        hosts = [host for part in parts for host in part.hosts]
        text = f'<zone id="{name}" routing="{routing}">{body}{links}{text}</zone>'
        return Drawn(area, text, hosts, _doors(parts))

    def points(self, routing: str) -> Drawn:
        """Return hosts and routers with declared routes; some have one to themselves, some are bypassed."""
        name, draw = self._name(), self.rng
        points = [f"{name}p{number}" for number in range(draw.randint(3, 7))]
        hosts = points if routing == "Full" else sorted(draw.sample(points, draw.randint(2, len(points))))
        links, strands = self._links()
        edges = [ends for ends in permutations(points, 2) if draw.random() < 0.8]
        if routing != "Full":
            edges = self._edges(points)
        edges += [(host, host) for host in hosts if draw.random() < 0.2]
        routes, bypasses, text = dict[tuple[str, str], Leg](), dict[tuple[str, str], Leg](), ""
        for ends in edges:
            text += self._route("route", ends, ends, strands, routes)
        for _ in range(draw.choice([0, 2])):
            ends = draw.choice(hosts), draw.choice(hosts)
            text += self._route("bypassRoute", ends, ends, strands, bypasses)
        draw.shuffle(points)
        legs = _found(routing, routes, points)
        body = "".join(_host(point) if point in hosts else f'<router id="{point}"/>' for point in points)
        text = f'<zone id="{name}" routing="{routing}">{body}{links}{text}</zone>'
        return Drawn(Area(name, points, (), legs, bypasses), text, hosts, points)

    def flat(self) -> Drawn:
        """Return a cluster without topology, with or without a backbone."""
        name, draw = self._name(), self.rng
        hosts, text, cabling = self._cluster(name, draw.randint(2, 6))
        router, middle = f"{name}r", list[Wire]()
        text += f' router_id="{router}"'
        if draw.random() < 0.6:
            middle = [Wire(f"{name} middle", self._speed(), self._latency(), shared=draw.random() < 0.5)]
            policy = "SHARED" if middle[0].shared else "FATPIPE"
            text += f' bb_bw="{middle[0].bandwidth}Bps" bb_lat="{middle[0].latency}s" bb_sharing_policy="{policy}"'

        def way(a: str, b: str) -> list[Wire]:
            if a == b and a != router and cabling.loopback:
                return cabling.own(hosts.index(a))
            out = [] if a == router else [*cabling.limit(hosts.index(a)), cabling.wire(a, up=True)]
            into = [] if b == router else [cabling.wire(b, up=False), *cabling.limit(hosts.index(b))]
            return list(dict.fromkeys([*out, *middle, *into]))

        area = Area(name, [*hosts, router], (), _spokes([*hosts, router], way), {})
        return Drawn(area, f"{text}/>", hosts, [hosts[0], router])

    def torus(self) -> Drawn:
        """Return a torus; one dimension may be of size 1."""
        sizes = [self.rng.randint(2, 5 - dimension) for dimension in range(self.rng.randint(1, 3))]
        if self.rng.random() < 0.2:
            sizes.insert(self.rng.randint(0, len(sizes)), 1)
        text = ",".join(map(str, sizes))
        return self._topology("TORUS", text, math.prod(sizes), lambda cables: lambda a, b: torus(sizes, cables, a, b))

    def fat_tree(self) -> Drawn:
        """Return a fat tree, without limiters if it has more switches than hosts: SimGrid stops at them."""
        levels = range(self.rng.randint(1, 3))
        down, up, cables = ([self.rng.randint(1, 3) for _ in levels] for _ in range(3))
        down[0] += 1
        tree, hosts = Tree(down, up, cables, self._fat_hosts), math.prod(down)
        self._fat_hosts += hosts
        switches = sum(math.prod(up[: level + 1]) * math.prod(down[level + 1 :]) for level in levels)
        text = ";".join([str(len(levels)), *(",".join(map(str, numbers)) for numbers in (down, up, cables))])
        return self._topology(
            "FAT_TREE", text, hosts, lambda cables: lambda a, b: tree.way(cables, a, b), limits=switches <= hosts
        )

    def dragonfly(self) -> Drawn:
        """Return a dragonfly, which has at most as many groups as blades."""
        blades = self.rng.randint(2, 3)
        blue, black, green = (self.rng.randint(1, 3) for _ in range(3))
        fly = Fly(
            self.rng.randint(1, blades), blue, self.rng.randint(1, 3), black, blades, green, self.rng.randint(1, 2)
        )
        text = "{},{};{},{};{},{};{}".format(*fly)
        hosts = fly.groups * fly.chassis * fly.blades * fly.nodes
        return self._topology("DRAGONFLY", text, hosts, lambda cables: lambda a, b: fly.way(cables, a, b))

    def cabinets(self) -> Drawn:
        """Return a zone of hosts with links of their own, cabinets, a router, and perhaps a backbone."""
        name, draw = self._name(), self.rng
        links, strands = self._links()
        ends: dict[str, tuple[list[Wire], list[Wire]]] = {}
        text, own = links, ""
        for number in range(draw.randint(1, 2)):
            host, (out, into) = f"{name}h{number}", (draw.choice(strands) for _ in range(2))
            ends[host] = [out.up], [into.down]
            names = [wire.name for wire in (out.up, into.down)]
            text += _host(host)
            own += f'<host_link id="{host}" up="{names[0]}" down="{names[1]}"/>'
        for letter in "cd"[: draw.randint(1, 2)]:
            speed, latency, count = self._speed(), self._latency(), draw.randint(1, 3)
            parts = f'prefix="{name}{letter}" suffix="x" radical="0-{count - 1}" speed="1Gf"'
            own += f'<cabinet id="{name}{letter}" {parts} bw="{speed}Bps" lat="{latency}s"/>'
            for host in (f"{name}{letter}{number}x" for number in range(count)):
                ends[host] = [Wire(f"{host} up", speed, latency)], [Wire(f"{host} down", speed, latency)]
        hosts, middle = list(ends), list[Wire]()
        ends[f"{name}r"] = [], []
        own += f'<router id="{name}r"/>'
        if draw.random() < 0.7:
            middle = [Wire(f"{name}b", self._speed(), self._latency())]
            own += f'<backbone id="{name}b" bandwidth="{middle[0].bandwidth}Bps" latency="{middle[0].latency}s"/>'

        def way(a: str, b: str) -> list[Wire]:
            wires = [*ends[a][0], *middle, *ends[b][1]]
            return list(dict.fromkeys(wires)) if a == b else wires

        area = Area(name, list(ends), (), _spokes(ends, way), {})
        return Drawn(area, f'<zone id="{name}" routing="Cluster">{text}{own}</zone>', hosts, [*hosts, f"{name}r"])

    def vivaldi(self) -> Drawn:
        """Return peers, or hosts and a router without links, at drawn coordinates."""
        name, draw = self._name(), self.rng
        places: dict[str, tuple[float, ...]] = {}
        ends: dict[str, tuple[list[Wire], list[Wire]]] = {}
        text, peers = "", draw.random() < 0.7
        for number in range(draw.randint(3, 5)):
            point = f"{name}v{number}"
            places[point] = tuple(round(draw.uniform(-20, 20), 2) for _ in range(3))
            attributes, ends[point] = f'id="{point}" coordinates="{" ".join(map(str, places[point]))}"', ([], [])
            if peers:
                out, into = Wire(f"{point} out", self._speed(), 0.0), Wire(f"{point} in", self._speed(), 0.0)
                ends[point] = [out], [into]
                text += f'<peer {attributes} speed="1Gf" bw_out="{out.bandwidth}Bps" bw_in="{into.bandwidth}Bps"/>'
            else:
                text += f'<host {attributes} speed="1Gf"/>' if number else f"<router {attributes}/>"

        def way(a: str, b: str) -> list[Wire]:
            (x1, y1, z1), (x2, y2, z2) = places[a], places[b]
            away = (math.sqrt((x1 - x2) ** 2 + (y1 - y2) ** 2) + abs(z1) + abs(z2)) / 1000
            return [*ends[a][0], *ends[b][1], Wire("distance", math.inf, away)]

        hosts = [point for number, point in enumerate(places) if peers or number]
        area = Area(name, list(places), (), _spokes(places, way), {})
        return Drawn(area, f'<zone id="{name}" routing="Vivaldi">{text}</zone>', hosts, list(places))

    def _topology(
        self, kind: str, parameters: str, count: int, way: Callable[[Cabling], Way], *, limits: bool = True
    ) -> Drawn:
        """Return a cluster of this topology."""
        name = self._name()
        hosts, text, cabling = self._cluster(name, count, limits=limits)
        between = way(cabling)
        text += f' topology="{kind}" topo_parameters="{parameters}"/>'
        place = {host: position for position, host in enumerate(hosts)}
        legs = _spokes(hosts, lambda a, b: (cabling.own(place[a]) if a == b else []) or between(place[a], place[b]))
        return Drawn(Area(name, hosts, (), legs, {}), text, hosts, hosts)

    def _cluster(self, name: str, count: int, *, limits: bool = True) -> tuple[list[str], str, Cabling]:
        """Return the hosts, the begin of the element, and what its links are made of."""
        draw = self.rng
        policy = draw.choice(["SPLITDUPLEX", "SPLITDUPLEX", "SHARED", "FATPIPE"])
        cabling = Cabling(
            *(name, self._speed(), self._latency(), policy == "SPLITDUPLEX"),
            self._speed() if limits and draw.random() < 0.3 else 0.0,
            *((self._speed(), self._latency()) if draw.random() < 0.3 else (0.0, 0.0)),
        )
        first = draw.randint(0, count)  # the radical need not ascend
        numbers = [*range(first, count), *range(first)]
        radical = ",".join(f"{part[0]}-{part[-1]}" for part in (range(first, count), range(first)) if part)
        text = f'<cluster id="{name}" prefix="{name}h" suffix="" radical="{radical}" speed="1Gf"'
        text += f' bw="{cabling.bandwidth}Bps" lat="{cabling.latency}s" sharing_policy="{policy}"'
        if cabling.limiter:
            text += f' limiter_link="{cabling.limiter}Bps"'
        if cabling.loopback:
            text += f' loopback_bw="{cabling.loopback}Bps" loopback_lat="{cabling.loopback_latency}s"'
        return [f"{name}h{number}" for number in numbers], text, cabling

    def _edges(self, points: Sequence[str]) -> list[tuple[str, str]]:
        """Return edges that connect all points, often by several shortest paths."""
        draw = self.rng
        edges = {(one, draw.choice(points[:number])): None for number, one in enumerate(points) if number}
        for _ in range(draw.randint(0, len(points))):
            edges.setdefault((draw.choice(points[:-1]), draw.choice(points[1:])))
        found = [(a, b) for a, b in edges if a != b]
        draw.shuffle(found)
        return found

    def _route(
        self,
        tag: str,
        ends: tuple[str, str],
        gateways: Sequence[str],
        strands: Sequence[Strand],
        routes: dict[tuple[str, str], Leg],
    ) -> str:
        """Return an element, after adding its route to the others; the way back is its reverse, another, or bypassed.

        Nothing is returned where there is a route already.
        """
        draw, (first, last) = self.rng, gateways
        if ends in routes:
            return ""
        crossed = [(draw.choice(strands), draw.random() < 0.5) for _ in range(draw.randint(1, 2))]
        routes[ends] = Leg(first, [one.up if up else one.down for one, up in crossed], last)
        attributes = f'src="{ends[0]}" dst="{ends[1]}"'
        inside = "".join(_crossing(one, up=up) for one, up in crossed)
        if ends != (first, last):
            attributes += f' gw_src="{first}" gw_dst="{last}"'
        if "bypass" in tag:
            return f"<{tag} {attributes}>{inside}</{tag}>"
        symmetrical = ends[0] != ends[1] and ends[::-1] not in routes and draw.random() < 0.6
        text = f'<{tag} {attributes} symmetrical="{"YES" if symmetrical else "NO"}">{inside}</{tag}>'
        if symmetrical:
            back = [one.down if up else one.up for one, up in reversed(crossed)]
            routes[ends[::-1]] = Leg(last, back, first)
            return text
        return text + self._route(tag, ends[::-1], [last, first], strands, routes)

    def _links(self) -> tuple[str, list[Strand]]:
        """Return links of all policies."""
        text, strands, prefix = "", list[Strand](), self._name()
        for number in range(self.rng.randint(3, 6)):
            name, policy = f"{prefix}l{number}", self.rng.choice(["SHARED", "SPLITDUPLEX", "FATPIPE"])
            wire = Wire(name, self._speed(), self._latency(), policy != "FATPIPE")
            halves = [wire._replace(name=f"{name}_{way}") for way in ("UP", "DOWN")]
            strands.append(Strand(name, *halves) if policy == "SPLITDUPLEX" else Strand(name, wire, wire))
            attributes = f'bandwidth="{wire.bandwidth}Bps" latency="{wire.latency}s" sharing_policy="{policy}"'
            text += f'<link id="{name}" {attributes}/>'
        return text, strands

    def _name(self) -> str:
        self._names += 1
        return f"z{self._names}"

    def _speed(self) -> float:
        return self.rng.choice([1e7, 2e7, 5e7, 1e8])

    def _latency(self) -> float:
        return self.rng.choice([0.0, 0.0001, 0.001, 0.003])


def _host(name: str) -> str:
    return f'<host id="{name}" speed="1Gf"/>'


def _crossing(strand: Strand, *, up: bool) -> str:
    way = "" if strand.up == strand.down else f' direction="{"UP" if up else "DOWN"}"'
    return f'<link_ctn id="{strand.name}"{way}/>'


def _found(routing: str, routes: dict[tuple[str, str], Leg], points: Sequence[str]) -> Legs:
    """Return the legs between all points, which are in the order of their declarations."""
    loops = {(point, point): [Leg(point, [LOOPBACK], point)] for point in points}
    if routing == "Full":
        missing = {(a, b): [Leg(a, [], b)] for a, b in permutations(points, 2)}
        return {**loops, **missing, **{ends: [leg] for ends, leg in routes.items()}}
    costs = {ends: len(leg.wires) for ends, leg in routes.items()}
    if routing == "Floyd":
        paths = floyd(costs, points)
    else:
        paths = {(a, b): path for a in points for b, path in dijkstra(costs, a).items() if a != b}
        paths |= {(a, a): [a, a] for a in points}
    steps = {ends: leg for ends, (leg,) in loops.items()} | routes
    return {ends: [steps[step] for step in pairwise(path)] for ends, path in paths.items() if path}


def _within(area: Area) -> list[Area]:
    """Return a zone and all in it."""
    return [area, *(inner for part in area.inside for inner in _within(part))]


def _points(area: Area) -> list[str]:
    return [point for inner in _within(area) for point in inner.points]


def _doors(parts: Iterable[Drawn]) -> list[str]:
    return [gateway for part in parts for gateway in part.gateways]


ROUTINGS = ("Full", "Floyd", "Dijkstra")
#: Kind of zone -> a method that draws it.
KINDS: dict[str, Callable[[Drawing], Drawn]] = {
    "Full": lambda drawing: drawing.points("Full"),
    "Floyd": lambda drawing: drawing.points("Floyd"),
    "Dijkstra": lambda drawing: drawing.points("Dijkstra"),
    "flat": Drawing.flat,
    "torus": Drawing.torus,
    "fat tree": Drawing.fat_tree,
    "dragonfly": Drawing.dragonfly,
    "cabinets": Drawing.cabinets,
    "vivaldi": Drawing.vivaldi,
}
