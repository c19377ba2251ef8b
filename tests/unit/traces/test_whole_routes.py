"""Routes across zones of all kinds, link by link, against what is known from how the platform was drawn."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from batsched_py.traces.simgrid_xml import read_platform

#: Names of links from one point to another.
Links = list[str]
Between = Callable[[str, str], Links]


class Zone(NamedTuple):
    """A drawn zone: its name, its element, its hosts, points that may be gateways, and the links between points."""

    name: str
    element: str
    hosts: Sequence[str]
    gateways: Sequence[str]
    between: Between


def cluster(name: str, count: int, more: str) -> str:
    """Return a cluster with these further attributes."""
    hosts = f'prefix="{name}h" suffix="" radical="0-{count - 1}" speed="1Gf"'
    return f'<cluster id="{name}" {hosts} bw="1MBps" lat="1us" {more}/>'


def link(name: str, policy: str = "SHARED") -> str:
    """Return a link."""
    return f'<link id="{name}" bandwidth="1MBps" latency="1us" sharing_policy="{policy}"/>'


def full(rng: random.Random, name: str) -> Zone:
    """All pairs have a route of one or two links; some differ on the way back, some are bypassed in one direction."""
    hosts = [f"{name}h{number}" for number in range(rng.randint(2, 4))]
    links = [f"{name}l{number}" for number in range(5)]
    table: dict[tuple[str, str], Links] = {(host, host): ["__loopback__"] for host in hosts}
    routes, bypasses = "", ""
    for position, a in enumerate(hosts):
        for b in hosts[position + 1 :]:
            there, back = (rng.sample(links, rng.randint(1, 2)) for _ in range(2))
            symmetrical = rng.random() < 0.5
            table[a, b], table[b, a] = there, there[::-1] if symmetrical else back
            ends = [(a, b, there, "YES")] if symmetrical else [(a, b, there, "NO"), (b, a, back, "NO")]
            for source, target, crossed, answer in ends:
                inside = "".join(f'<link_ctn id="{one}"/>' for one in crossed)
                routes += f'<route src="{source}" dst="{target}" symmetrical="{answer}">{inside}</route>'
            if rng.random() < 0.3:
                table[a, b] = [rng.choice(links)]
                bypasses += f'<bypassRoute src="{a}" dst="{b}"><link_ctn id="{table[a, b][0]}"/></bypassRoute>'
    body = "".join(f'<host id="{host}" speed="1Gf"/>' for host in hosts) + "".join(map(link, links))
    element = f'<zone id="{name}" routing="Full">{body}{routes}{bypasses}</zone>'
    return Zone(name, element, hosts, hosts, lambda a, b: table[a, b])


def graph(rng: random.Random, name: str, routing: str) -> Zone:
    """Hosts and routers: a tree, of which paths are known; for Floyd also a ring of an odd number of points."""
    points = [f"{name}p{number}" for number in range(rng.choice([3, 5]))]
    ring = routing == "Floyd" and rng.random() < 0.5
    edges = [(one, points[rng.randrange(number)]) for number, one in enumerate(points) if number]
    if ring:
        edges = [(one, points[number - 1]) for number, one in enumerate(points)]
    ways = {ends: f"{name}l{number}" for number, ends in enumerate(edges)}
    ways |= {(b, a): crossed for (a, b), crossed in ways.items()}
    rng.shuffle(points)
    hosts = points[:2]
    kinds = {point: "host" if point in hosts else "router" for point in points}
    speeds = {"host": ' speed="1Gf"', "router": ""}
    body = "".join(f'<{kinds[point]} id="{point}"{speeds[kinds[point]]}/>' for point in points)
    body += "".join(link(f"{name}l{number}") for number in range(len(edges)))
    routes = "".join(f'<route src="{a}" dst="{b}"><link_ctn id="{ways[a, b]}"/></route>' for a, b in edges)

    def between(a: str, b: str) -> Links:
        if a == b:
            return ["__loopback__"]
        found: list[list[str]] = [[a]]
        while True:  # by the number of links
            path = found.pop(0)
            if path[-1] == b:
                return [ways[one, other] for one, other in pairwise(path)]
            found += [[*path, other] for one, other in ways if one == path[-1] and other not in path]

    element = f'<zone id="{name}" routing="{routing}">{body}{routes}</zone>'
    return Zone(name, element, sorted(hosts), sorted(hosts), between)


def flat(rng: random.Random, name: str) -> Zone:
    """A cluster with links up and down, with or without a backbone; its gateway is its router."""
    count, backbone = rng.randint(2, 4), rng.random() < 0.5
    more = ' bb_bw="1MBps" bb_lat="1us"' if backbone else ""
    hosts = [f"{name}h{number}" for number in range(count)]
    element = cluster(name, count, more)
    router, middle = f"{name}h{name}_router", [f"{name}_backbone"] if backbone else []

    def between(a: str, b: str) -> Links:
        out = [] if a == router else [f"{name}_link_{a.removeprefix(f'{name}h')}_UP"]
        into = [] if b == router else [f"{name}_link_{b.removeprefix(f'{name}h')}_DOWN"]
        return [*out, *middle, *into]

    return Zone(name, element, hosts, [router], between)


def ring(rng: random.Random, name: str) -> Zone:
    """A torus of one dimension and an odd number of hosts, so that there is one shorter way round."""
    count = rng.choice([3, 5])
    hosts = [f"{name}h{number}" for number in range(count)]
    shape = f'topology="TORUS" topo_parameters="{count}"'
    element = cluster(name, count, shape)

    def between(a: str, b: str) -> Links:
        here, there = hosts.index(a), hosts.index(b)
        ahead = (there - here) % count
        if ahead <= count // 2:
            return [f"{name}_topology_{(here + step) % count}_0_UP" for step in range(ahead)]
        return [f"{name}_topology_{(here - step - 1) % count}_0_DOWN" for step in range(count - ahead)]

    return Zone(name, element, hosts, hosts, between)


KINDS: list[Callable[[random.Random, str], Zone]] = [
    full,
    lambda rng, name: graph(rng, name, "Floyd"),
    lambda rng, name: graph(rng, name, "Dijkstra"),
    flat,
    ring,
]


@pytest.mark.parametrize("seed", range(40))
def test_a_route_is_that_of_its_parts(seed: int, tmp_path: Path) -> None:
    """To the gateway, between the zones, and on; between all hosts, in both directions."""
    rng = random.Random(seed)
    zones = [KINDS[(seed + number) % len(KINDS)](rng, "abcd"[number]) for number in range(rng.randint(2, 4))]
    gateways: dict[tuple[str, str], tuple[str, Links, str]] = {}
    links, routes = "", ""
    for position, left in enumerate(zones):
        for right in zones[position + 1 :]:
            own = f"{left.name}{right.name}"
            ends = rng.choice(left.gateways), rng.choice(right.gateways)
            links += link(own, "SPLITDUPLEX")
            gateways[left.name, right.name] = ends[0], [f"{own}_UP"], ends[1]
            gateways[right.name, left.name] = ends[1], [f"{own}_DOWN"], ends[0]
            inside = f'<link_ctn id="{own}" direction="UP"/>'
            zones_of_route = f'src="{left.name}" dst="{right.name}" gw_src="{ends[0]}" gw_dst="{ends[1]}"'
            routes += f"<zoneRoute {zones_of_route}>{inside}</zoneRoute>"
    body = "".join(zone.element for zone in zones)
    path = tmp_path / "platform.xml"
    path.write_text(f'<platform version="4.1"><zone id="all" routing="Full">{body}{links}{routes}</zone></platform>')
    platform = read_platform(path)
    for left in zones:
        for right in zones:
            for a in left.hosts:
                for b in right.hosts:
                    if left is right:
                        expected = left.between(a, b)
                    else:
                        out, middle, into = gateways[left.name, right.name]
                        first = [] if a == out else left.between(a, out)
                        last = [] if b == into else right.between(into, b)
                        expected = [*first, *middle, *last]
                    route = platform.route(a, b)
                    assert [one.name for one in route.links] == expected, (a, b)
                    latency = 1e-6 * sum(one != "__loopback__" for one in expected)
                    assert math.isclose(route.latency, latency, abs_tol=1e-12)
