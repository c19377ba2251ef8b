"""The sleeper, whose idle hosts sleep and are woken on demand, against the simulator: hosts are used when awake."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.model.job import Job
from batsched_py.model.profile import Delay
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.results.records import Result
from batsched_py.schedulers.energy.sleeper import Sleeper
from tests.recorded_run import RecordedRun
from tests.unit.simulator.scenario import SLEEPER, SLEEPER_SPEEDS, platform

HOSTS = 4

#: (submit time, hosts, run time).
SPECS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, HOSTS), st.integers(1, 30)), min_size=1, max_size=15)


def run(specs: list[tuple[int, int, int]], *, latency: bool = False) -> tuple[Result, RecordedRun]:
    profiles = {f"d{run}": Delay(f"d{run}", "delay", {"type": "delay", "delay": run}, run) for _, _, run in specs}
    jobs = [
        Job.create(f"{number:02d}", size=size, profile=f"d{run}", submit_time=submit, walltime=None)
        for number, (submit, size, run) in enumerate(sorted(specs))
    ]
    talk = RecordedRun(Sleeper)
    settings = Settings(energy=True, message_latency=latency)
    on = platform(HOSTS, SLEEPER_SPEEDS, **SLEEPER)
    return talk.run([Workload("test", HOSTS, tuple(jobs), profiles)], settings, on, trace=True), talk


@given(SPECS)
@pytest.mark.parametrize("latency", [False, True], ids=["at-once", "messages"])
def test_each_job_runs_on_hosts_that_were_announced_awake(latency: bool, specs: list[tuple[int, int, int]]) -> None:
    """BA-13: the simulator would refuse the start otherwise. Nobody starves, and each request is acknowledged once."""
    result, talk = run(specs, latency=latency)
    assert [record.state for record in result.jobs] == ["COMPLETED_SUCCESSFULLY"] * len(specs)
    assert len(talk.told("RESOURCE_STATE_CHANGED")) == len(talk.said("SET_RESOURCE_STATE")) == result.switch_requests


@given(SPECS)
def test_joules_are_the_watts_of_each_state_times_its_seconds(specs: list[tuple[int, int, int]]) -> None:
    """All of them, from 0 to the last row: delays draw as much as idle hosts."""
    result, _ = run(specs)
    assert result.trace is not None
    rows, energy = result.trace.states, result.trace.energy
    assert rows is not None
    assert energy is not None
    expected, before, counts = 0.0, 0.0, [0, 0, 0, HOSTS, 0]
    for row, time in enumerate(rows.times):
        watts = sum(count * each for count, each in zip(counts, (10, 115, 125, 100, 100), strict=True))
        expected += watts * (time - before)
        before, counts = time, rows.counts[5 * row : 5 * row + 5].tolist()
        assert sum(counts) == HOSTS
    assert energy.joules[-1] == pytest.approx(expected)


def test_a_host_sleeps_while_nobody_waits_and_wakes_on_demand() -> None:
    """Each job waits 20 s for two hosts, which sleep again after it; the other two are left alone."""
    result, talk = run([(10, 2, 10), (100, 2, 10)])
    assert [record.start for record in result.jobs] == [30.0, 120.0]
    switches = [(data["state"], data["resources"]) for data in talk.details("SET_RESOURCE_STATE")]
    assert switches == [("2", "0-3"), ("0", "0-1"), ("2", "0-1"), ("0", "0-1"), ("2", "0-1")]
    assert [now for now, _, _ in talk.told("RESOURCE_STATE_CHANGED")] == [2.0, 30.0, 42.0, 120.0, 132.0]
    # From the first submission at 10 to the last end at 130: two hosts sleep, two are woken, work, fall asleep...
    waking, working, falling = 20 * 115, 10 * 100, 2 * 125
    assert result.joules == 2 * 120 * 10 + 2 * (waking + working + falling + 58 * 10 + waking + working)
