"""Transfers: their load on the links that they cross, and their latency."""

import random
from collections.abc import Iterator

import pytest

from batsched_py.model.platform import Link, Platform, PlatformHost
from batsched_py.model.topologies.cables import Cables
from batsched_py.model.topologies.cluster import Topology, TopologyZone
from batsched_py.model.topologies.dragonfly import Dragonfly
from batsched_py.model.topologies.fat_tree import FatTree
from batsched_py.model.topologies.torus import Torus
from batsched_py.model.zone import Segment, Spoke, StarZone, TableZone, Zone
from batsched_py.simulator.contention import transfers
from batsched_py.simulator.contention.exchanges import AllToAll, Exchange, Matrix, Transfer
from batsched_py.simulator.contention.simgrid_config import TCP_WINDOW
from batsched_py.simulator.contention.transfers import TransferModel


def star(*, latency: float = 0.0, shared: bool = True) -> TransferModel:
    """Three hosts with private links of 100 bytes/s around a backbone of 150 bytes/s."""
    names = ("a", "b", "c")
    spokes = {
        name: Spoke((Link(f"{name}_UP", 100.0, latency),), (Link(f"{name}_DOWN", 100.0, latency),)) for name in names
    }
    backbone = Link("backbone", 150.0, 0.0, shared)
    hosts = tuple(PlatformHost(name, (1.0,)) for name in names)
    zone = StarZone("z", "", spokes, (backbone,))
    return TransferModel(Platform("test", hosts, {"z": zone}, dict.fromkeys(names, "z")), hosts)


def needs(model: TransferModel, *transfers: Transfer) -> tuple[dict[str, float], float, float]:
    """Bytes by link, largest latency, least seconds by the TCP window."""
    links, latency, window = model.needs(transfers)
    return {link.name: amount for link, amount in links}, latency, window


def test_one_transfer_crosses_the_links_of_its_route() -> None:
    """Its latency is that of the whole route."""
    links, latency, _ = needs(star(latency=0.25), (0, 1, 200.0))
    assert (links, latency) == ({"a_UP": 200.0, "backbone": 200.0, "b_DOWN": 200.0}, 0.5)


def test_a_cache_that_is_full_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is cleared before it grows beyond its size, in links and routes."""
    sent = [(source, target, 10.0) for source in range(3) for target in range(3)]
    whole = needs(star(latency=0.25), *sent)
    monkeypatch.setattr(transfers, "MAX_CACHED", 5)
    model = star(latency=0.25)
    assert needs(model, *sent) == whole
    assert len(model._routes) == 1


def test_transfers_over_one_link_add_up() -> None:
    """Two senders share the backbone."""
    assert needs(star(), (0, 1, 150.0), (1, 0, 50.0))[0]["backbone"] == 200.0


def test_a_fatpipe_carries_the_largest_transfer() -> None:
    """Each may use all of it."""
    assert needs(star(shared=False), (0, 1, 150.0), (1, 0, 50.0))[0]["backbone"] == 150.0


def test_nothing_sent_costs_nothing() -> None:
    """Not even a latency."""
    assert needs(star(latency=1.0), (0, 1, 0.0)) == ({}, 0.0, 0.0)


def test_a_long_way_is_slow_by_the_tcp_window() -> None:
    """As in SimGrid, whatever the bandwidth."""
    assert needs(star(latency=TCP_WINDOW), (0, 1, 2.0))[2] == pytest.approx(8.0)


def draw_spoke(rng: random.Random, name: str, *, latency: float, limiter: bool, split: bool, loopback: bool) -> Spoke:
    """The private links of a host."""
    up = Link(f"{name}_UP", 100.0, latency)
    down = Link(f"{name}_DOWN", 100.0, latency) if split else up
    limited = (Link(f"{name}_limiter", 50.0, 0.0),) if limiter else ()
    own = (Link(f"{name}_loopback", 1e3, rng.choice([0.0, 0.5]), shared=False),) if loopback else ()
    return Spoke((*limited, up), (down, *limited), own)


def draw_model(rng: random.Random) -> TransferModel:
    """Two stars of four hosts in one zone: with and without backbones, loopbacks, limiters and coordinates."""
    zones: dict[str, Zone] = {}
    for star_name in "xy":
        split, limiter, loopback = (rng.random() < 0.5 for _ in range(3))
        latencies = rng.choice([[0.0], [0.25], [0.125, 0.25]])
        names = [f"{star_name}{number}" for number in range(4)]
        spokes = {
            name: draw_spoke(rng, name, latency=rng.choice(latencies), limiter=limiter, split=split, loopback=loopback)
            for name in [*names, star_name]
        }
        if rng.random() < 0.1:
            del spokes[names[0]]
        backbone = (Link(f"{star_name}_backbone", 300.0, 0.5, rng.random() < 0.5),) if rng.random() < 0.7 else ()
        coordinates = {name: (rng.random() * 1e3, 0.0, 0.0) for name in names} if rng.random() < 0.1 else None
        zones[star_name] = StarZone(star_name, "all", spokes, backbone, coordinates)
    between = Segment((Link("between", 200.0, 1.0),), "x", "y")
    zones["all"] = TableZone("all", "", {("x", "y"): between, ("y", "x"): Segment(between.links, "y", "x")}, None)
    hosts = tuple(PlatformHost(f"{star_name}{number}", (1.0,)) for star_name in "xy" for number in range(4))
    zone_of = {host.name: host.name[0] for host in hosts} | {"x": "x", "y": "y"}
    return TransferModel(Platform("test", hosts, zones, zone_of), hosts, rng.choice([1.0, TCP_WINDOW]))


def draw_exchange(rng: random.Random) -> Exchange:
    """Among hosts of one star or of both; some executors on one host, some amounts 0, some from a host to itself."""
    hosts = rng.sample(range(rng.choice([4, 4, 8])), rng.randint(2, 4))
    if rng.random() < 0.1:
        hosts.append(hosts[0])
    if rng.random() < 0.5:
        return AllToAll(hosts, rng.uniform(1.0, 100.0))
    amounts = [rng.choice([0.0, rng.uniform(1.0, 100.0)]) for _ in range(len(hosts) ** 2)]
    if rng.random() < 0.7:
        amounts[:: len(hosts) + 1] = [0.0] * len(hosts)
    return Matrix(hosts, amounts)


def test_sums_of_an_exchange_are_those_of_its_pairs() -> None:
    """To the last bit, whatever the network: of one exchange, and of two that are parts of one task."""
    rng = random.Random(20)
    for _ in range(3000):
        model, parts = draw_model(rng), [draw_exchange(rng) for _ in range(rng.choice([1, 1, 2]))]
        links, latency, window = model.needs(*parts)
        pairs = needs(model, *(transfer for part in parts for transfer in part))
        assert ({link.name: amount for link, amount in links}, latency, window) == pairs, parts


class Unpaired(AllToAll, frozen=True):
    """One that nobody may go through."""

    def __iter__(self) -> Iterator[Transfer]:
        raise AssertionError("its pairs are asked for")


def test_an_exchange_on_a_star_is_not_paired() -> None:
    """The time that it takes grows with the number of hosts: here it would be 4 million pairs."""
    names = [f"h{number}" for number in range(2_000)]
    zone = StarZone("z", "", {name: Spoke((Link(name, 1.0, 0.0),)) for name in names}, (Link("backbone", 1.0, 0.0),))
    hosts = tuple(PlatformHost(name, (1.0,)) for name in names)
    model = TransferModel(Platform("test", hosts, {"z": zone}, dict.fromkeys(names, "z")), hosts)
    links, _, _ = model.needs(Unpaired(range(2_000), 1.0))
    assert {link.name: amount for link, amount in links} == {
        **dict.fromkeys(names, 1_999.0),
        "backbone": 3_998_000.0,
    }


@pytest.mark.parametrize(
    "topology",
    [
        Torus((4, 3, 2)),
        FatTree((4, 3), (2, 3), (1, 2), 5),
        FatTree((2, 3, 4), (1, 2, 2), (2, 1, 3)),
        Dragonfly(3, 2, 2, 3, 4, 2, 2),
    ],
)
@pytest.mark.parametrize("splits", [True, False])
def test_an_exchange_in_a_topology_is_counted_as_its_pairs(topology: Topology, splits: bool) -> None:
    """To the last bit, also where both directions share a link."""
    names = [f"h{number}" for number in range(topology.hosts)]
    cables = Cables("c_", 1e8, 1e-3, splits)
    zone = TopologyZone("z", "", {name: number for number, name in enumerate(names)}, topology, cables)
    hosts = tuple(PlatformHost(name, (1.0,)) for name in names)
    model = TransferModel(Platform("test", hosts, {"z": zone}, dict.fromkeys(names, "z")), hosts)
    rng = random.Random(3)
    for size in (2, 5, topology.hosts):
        exchange = Unpaired(rng.sample(range(topology.hosts), size), rng.uniform(1.0, 100.0))
        links, latency, window = model.needs(exchange)
        pairs = needs(model, *AllToAll.__iter__(exchange))
        assert ({link.name: amount for link, amount in links}, latency, window) == pairs
