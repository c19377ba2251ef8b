"""Networks that cannot carry what a task sends: one line, or what Batsim does."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import BatschedError, PlatformError
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.simgrid_xml import read_platform
from tests.unit.simulator.scenario import Profiles, job, workload

#: A second of computation on each of two hosts, which send each other and themselves a megabyte.
TASK: Profiles = {"p": {"type": "parallel", "cpu": [1e9, 1e9], "com": [1e6] * 4}}
HOSTS = '<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>'
LINKED = '<link id="l" bandwidth="{}" latency="{}"/><route src="a" dst="b"><link_ctn id="l"/></route>'
CLUSTER = '<cluster id="{name}" prefix="{name}" suffix="" radical="{radical}" speed="1Gf" bw="{bw}" lat="0" {more}/>'


def zone(inside: str, routing: str = "Full") -> str:
    return f'<zone id="z" routing="{routing}">{inside}</zone>'


def hosts(inside: str, routing: str = "Full") -> str:
    return zone(HOSTS + inside, routing)


def cluster(more: str = "", bw: str = "1GBps") -> str:
    return zone(CLUSTER.format(name="c", radical="0-1", bw=bw, more=more))


def finish(folder: Path, inside: str) -> float:
    """When the task ends that starts at once on two hosts of such a platform."""
    path = folder / "p.xml"
    path.write_text(f'<?xml version="1.0"?><platform version="4.1">{inside}</platform>')
    jobs = workload(job("1", "p", res=2), profiles=TASK)
    return Simulation(read_platform(path), [jobs]).run(Session(Fcfs).answer).jobs[0].finish


@pytest.mark.parametrize(
    ("inside", "rule"),
    [
        (hosts(LINKED.format("0Bps", "0")), "link l.bandwidth: must be greater than 0"),
        (hosts(LINKED.format("-1MBps", "0")), "link l.bandwidth: must not be negative, as '-1MBps' is"),
        (
            hosts(LINKED.format("infBps", "0")),
            "link l.bandwidth: must be a number and a unit of bandwidth",
        ),
        (hosts(LINKED.format("1MBps", "-1s")), "link l.latency: must not be negative, as '-1s' is"),
        (
            hosts('<route src="a" dst="b"><link_ctn id="x"/></route>'),
            "link_ctn x.id: names link 'x', which",
        ),
        (hosts("", "Floyd"), "zone z: has no route from a to b"),
        (hosts("", "Dijkstra"), "zone z: has no route from a to a"),
        (
            zone("".join(CLUSTER.format(name=name, radical="0", bw="1GBps", more="") for name in "cd")),
            "zone z: has no route from c to d",
        ),
        (cluster(bw="0"), "cluster c.bw: must be greater than 0"),
        (cluster(bw="-1"), "cluster c.bw: must not be negative, as '-1' is"),
        (cluster('bb_bw="0" bb_lat="1us"'), "cluster c.bb_bw: must be greater than 0 where bb_lat is"),
        (cluster('bb_lat="1us"'), "cluster c.bb_bw: must be greater than 0 where bb_lat is"),
        (cluster('bb_bw="1" bb_lat="-1"'), "cluster c.bb_lat: must not be negative, as '-1' is"),
        (cluster('limiter_link="-1"'), "cluster c.limiter_link: must not be negative, as '-1' is"),
        (cluster('loopback_bw="-1"'), "cluster c.loopback_bw: must not be negative, as '-1' is"),
        (cluster('loopback_lat="1s"'), "cluster c.loopback_bw: must be greater than 0 where loopback_lat is"),
    ],
)
def test_a_network_that_cannot_be_used_is_one_line(tmp_path: Path, inside: str, rule: str) -> None:
    """The file, the element and the rule; missing routes once they are needed, where Batsim aborts, too."""
    with pytest.raises(PlatformError) as refused:
        finish(tmp_path, inside)
    assert str(refused.value).startswith(f"{tmp_path / 'p.xml'}: {rule}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("network", [("1e-320Bps", "0"), ("1MBps", "1e300s")])
def test_a_transfer_that_no_clock_can_follow_is_refused(tmp_path: Path, network: tuple[str, str]) -> None:
    """When its job is started, which has no walltime."""
    with pytest.raises(BatschedError, match="job w0!1 runs p without a walltime: must be at most"):
        finish(tmp_path, hosts(LINKED.format(*network)))


@pytest.mark.parametrize(
    "inside",
    [hosts(""), hosts("", "Vivaldi"), hosts("", "Cluster"), cluster('limiter_link="0"')],
    ids=["without a route", "Vivaldi", "Cluster without links", "a limiter of 0"],
)
def test_what_crosses_no_link_costs_nothing(tmp_path: Path, inside: str) -> None:
    """As in Batsim: there is no link to wait for, and the task takes the second that it computes."""
    assert finish(tmp_path, inside) == 1.0


def test_a_transfer_in_an_empty_zone_ends_the_run(tmp_path: Path) -> None:
    """Batsim stops at it."""
    with pytest.raises(PlatformError, match=r"zone .*: has no route from "):
        finish(tmp_path, hosts("", "None"))
