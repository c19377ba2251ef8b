"""Routes in tori, fat trees and dragonflies, hop by hop, against other ways to find them."""

from __future__ import annotations

import random
from collections import Counter, deque

import pytest

from batsched_py.model.topologies.cables import Cables
from batsched_py.model.topologies.cluster import Topology, TopologyZone
from batsched_py.model.topologies.dragonfly import Dragonfly
from batsched_py.model.topologies.fat_tree import FatTree
from batsched_py.model.topologies.torus import Torus
from tests.thoroughness import thorough

CABLES = Cables("c_", 1e8, 1e-3)
LIMITED = Cables("c_", 1e8, 1e-3, limiter_bandwidth=5e7, loopback_bandwidth=1e9)


def hops(topology: Topology, source: int, destination: int) -> int:
    """Return the number of links."""
    return len(list(topology.way(source, destination, CABLES)))


def random_topologies(seed: int) -> list[Topology]:
    """Return one of each kind."""
    draw = random.Random(seed)
    levels = draw.randint(1, 3)
    children, parents, parallel = (tuple(draw.randint(1, 3) for _ in range(levels)) for _ in range(3))
    blades = draw.randint(2, 4)
    return [
        Torus(tuple(draw.randint(2, 5) for _ in range(draw.randint(1, 3)))),
        FatTree(children, parents, parallel, draw.randint(0, 9)),
        Dragonfly(draw.randint(1, blades), 2, draw.randint(1, 3), 3, blades, 4, draw.randint(1, 2)),
    ]


def torus_distances(torus: Torus, source: int) -> list[int]:
    """Return the fewest hops from a host to each, found by breadth."""
    distances = {source: 0}
    waiting = deque([source])
    while waiting:
        here, stride = waiting.popleft(), 1
        for size in torus.sizes:
            place = here // stride % size
            for step in (1, -1):
                there = here + ((place + step) % size - place) * stride
                if there not in distances:
                    distances[there] = distances[here] + 1
                    waiting.append(there)
            stride *= size
    return [distances[host] for host in range(torus.hosts)]


@pytest.mark.parametrize("seed", range(20))
def test_ways_in_a_torus_are_shortest(seed: int) -> None:
    """Whichever way round is taken."""
    torus = random_topologies(seed)[0]
    assert isinstance(torus, Torus)
    for source in range(torus.hosts):
        assert [hops(torus, source, host) for host in range(torus.hosts)] == torus_distances(torus, source)


@pytest.mark.parametrize("seed", range(20))
def test_ways_in_a_fat_tree_go_up_to_the_first_common_switch(seed: int) -> None:
    """And as far down."""
    tree = random_topologies(seed)[1]
    assert isinstance(tree, FatTree)
    for source in range(tree.hosts):
        for destination in range(tree.hosts):
            level, below = 1, tree.children[0]
            while source // below != destination // below:
                below *= tree.children[level]
                level += 1
            links = [link.name for link in tree.way(source, destination, CABLES)]
            assert len(links) == 2 * level
            assert [name.endswith("_UP") for name in links] == [True] * level + [False] * level


@pytest.mark.parametrize("seed", range(20))
def test_ways_in_a_dragonfly_are_at_most_one_hop_of_each_kind_longer(seed: int) -> None:
    """Two links of hosts, at most two green and two black ones, and a blue one between groups."""
    fly = random_topologies(seed)[2]
    assert isinstance(fly, Dragonfly)
    group = fly.hosts // fly.groups
    for source in range(fly.hosts):
        for destination in range(fly.hosts):
            names = [link.name for link in fly.way(source, destination, CABLES)]
            assert [names[0], names[-1]] == [f"c_h{source}_UP", f"c_h{destination}_DOWN"]
            assert sum("blue" in name for name in names) == (source // group != destination // group)
            assert sum("green" in name for name in names) <= 2
            assert sum("black" in name for name in names) <= 2


@pytest.mark.parametrize("seed", range(10))
def test_limiters_are_crossed_at_both_ends_and_loopbacks_alone(seed: int) -> None:
    """A route to itself is the loopback."""
    for topology in random_topologies(seed):
        zone = TopologyZone("c", "", {str(host): host for host in range(topology.hosts)}, topology, LIMITED)
        (own,) = zone.segments("0", "0") or ()
        assert [link.name for link in own.links] == ["c_0_loopback"]
        if topology.hosts > 1:
            (segment,) = zone.segments("0", str(topology.hosts - 1)) or ()
            assert [segment.links[0].bandwidth, segment.links[-1].bandwidth] == [5e7, 5e7]


def test_cables_side_by_side_are_one_link() -> None:
    """With the sum of their bandwidths, in a dragonfly."""
    fly = Dragonfly(2, 5, 1, 1, 2, 1, 1)
    assert max(link.bandwidth for link in fly.way(0, 3, CABLES)) == 5e8


@pytest.mark.parametrize("seed", range(thorough(30)))
def test_crossings_of_an_exchange_are_those_of_the_ways_of_its_pairs(seed: int) -> None:
    """Cable by cable, and the longest way."""
    draw = random.Random(seed)
    for topology in random_topologies(seed):
        if topology.hosts < 2:
            continue
        positions = draw.sample(range(topology.hosts), draw.randint(2, min(topology.hosts, 20)))
        ways = [list(topology.way(one, other, CABLES)) for one in positions for other in positions if one != other]
        crossed = topology.crossings(positions)
        pairs = Counter[str]()
        for cable, times in crossed.pairs.items():
            pairs[topology.link(cable, CABLES).name] += times
        assert pairs == Counter(link.name for way in ways for link in way)
        assert crossed.longest == max(map(len, ways))
