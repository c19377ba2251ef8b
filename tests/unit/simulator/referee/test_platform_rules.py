"""Platforms for which Batsim stops before a job has run."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import PlatformError, RefusedError
from batsched_py.model.platform import Platform, PlatformHost
from batsched_py.model.settings import Settings
from batsched_py.model.zone import TableZone
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.simgrid_xml import read_platform
from tests.unit.simulator.scenario import Profiles, call, execute, job, play, reject, switch, workload

MASTER = '<host id="master_host" speed="1f" coordinates="0 0 0"/>'
HOST = '<host id="h" speed="1f" coordinates="0 0 0"/>'
TASK: Profiles = {"task": {"type": "parallel_homogeneous", "cpu": 4e9, "com": 0}}


def machines(*hosts: PlatformHost) -> Platform:
    """These hosts and a master, without a network."""
    every = (*hosts, PlatformHost("master_host", (0.0,)))
    names = dict.fromkeys((host.name for host in every), "z")
    return Platform("p.xml", tuple(sorted(every, key=lambda host: host.name)), {"z": TableZone("z", "", {})}, names)


def with_role(name: str, role: str) -> PlatformHost:
    """A host with the property `role`."""
    return PlatformHost(name, (1.0,), properties={"role": role})


@pytest.mark.parametrize(
    ("hosts", "settings", "rule"),
    [
        ([with_role("a", "master")], Settings(), "host master_host: is master, and so is a: there must be one"),
        ([with_role("a", "master")], Settings(master_host="h"), "host h: is master, and so is a"),
        ([with_role("a", "master")], Settings(master_host="a"), r"host a\.role: is 'master' already, and -m"),
        ([with_role("a", "storage")], Settings(master_host="a"), r"host a\.role: is 'storage' already, and -m"),
        ([with_role("a", "storage")], Settings(roles={"a": "storage"}), r"host a\.role: is 'storage' already, and -r"),
        ([with_role("a", "gateway")], Settings(), r"host a\.role: must be one of master, storage, compute_node, not"),
    ],
)
def test_a_host_has_one_role_and_one_host_is_master(hosts: list[PlatformHost], settings: Settings, rule: str) -> None:
    """Batsim puts the role of -m and -r behind that of the platform, and knows no such role."""
    with pytest.raises(PlatformError, match=rule):
        Simulation(machines(PlatformHost("h", (1.0,)), *hosts), [workload()], settings)


def test_a_master_by_its_role_needs_no_name() -> None:
    """There is no host of the default name, then."""
    hosts = (PlatformHost("h", (1.0,)), with_role("m", "master"))
    site = Platform("p.xml", hosts, {"z": TableZone("z", "", {})}, {"h": "z", "m": "z"})
    assert Simulation(site, [workload()]).status().hosts == 1


def read(folder: Path, zone: str) -> Platform:
    """The platform of this zone."""
    path = folder / "platform.xml"
    path.write_text(f'<platform version="4.1">{zone}</platform>')
    return read_platform(path)


@pytest.mark.parametrize(
    ("zone", "rule"),
    [
        (
            f'<zone id="z" routing="None">{MASTER}{HOST}</zone>',
            "zone z: has the routing None, in which SimGrid finds no",
        ),
        (
            f'<zone id="t" routing="Full"><zone id="m" routing="None">{MASTER}</zone>'
            f'<zone id="z" routing="Full">{HOST}</zone></zone>',
            "zone m: has the routing None, .* to its master host master_host: use Full or Vivaldi",
        ),
        (
            f'<zone id="z" routing="Vivaldi">{MASTER}<host id="h" speed="1f"/></zone>',
            r"host h\.coordinates: is missing",
        ),
        (
            f'<zone id="z" routing="Vivaldi"><host id="master_host" speed="1f"/>{HOST}</zone>',
            r"host master_host\.coord",
        ),
    ],
)
def test_batsims_messages_must_find_a_way(tmp_path: Path, zone: str, rule: str) -> None:
    """It sends them to its master host, from there and from the hosts of jobs."""
    with pytest.raises(PlatformError, match=rule):
        Simulation(read(tmp_path, zone), [workload()])


def test_another_zone_may_be_empty(tmp_path: Path) -> None:
    """Its only host is the gateway: no way leads through it."""
    master, host = MASTER.replace(' coordinates="0 0 0"', ""), HOST.replace(' coordinates="0 0 0"', "")
    zones = f'<zone id="m" routing="Full">{master}</zone><zone id="z" routing="None">{host}</zone>'
    route = '<zoneRoute src="z" dst="m" gw_src="h" gw_dst="master_host"/>'
    site = read(tmp_path, f'<zone id="t" routing="Full">{zones}{route}</zone>')
    assert Simulation(site, [workload()]).status().hosts == 1


#: Computes at 1 Gflop/s in pstate 0, sleeps in 1 without a speed, and passes through 2 and 3.
SLEEPS = {"wattage_per_state": "100:200, 9:9, 120:120, 110:110", "sleep_pstates": "1:2:3"}


@pytest.mark.parametrize("energy", [False, True])
def test_a_pstate_that_does_not_compute_may_have_no_speed(energy: bool) -> None:
    """A host sleeps at 0 flop/s, as in platforms of Batsim's users; it computes for 4 s."""
    site = machines(PlatformHost("h", (1e9, 0.0, 1.0, 0.5), properties=SLEEPS))
    jobs = workload(job("a", "task", at=1), profiles=TASK)
    result, _ = play(jobs, {1.0: [execute("a", "0")]}, on=site, settings=Settings(energy=energy))
    assert [(record.finish, record.energy) for record in result.jobs] == [(5.0, 800.0 if energy else -1.0)]


def test_without_energy_a_host_must_compute_in_its_first_pstate_only() -> None:
    """It never leaves it; with energy it must compute in each that does not sleep."""
    site = machines(PlatformHost("h", (1e9, 0.0), properties={"wattage_per_state": "1:2, 1:2"}))
    assert Simulation(site, [workload()]).status().hosts == 1
    with pytest.raises(PlatformError, match=r"host h\.speed: must be greater than 0 flop/s in pstate 1, in which"):
        Simulation(site, [workload()], Settings(energy=True))
    with pytest.raises(PlatformError, match=r"host h\.speed: must be greater than 0 flop/s in pstate 1, in which"):
        Simulation(machines(PlatformHost("h", (1e9, 0.0), 1)), [workload()])


@pytest.mark.parametrize(("speeds", "at", "pstate"), [((1e9, 0.0, 0.0, 1.0), 1.0, 2), ((1e9, 0.0, 1.0, 0.0), 3.0, 3)])
def test_a_switch_that_never_ends_is_refused_when_it_is_asked_for(
    speeds: tuple[float, ...], at: float, pstate: int
) -> None:
    """A transition takes one flop at the speed of its pstate."""
    site = machines(PlatformHost("h", speeds, properties=SLEEPS))
    script = {1.0: [switch("0", 1), call(3.0)], 3.0: [switch("0", 0), reject("a")]}
    with pytest.raises(RefusedError, match=rf"passes through pstate {pstate} of 0 flop/s, so that .* never end") as got:
        play(workload(job("a", at=1)), script, on=site, settings=Settings(energy=True))
    assert f"t={at:.6f}" in str(got.value)
