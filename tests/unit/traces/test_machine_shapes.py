"""The usual parameters of fat trees, dragonflies and tori."""

from __future__ import annotations

import math
from pathlib import Path
from typing import get_args

import pytest

from batsched_py.errors import PlatformError
from batsched_py.model.topologies.cluster import TopologyZone
from batsched_py.model.topologies.dragonfly import Dragonfly
from batsched_py.model.topologies.fat_tree import FatTree
from batsched_py.model.topologies.torus import Torus
from batsched_py.runs.simulate import simulate
from batsched_py.traces.lublin import Drawn
from batsched_py.traces.machine_shapes import TOPOLOGIES, Shape, shape_parameters
from batsched_py.traces.platform_writer import write_topology
from batsched_py.traces.power_states import PowerStates
from batsched_py.traces.simgrid_xml import read_platform


def test_each_shape_has_a_name_in_simgrid() -> None:
    """And the option has all of them."""
    assert set(TOPOLOGIES) == set(get_args(Shape))


@pytest.mark.parametrize("shape", TOPOLOGIES)
@pytest.mark.parametrize("hosts", [16, 36, 100, 1008, 4096])
def test_a_machine_has_its_hosts_in_the_order_of_their_positions(tmp_path: Path, shape: Shape, hosts: int) -> None:
    """Batsim numbers hosts by their names."""
    write_topology(tmp_path / "p.xml", shape, hosts)
    platform = read_platform(tmp_path / "p.xml")
    zone = platform.zones["cluster"]
    assert isinstance(zone, TopologyZone)
    assert zone.topology.hosts == hosts
    assert [zone.positions[host.name] for host in platform.compute_hosts()] == list(range(hosts))
    assert platform.notes == ()


@pytest.mark.parametrize("shape", TOPOLOGIES)
def test_numbers_of_hosts_that_no_shape_has_name_one_near(shape: Shape) -> None:
    """Which it has."""
    for hosts in range(4, 400):
        try:
            shape_parameters(shape, hosts)
        except ValueError as error:
            near = int(str(error).split("; ")[1].split()[0])
            assert shape_parameters(shape, near)
    with pytest.raises(ValueError, match=f"must be from 4 to [0-9]* for a {shape}, not 3"):
        shape_parameters(shape, 3)


def test_switches_have_at_most_32_ports_down_and_as_many_up(tmp_path: Path) -> None:
    """A fat tree is non-blocking."""
    for hosts in (64, 1024, 2048, 4096, 27_000):
        write_topology(tmp_path / "p.xml", "fat-tree", hosts)
        zone = read_platform(tmp_path / "p.xml").zones["cluster"]
        assert isinstance(zone, TopologyZone)
        tree = zone.topology
        assert isinstance(tree, FatTree)
        assert max(tree.children) <= 32
        assert tree.parents == (1, *tree.children[:-1])
        assert len(tree.children) == (2 if hosts <= 1024 else 3)


def test_dragonflies_and_tori_are_balanced() -> None:
    """As far as the number allows."""
    assert shape_parameters("torus", 512) == "8,8,8"
    assert shape_parameters("dragonfly", 4096) == "16,1;4,1;16,1;4"
    assert Torus((8, 8, 8)).hosts == 512
    assert Dragonfly(16, 1, 4, 1, 16, 1, 4).hosts == 4096
    assert math.prod(map(int, shape_parameters("torus", 1000).split(","))) == 1000


@pytest.mark.parametrize("shape", TOPOLOGIES)
def test_jobs_run_on_a_machine_with_power_states(tmp_path: Path, shape: Shape) -> None:
    """The properties are those of each host."""
    write_topology(tmp_path / "p.xml", shape, 16, power=PowerStates.parse("100:120:200,80:90:150@5e8", 1e9))
    platform = read_platform(tmp_path / "p.xml")
    assert {host.speeds for host in platform.compute_hosts()} == {(1e9, 5e8)}
    run = simulate(platform, Drawn(5, 16, 1, None, 1.0, 1e9), "easy")
    assert len(run.result.jobs) == 5


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """And so is a number of hosts."""
    with pytest.raises(PlatformError, match="cannot be written"):
        write_topology(tmp_path / "none" / "p.xml", "torus", 8)
    with pytest.raises(PlatformError, match=r"p\.xml: hosts: must be a product"):
        write_topology(tmp_path / "p.xml", "torus", 13)
