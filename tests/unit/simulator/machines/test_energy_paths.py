"""Joules of a task whose hosts change their pstates, by each of the ways in which jobs are simulated."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.model.platform import Link, Platform, PlatformHost
from batsched_py.model.settings import Settings
from batsched_py.model.zone import Spoke, StarZone
from batsched_py.results.records import JobRecord
from tests.unit.simulator.scenario import Profiles, execute, job, play, switch, workload

SPEEDS = (2e9, 1e9, 5e8)
WATTS = {"wattage_per_state": "50:60:250, 40:50:150, 30:35:90"}

#: (time, host, pstate).
Switch = tuple[float, int, int]
#: How a job is simulated -> what makes it so: its bytes, whether hosts are shared, whether it talks.
PATHS: dict[str, tuple[float, bool, bool]] = {
    "planned": (0.0, False, False),
    "sharing hosts": (0.0, True, False),
    "on links": (1.0, False, False),
    "both": (1.0, True, False),
    "talking": (0.0, False, True),
    "talking on links": (1.0, True, True),
}


def machines(count: int) -> Platform:
    """Hosts that change pstates, on a backbone that is never full."""
    names = ["master_host", *(f"h{number}" for number in range(count))]
    hosts = tuple(PlatformHost(name, SPEEDS, properties=WATTS) for name in sorted(names))
    zone = StarZone("z", "", dict.fromkeys(names, Spoke()), (Link("backbone", 1e12, 0.0),))
    return Platform("test", hosts, {"z": zone}, dict.fromkeys(names, "z"))


def run(path: str, flops: list[float], switches: list[Switch]) -> JobRecord:
    """Run one task on as many hosts as it has flops from 1 s on, and switch their pstates."""
    size, sharing, talks = PATHS[path]
    count = len(flops)
    com = [size if source != target else 0.0 for source in range(count) for target in range(count)]
    profiles: Profiles = {
        "task": {"type": "parallel", "cpu": flops, "com": com},
        "says": {"type": "send", "msg": {}, "sleeptime": 1e-7},
        "asks": {"type": "composed", "seq": ["says", "task"]},
    }
    times = sorted({time for time, _, _ in switches})
    script: dict[float, list[Any]] = {1.0: [execute("a", f"0-{count - 1}")]}
    script[1.0] += [("CALL_ME_LATER", {"timestamp": time}) for time in times]
    script |= {time: [switch(str(host), pstate) for at, host, pstate in switches if at == time] for time in times}
    jobs = workload(job("a", "asks" if talks else "task", res=count, at=1), profiles=profiles)
    settings = Settings(energy=True, compute_sharing=sharing)
    return play(jobs, script, on=machines(count), settings=settings)[0].jobs[0]


@pytest.mark.parametrize("path", PATHS)
def test_a_host_that_another_one_holds_up_draws_by_its_own_pstate(path: str) -> None:
    """The second host takes 10 s. The first is half used in pstate 0 for 4 s, then fully in pstate 1."""
    record = run(path, [1e10, 2e10], [(5.0, 0, 1)])
    assert record.finish == pytest.approx(11.0)
    assert record.energy == pytest.approx(4 * (60 + 0.5 * 190) + 6 * 150 + 10 * 250)


@given(
    flops=st.lists(st.sampled_from([1e9, 4e9, 1e10, 3e10]), min_size=1, max_size=3),
    switches=st.lists(st.tuples(st.integers(2, 12).map(float), st.integers(0, 2), st.integers(0, 2)), max_size=5),
)
def test_times_and_joules_are_the_same_whatever_way_a_job_is_simulated(
    flops: list[float], switches: list[Switch]
) -> None:
    """A task that nothing slows down takes and draws what it does alone, whatever its hosts do meanwhile."""
    own = list({(time, host): (time, host, pstate) for time, host, pstate in switches if host < len(flops)}.values())
    records = [run(path, flops, own) for path in PATHS]
    for record in records:
        assert record.finish == pytest.approx(records[0].finish)
        assert record.energy == pytest.approx(records[0].energy)
