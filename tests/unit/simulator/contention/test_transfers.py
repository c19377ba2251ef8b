"""What transfers put on the links that they cross, and how long they wait."""

import pytest

from batsched_py.model.platform import Link, Platform, PlatformHost
from batsched_py.model.zone import Spoke, StarZone
from batsched_py.simulator.contention.simgrid_config import TCP_WINDOW
from batsched_py.simulator.contention.transfers import Transfer, TransferModel


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
    """And its latency is that of the whole route."""
    links, latency, _ = needs(star(latency=0.25), (0, 1, 200.0))
    assert (links, latency) == ({"a_UP": 200.0, "backbone": 200.0, "b_DOWN": 200.0}, 0.5)


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
