"""Layouts of hosts in networks, against naive definitions."""

from __future__ import annotations

import math
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.bits import bits_of
from batsched_py.errors import OptionError
from batsched_py.hostset import HostSet
from batsched_py.planning.policies.geometry import TorusBalls, along, blocks_of, near_in_blocks, read_network
from batsched_py.planning.policies.selection import SELECTIONS, HostLayout
from tests.unit.planning.policies.test_selection import Computer

SIZES = st.sampled_from([(7,), (4, 3), (5, 1, 3), (3, 2, 2), (2, 2, 2, 2), (6, 4)])
#: Networks of 24 hosts.
NETWORKS = ("fat-tree:2;4,6;1,2;1,1", "fat-tree:3;2,3,4;1,1,1;1,1,1", "dragonfly:2,1;2,1;3,1;2", "torus:4,3,2")


def torus_distance(sizes: tuple[int, ...], one: int, other: int) -> int:
    """Number of links between two hosts: the shorter way round in each dimension."""
    links = 0
    for size in sizes:
        one, here = divmod(one, size)
        other, there = divmod(other, size)
        links += min(abs(here - there), size - abs(here - there))
    return links


@given(st.data(), SIZES)
def test_near_in_a_torus_has_the_shortest_distances_to_a_centre(data: st.DataObject, sizes: tuple[int, ...]) -> None:
    """As sorting hosts by distance from each free host; of equal centres the one with the fewest near it."""
    hosts = math.prod(sizes)
    free = data.draw(st.integers(0, (1 << hosts) - 1).map(HostSet))
    size = data.draw(st.integers(1, hosts))
    chosen = TorusBalls(sizes).near(free.bits, size)
    if size > len(free):
        assert chosen is None
        return
    choices = []
    for centre in free:
        near = sorted((torus_distance(sizes, centre, host), host) for host in free)
        room = sum(distance <= near[size - 1][0] + 1 for distance, _ in near)
        total = sum(distance for distance, _ in near[:size])
        choices.append((total, room, centre, bits_of(host for _, host in near[:size])))
    assert chosen == min(choices)[3]


@pytest.mark.parametrize("text", NETWORKS)
@given(st.data())
def test_near_in_blocks_has_the_shortest_distances_to_a_centre(text: str, data: st.DataObject) -> None:
    """The distance is the number of levels of blocks that two hosts do not share; no centre has a smaller total."""
    network = read_network(text, 24)
    free = data.draw(st.integers(0, (1 << 24) - 1).map(HostSet))
    size = data.draw(st.integers(1, 24))
    chosen = near_in_blocks(free.bits, size, blocks_of(network))
    if size > len(free):
        assert chosen is None
        return

    def total(some: HostSet) -> int:
        """The least sum of distances from a host to these, of which it may be one."""
        return min(
            sum(sum(host // block != centre // block for block in network.blocks) for host in some) for centre in free
        )

    hosts = HostSet(chosen or 0)
    assert hosts <= free
    assert len(hosts) == size
    best = min(
        sum(sorted(sum(host // block != centre // block for block in network.blocks) for host in free)[:size])
        for centre in free
    )
    assert total(hosts) == best


def test_near_in_blocks_leaves_larger_blocks_whole() -> None:
    """The switch with the fewest free hosts that suffice is used; what is left of a job goes to few others."""
    blocks = blocks_of(read_network("fat-tree:2;4,6;1,2;1,1", 24))
    free = HostSet.parse("0-3 4-6 8-11 12 20-21")
    assert HostSet(near_in_blocks(free.bits, 3, blocks) or 0) == HostSet.parse("4-6")
    assert HostSet(near_in_blocks(free.bits, 2, blocks) or 0) == HostSet.parse("20-21")
    assert HostSet(near_in_blocks(free.bits, 6, blocks) or 0) == HostSet.parse("0-3 20-21")


@given(st.integers(0, (1 << 24) - 1).map(HostSet), st.integers(1, 24), st.permutations(range(24)))
def test_along_a_curve_takes_a_run_or_the_shortest_distance(free: HostSet, size: int, curve: list[int]) -> None:
    """A best fit if there is a run, else no other choice is closer from first to last."""
    ranks = sorted(range(24), key=curve.__getitem__)
    chosen = along(free.bits, size, curve, ranks)
    if size > len(free):
        assert chosen is None
        return
    places = sorted(ranks[host] for host in HostSet(chosen or 0))
    waiting = sorted(ranks[host] for host in free)
    assert len(places) == size
    spans = [waiting[index + size - 1] - waiting[index] for index in range(len(waiting) - size + 1)]
    assert places[-1] - places[0] == min(spans)
    assert set(places) <= set(waiting)
    if min(spans) == size - 1:
        rest = next((rank for rank in range(places[-1] + 1, 25) if rank not in waiting), 25) - places[0]
        lengths = [_run(waiting, rank) for rank in waiting if rank - 1 not in waiting]
        assert places[0] - 1 not in waiting
        assert rest == min(length for length in lengths if length >= size)


def _run(waiting: list[int], first: int) -> int:
    length = 0
    while first + length in waiting:
        length += 1
    return length


@pytest.mark.parametrize("sizes", ["4,3,2", "24", "2,12", "3,8"])
def test_the_curve_of_a_torus_goes_from_neighbour_to_neighbour(sizes: str) -> None:
    """Each host once, each a link from the one before it."""
    curve = read_network(f"torus:{sizes}", 24).curve()
    assert sorted(curve) == list(range(24))
    dimensions = tuple(map(int, sizes.split(",")))
    assert all(torus_distance(dimensions, one, other) == 1 for one, other in pairwise(curve))


def test_blocks_are_switches_groups_and_planes() -> None:
    """Blocks have consecutive hosts, and each level is within the next."""
    found = {text: [level[0].bit_count() for level in blocks_of(read_network(text, 24))] for text in NETWORKS}
    assert found == dict(zip(NETWORKS, ([4], [2, 6], [2, 6, 12], [4, 12]), strict=True))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mesh:2,2", "option topology: must be fat-tree . dragonfly . torus, a colon and SimGrid's topo_parameters"),
        ("torus", "option topology: torus must be the sizes of the dimensions, like 4,4,2, not ''"),
        ("torus:2,5", "option topology: 'torus:2,5' has 10 hosts, the platform 24 compute hosts"),
        ("dragonfly:4,1;1,1;2,1;3", "option topology: dragonfly must not have more groups than blades"),
        ("fat-tree:2;4,6", "option topology: fat-tree must be the number of levels, then children"),
    ],
)
def test_a_topology_that_does_not_fit_is_one_line(text: str, words: str) -> None:
    """An unknown shape, parameters that SimGrid refuses, another number of hosts."""
    with pytest.raises(OptionError, match=words):
        SELECTIONS["nearest"].prepare(Computer(*[{}] * 24), HostLayout("", text))


def test_selections_in_a_network_need_to_be_given_one() -> None:
    """Batsim does not send it; zones by property and blocks of a network exclude each other."""
    machine = Computer(*[{"rack": "a"}] * 24)
    with pytest.raises(OptionError, match="option topology: is required"):
        SELECTIONS["curve"].prepare(machine, HostLayout())
    with pytest.raises(OptionError, match="option zone: cannot be combined with topology"):
        SELECTIONS["spread"].prepare(machine, HostLayout("rack", "torus:24"))


@pytest.mark.parametrize(("name", "text"), list(product(("topology", "spread", "nearest", "curve"), NETWORKS)))
@given(st.integers(0, (1 << 24) - 1).map(HostSet), st.integers(1, 24))
def test_hosts_are_found_exactly_if_enough_are_free(name: str, text: str, free: HostSet, size: int) -> None:
    """In each network: as many as wanted, all of them free."""
    chosen = SELECTIONS[name].prepare(Computer(*[{}] * 24), HostLayout("", text))(free, size)
    assert (chosen is not None) == (size <= len(free))
    assert chosen is None or (chosen <= free and len(chosen) == size)
