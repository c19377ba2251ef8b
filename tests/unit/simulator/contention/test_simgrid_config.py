"""Items of SimGrid's configuration: which have an effect, who rules, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import BatschedError, OptionError, PlatformError
from batsched_py.model.platform import Platform
from batsched_py.model.zone import Link
from batsched_py.simulator.contention.simgrid_config import (
    IGNORED,
    TCP_WINDOW,
    SimgridConfig,
    ignored_items,
    read_simgrid_config,
)
from batsched_py.traces.simgrid_xml import read_platform

ZONE = '<zone id="z" routing="{routing}"><host id="a" speed="1f"/><host id="b" speed="1f"/>{more}</zone>'


def platform(folder: Path, *items: tuple[str, str], routing: str = "Full", more: str = "") -> Platform:
    props = "".join(f'<prop id="{item}" value="{value}"/>' for item, value in items)
    path = folder / "platform.xml"
    zone = ZONE.format(routing=routing, more=more)
    path.write_text(f'<platform version="4.1"><config>{props}</config>{zone}</platform>')
    return read_platform(path)


def test_without_items_simgrids_defaults_hold(tmp_path: Path) -> None:
    """A window of 4 MiB, and a loopback of 10 GB/s that is not shared."""
    assert read_simgrid_config((), platform(tmp_path)) == SimgridConfig(
        TCP_WINDOW, Link("__loopback__", 1e10, 0.0, False)
    )


def test_the_platform_may_set_items_and_the_command_line_rules(tmp_path: Path) -> None:
    """Item by item; former spellings count, and what changes nothing is passed over."""
    read = platform(tmp_path, ("network/TCP_gamma", "5"), ("network/loopback-bw", "7"), ("network/weight-S", "8"))
    given = [("network/loopback-bw", "100"), ("network/loopback-lat", "0.25"), ("host/solver", "fairbottleneck")]
    assert read_simgrid_config(given, read) == SimgridConfig(5.0, Link("__loopback__", 100.0, 0.25, False))


@pytest.mark.parametrize("routing", ["Full", "Floyd"])
def test_the_loopback_is_a_hosts_way_to_itself(tmp_path: Path, routing: str) -> None:
    """It counts where none is declared, in zones without others inside."""
    loopback, own = Link("__loopback__", 1.0, 2.0, False), Link("own", 3.0, 0.0)
    declared = '<link id="own" bandwidth="3"/><route src="b" dst="b" symmetrical="NO"><link_ctn id="own"/></route>'
    read = platform(tmp_path, routing=routing, more=declared).with_loopback(loopback)
    assert (read.route("a", "a").links, read.route("b", "b").links) == ((loopback,), (own,))


def test_a_cluster_keeps_its_ways_to_itself(tmp_path: Path) -> None:
    """The item is for hosts for which the platform says nothing."""
    path = tmp_path / "platform.xml"
    cluster = '<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1f" bw="1Bps" lat="0"/>'
    path.write_text(f'<platform version="4.1"><zone id="z" routing="Full">{cluster}</zone></platform>')
    read = read_platform(path).with_loopback(Link("__loopback__", 1.0, 2.0, False))
    assert [link.name for link in read.route("c0", "c0").links] == ["c_link_0_UP", "c_link_0_DOWN"]


def test_items_that_have_no_effect_here_alone_are_told(tmp_path: Path) -> None:
    """Each once, in their order; others change nothing in SimGrid's model of parallel tasks either."""
    read = platform(tmp_path, ("maxmin/precision", "1e-9"), ("contexts/stack-size", "16"))
    given = [("surf/precision", "1e-9"), ("maxmin/precision", "1e-5"), ("network/weight-S", "1")]
    assert ignored_items(given, read) == f"{IGNORED}maxmin/precision, surf/precision"
    assert ignored_items([], platform(tmp_path, ("contexts/stack-size", "16"))) == ""


def test_of_two_values_of_an_item_the_first_counts(tmp_path: Path) -> None:
    """SimGrid keeps it, and says that it does."""
    read = platform(tmp_path, ("network/TCP-gamma", "5"), ("network/TCP-gamma", "6"))
    assert read_simgrid_config((), read).tcp_window == 5.0
    assert [line.partition(".xml: ")[2] for line in read.notes] == [
        "a second element prop of one name in config is not obeyed: the first counts, as in SimGrid"
        " (config, prop network/TCP-gamma)"
    ]


@pytest.mark.parametrize(
    ("item", "value", "rule"),
    [
        ("network/TCP-gamma", "0", "must be a number, more than 0, not 0"),
        ("network/TCP-gamma", "wide", "must be a number, more than 0, not wide"),
        ("network/loopback-bw", "-1", "must be a number, more than 0, not -1"),
        ("network/loopback-bw", "nan", "must be a number, more than 0, not nan"),
        ("network/loopback-lat", "inf", "must be a number, from 0, not inf"),
        ("host/solver", "bmf", "must be fairbottleneck, the only solver that is simulated, not bmf"),
    ],
)
def test_wrong_values_are_one_line(tmp_path: Path, item: str, value: str, rule: str) -> None:
    """It names the option or the file, the item and the rule."""
    with pytest.raises(OptionError) as refused:
        read_simgrid_config([(item, value)], platform(tmp_path))
    assert str(refused.value) == f"--sg-cfg {item}:{value}: {rule}"
    with pytest.raises(PlatformError, match=rf"platform.xml: config {item}.* {rule}"):
        read_simgrid_config((), platform(tmp_path, (item, value)))


def test_items_that_simgrid_does_not_know_are_refused_on_the_command_line(tmp_path: Path) -> None:
    """In a platform file they are an approximation."""
    with pytest.raises(BatschedError, match="--sg-cfg network/gamma:1: is not an item of SimGrid's configuration"):
        read_simgrid_config([("network/gamma", "1")], platform(tmp_path))
    assert read_simgrid_config((), platform(tmp_path, ("network/gamma", "1"))) == SimgridConfig()
