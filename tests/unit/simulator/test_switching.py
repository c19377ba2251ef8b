"""Power states: how long switching takes, when it is acknowledged, what it costs."""

from typing import Any

import pytest

from batsched_py.errors import PlatformError
from batsched_py.simulator.records import Result
from batsched_py.simulator.settings import Settings
from tests.unit.simulator.scenario import (
    DELAYS,
    SLEEPER,
    SLEEPER_SPEEDS,
    Command,
    Profiles,
    Script,
    execute,
    job,
    platform,
    play,
    workload,
)

ENERGY = Settings(energy=True)
PROFILES: Profiles = {**DELAYS, "cpu": {"type": "parallel_homogeneous", "cpu": 10e9}}


def switch(hosts: str, pstate: int) -> Command:
    return "SET_RESOURCE_STATE", {"resources": hosts, "state": str(pstate)}


ASK: Command = ("QUERY", {"requests": {"consumed_energy": {}}})


def run(script: dict[float, list[Command]], *jobs: Any) -> tuple[Result, Script]:
    """On two hosts that can sleep; the last job keeps the simulation going."""
    return play(workload(*jobs, profiles=PROFILES), script, on=platform(2, SLEEPER_SPEEDS, **SLEEPER), settings=ENERGY)


def test_computing_pstates_change_at_once() -> None:
    """The acknowledgement has the time of the request; the speed is another."""
    result, peer = run({1.0: [switch("0-1", 1), execute("a", "0")]}, job("a", "cpu", at=1))
    assert peer.told("RESOURCE_STATE_CHANGED") == [(1.0, {"resources": "0-1", "state": "1"})]
    assert result.jobs[0].execution == 20.0
    assert (result.switch_requests, result.host_switches) == (1, 2)


def test_sleep_and_waking_last_one_flop_of_their_virtual_pstates() -> None:
    """2 s to fall asleep, 20 s to wake up; one acknowledgement for each request."""
    script = {1.0: [switch("0", 2), switch("1", 2)], 3.0: [switch("0-1", 0)], 23.0: [execute("a", "0")]}
    result, peer = run(script, job("a", at=1))
    assert peer.told("RESOURCE_STATE_CHANGED") == [
        (3.0, {"resources": "0", "state": "2"}),
        (3.0, {"resources": "1", "state": "2"}),
        (23.0, {"resources": "0-1", "state": "0"}),
    ]
    assert (result.host_seconds["switching_off"], result.host_seconds["switching_on"]) == (4.0, 40.0)


def test_a_request_of_both_kinds_is_acknowledged_when_all_its_hosts_are_done() -> None:
    """One host wakes up, the other changes its pstate at once: E13."""
    script = {1.0: [switch("0", 2)], 3.0: [switch("0-1", 1)], 23.0: [execute("a", "0")]}
    _, peer = run(script, job("a", at=1))
    assert peer.told("RESOURCE_STATE_CHANGED")[1:] == [(23.0, {"resources": "0-1", "state": "1"})]


def test_energy_is_what_hosts_draw_in_each_state() -> None:
    """Idle 100 W; computing 200 W; falling asleep 125 W, asleep 10 W, waking up 115 W."""
    script = {
        1.0: [ASK, execute("a", "0"), switch("1", 2)],
        6.0: [switch("1", 0)],
        26.0: [ASK, execute("c", "1")],
    }
    jobs = (job("a", "cpu", at=1), job("b", at=6), job("c", at=26))
    result, peer = run({**script, 6.0: [*script[6.0], ("REJECT_JOB", {"job_id": "w0!b"})]}, *jobs)
    first, second = (data["consumed_energy"] for _, data in peer.told("ANSWER"))
    assert first == 2 * 100
    assert second == first + (10 * 200 + 15 * 100) + (2 * 125 + 3 * 10 + 20 * 115)
    records = {record.job.name: record for record in result.jobs}
    assert (records["a"].energy, records["c"].energy, records["b"].energy) == (2000.0, 1000.0, -1.0)
    assert result.joules == second + 10 * 2 * 100 - first


def test_a_task_follows_the_speed_of_its_hosts() -> None:
    """A tenth done at full speed, the rest at half of it."""
    result, _ = run({1.0: [execute("a", "0"), (*switch("0", 1), 2.0)]}, job("a", "cpu", at=1))
    assert result.jobs[0].execution == 1.0 + 18.0
    assert result.jobs[0].energy == 200.0 + 18 * 120.0


def test_a_composed_job_draws_task_by_task() -> None:
    """10 s idle, 10 s computing, three times."""
    profiles: Profiles = {**PROFILES, "mixed": {"type": "composed", "repeat": 3, "seq": ["d10", "cpu"]}}
    machine = platform(1, SLEEPER_SPEEDS, **SLEEPER)
    jobs = workload(job("a", "mixed", at=1), profiles=profiles)
    result, _ = play(jobs, {1.0: [execute("a", "0")]}, on=machine, settings=ENERGY)
    assert result.jobs[0].energy == 3 * (10 * 100 + 10 * 200)


@pytest.mark.parametrize(
    ("properties", "rule"),
    [
        ({}, "host h0: needs the property wattage_per_state"),
        ({"wattage_per_state": "95"}, "h0.wattage_per_state: must be idle:full or idle:epsilon:full"),
        ({"wattage_per_state": "x:y"}, "must hold watts like 95:190, not 'x:y'"),
        ({"wattage_per_state": "1:2"}, "must have one entry for each of 2 pstates, not 1"),
        ({"watt_per_state": "1:2, 3:4", "sleep_pstates": "0:1"}, "h0.sleep_pstates: must be sleep:off:on"),
        ({"watt_per_state": "1:2, 3:4", "sleep_pstates": "0:1:9"}, "h0.sleep_pstates: must be sleep:off:on"),
    ],
)
def test_wrong_power_properties_are_named(properties: dict[str, str], rule: str) -> None:
    """With the host, the property and the rule."""
    with pytest.raises(PlatformError) as caught:
        play(workload(), {}, on=platform(1, (1e9, 5e8), **properties), settings=ENERGY)
    assert rule in str(caught.value)
