"""Lines on transfers for which SimGrid does something else than this simulator."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.model.platform import Link, Platform, PlatformHost
from batsched_py.model.settings import Settings
from batsched_py.model.zone import Segment, Spoke, StarZone, TableZone, Zone
from batsched_py.simulator.contention.fluid_model import ON_ONE_LOOPBACK
from batsched_py.simulator.jobs.execution import DOUBLED, UNLINKED
from tests.unit.simulator.scenario import Profiles, execute, job, play, workload

NAMES = ("h0", "h1", "h2", "master_host")
LINK = Link("l", 1e6, 0.0)
PROFILES: Profiles = {
    "cpu": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0},
    "all": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 1e6},
    "own": {"type": "parallel", "cpu": [1e9, 1e9], "com": [1e9, 0, 0, 0]},
}
#: A route from h0 to h1 alone.
TABLE = TableZone("z", "", {("h0", "h1"): Segment((LINK,)), ("h1", "h0"): Segment((LINK,))})
STAR = StarZone("z", "", {})
WITH_LOOPBACKS = StarZone(
    "z", "", {name: Spoke((LINK,), (LINK,), (Link(f"{name}_loopback", 1e9, 0.0, shared=False),)) for name in NAMES}
)


def told(zone: Zone, *started: Any, profile: str = "all", res: int = 2) -> tuple[str, ...]:
    """The approximations of jobs that start at 1 s."""
    hosts = tuple(PlatformHost(name, (1e9,)) for name in NAMES)
    site = Platform("p.xml", hosts, {"z": zone}, dict.fromkeys(NAMES, "z"))
    jobs = workload(*(job(name, profile, res=res, at=1) for name in "ab"[: len(started)]), profiles=PROFILES)
    settings = Settings(compute_sharing=True)
    return tuple(play(jobs, {1.0: list(started)}, on=site, settings=settings)[0].approximations)


@pytest.mark.parametrize(
    ("zone", "hosts", "ends"), [(TABLE, "0-2", ("h0", "h2")), (STAR, "0-2", ("h0", "h1")), (STAR, "1-2", ("h1", "h2"))]
)
def test_bytes_between_hosts_that_no_link_connects_are_told_once(zone: Zone, hosts: str, ends: tuple[str, str]) -> None:
    """The first two hosts are named."""
    assert told(zone, execute("a", hosts), res=3 if hosts == "0-2" else 2) == (UNLINKED % ends,)


def test_where_links_are_or_nothing_is_sent_there_is_nothing_to_tell() -> None:
    """Platforms without a network are for jobs that do not communicate."""
    assert told(TABLE, execute("a", "0-1")) == ()
    assert told(STAR, execute("a", "0-1"), profile="cpu") == ()


def test_executors_that_communicate_on_one_host_are_told() -> None:
    """SimGrid's solver may not end where Batsim's own message is the other user of the loopback."""
    doubled = execute("a", "0", mapping={"0": "0", "1": "0"})
    assert told(WITH_LOOPBACKS, doubled) == (DOUBLED,)
    assert told(WITH_LOOPBACKS, doubled, profile="cpu") == ()
    assert told(WITH_LOOPBACKS, execute("a", "0-1")) == ()


def test_tasks_on_one_loopback_are_told() -> None:
    """On two they do not meet."""
    assert told(WITH_LOOPBACKS, execute("a", "0-1"), execute("b", "0 2"), profile="own") == (ON_ONE_LOOPBACK,)
    assert told(WITH_LOOPBACKS, execute("a", "0-1"), execute("b", "1-2"), profile="own") == ()
