"""How long transfers take: by the bottleneck of the links they cross."""

import pytest

from batsched_py.model.platform import Link, Platform, PlatformHost
from batsched_py.model.zone import Spoke, StarZone
from batsched_py.simulator.jobs.transfers import TCP_WINDOW, TransferModel


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


def test_one_transfer_takes_its_narrowest_link() -> None:
    """And the latency of its route comes beside it."""
    assert star(latency=0.25).transfer_time([(0, 1, 200.0)]) == (2.0, 0.5)


def test_transfers_over_one_link_add_up() -> None:
    """Two senders share the backbone; their own links would be faster."""
    assert star().transfer_time([(0, 1, 150.0), (1, 0, 150.0)]) == (2.0, 0.0)


def test_a_fatpipe_gives_each_transfer_all_of_it() -> None:
    """Then the private links decide."""
    assert star(shared=False).transfer_time([(0, 1, 150.0), (1, 0, 150.0)]) == (1.5, 0.0)


def test_nothing_sent_costs_nothing() -> None:
    """Not even a latency."""
    assert star(latency=1.0).transfer_time([(0, 1, 0.0)]) == (0.0, 0.0)


def test_a_long_way_is_slow_by_the_tcp_window() -> None:
    """As in SimGrid, whatever the bandwidth."""
    slow = star(latency=TCP_WINDOW)
    assert slow.transfer_time([(0, 1, 2.0)])[0] == pytest.approx(8.0)
