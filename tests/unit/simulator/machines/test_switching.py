"""Power states: how long switching takes, when it is acknowledged, what it costs."""

from typing import Any

import pytest

from batsched_py.errors import PlatformError, RefusedError
from batsched_py.hostset import HostSet
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.platform import Platform, PlatformHost
from batsched_py.model.settings import Settings
from batsched_py.model.zone import TableZone
from batsched_py.results.records import Result
from batsched_py.results.result_files import schedule_columns
from batsched_py.simulator.machines.external_events import FAILED_WHILE_SWITCHED_ON
from tests.unit.simulator.scenario import (
    DELAYS,
    SLEEPER,
    SLEEPER_SPEEDS,
    Command,
    Profiles,
    Script,
    execute,
    job,
    kill,
    platform,
    play,
    reject,
    switch,
    workload,
)

ENERGY = Settings(energy=True)
PROFILES: Profiles = {**DELAYS, "cpu": {"type": "parallel_homogeneous", "cpu": 10e9}}


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


@pytest.mark.parametrize(("at", "noted"), [(10.0, True), (24.0, False), (2.0, False)])
def test_a_host_that_fails_while_it_is_switched_on_is_noted(at: float, noted: bool) -> None:
    """Real Batsim aborts there, by an error of its own: it is awake at 23 s."""
    failure = ExternalEvent(at, "machine_unavailable", HostSet.of(0))
    script = {1.0: [switch("0", 2)], 3.0: [switch("0", 0)], 23.0: [execute("a", "1")]}
    result, _ = play(
        workload(job("a", at=1)),
        script,
        on=platform(2, SLEEPER_SPEEDS, **SLEEPER),
        settings=Settings(energy=True, external_events=(failure,)),
    )
    assert (FAILED_WHILE_SWITCHED_ON in result.approximations) is noted


def test_without_a_job_that_ran_batsim_counts_from_minus_one_joule() -> None:
    """All were rejected: -1 J since the first submission in the file, none in our own metrics."""
    result, _ = run({5.0: [reject("a")]}, job("a", at=5))
    assert (result.joules, result.consumed_joules) == (0.0, -1.0 - 5 * 2 * 100)
    assert schedule_columns(result)["consumed_joules"] == "-1001.000000"
    result, _ = play(workload(job("a", at=5)), {5.0: [reject("a")]})
    assert (result.joules, result.consumed_joules) == (0.0, 0.0)


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
    result, peer = run({**script, 6.0: [*script[6.0], reject("b")]}, *jobs)
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


def test_a_slower_host_slows_down_the_whole_task() -> None:
    """Half done when one of two hosts becomes half as fast; the other one idles half of the time from then on."""
    result, _ = run({1.0: [execute("a", "0-1"), (*switch("0", 1), 6.0)]}, job("a", "cpu", at=1, res=2))
    (record,) = result.jobs
    assert record.execution == 5.0 + 10.0
    assert record.energy == 5 * 2 * 200 + 10 * (120 + 175)


def test_a_faster_host_ends_sooner() -> None:
    """A pstate may be left again while the job runs."""
    script = {1.0: [switch("0", 1), execute("a", "0")], 5.0: [switch("0", 0), reject("b")]}
    result, _ = run(script, job("a", "cpu", at=1), job("b", at=5))
    assert result.jobs[1].execution == 4.0 + 8.0


def test_a_slower_task_may_meet_its_walltime() -> None:
    """The walltime counts from the start of the job; twice as fast again it would not be met."""
    script = {1.0: [execute("a", "0"), execute("b", "1"), (*switch("0-1", 1), 6.0), (*switch("1", 0), 8.0)]}
    jobs = [job(name, "cpu", at=1, walltime=12) for name in "ab"]
    result, _ = run(script, *jobs)
    assert [(record.job.name, record.state, record.execution) for record in result.jobs] == [
        ("b", "COMPLETED_SUCCESSFULLY", 5.0 + 2.0 + 4.0),
        ("a", "COMPLETED_WALLTIME_REACHED", 12.0),
    ]


def test_a_kill_tells_the_progress_at_the_speeds_there_were() -> None:
    """Half at full speed, a tenth at half of it."""
    script = {1.0: [execute("a", "0"), (*switch("0", 1), 6.0)], 8.0: [kill("a"), reject("b")]}
    _, peer = run(script, job("a", "cpu", at=1), job("b", at=8))
    ((_, told),) = peer.told("JOB_KILLED")
    assert told["job_progress"]["w0!a"] == {"profile_name": "cpu", "progress": 0.6}


def test_the_steps_of_a_composed_job_follow_the_speed_too() -> None:
    """The delay lasts as long as before, what is left of the first task and all of the next take twice as long."""
    profiles: Profiles = {**PROFILES, "mixed": {"type": "composed", "seq": ["cpu", "d10", "cpu"]}}
    machine = platform(1, SLEEPER_SPEEDS, **SLEEPER)
    jobs = workload(job("a", "mixed", at=1), job("b", at=32), profiles=profiles)
    script = {1.0: [execute("a", "0"), (*switch("0", 1), 6.0)], 32.0: [kill("a"), reject("b")]}
    result, peer = play(jobs, script, on=machine, settings=ENERGY)
    ((_, told),) = peer.told("JOB_KILLED")
    step = {"profile_name": "cpu", "progress": 0.3}
    progress = {"profile_name": "mixed", "current_task_index": 2, "current_task": step}
    assert told["job_progress"]["w0!a"] == progress
    assert result.jobs[0].energy == 5 * 200 + 10 * 120 + 10 * 90 + 6 * 120


def test_a_delay_lasts_as_long_at_any_speed() -> None:
    """Nothing computes."""
    result, _ = run({1.0: [execute("a", "0"), (*switch("0", 1), 6.0)]}, job("a", at=1))
    assert (result.jobs[0].execution, result.jobs[0].energy) == (10.0, 5 * 100 + 5 * 90)


def test_a_composed_job_draws_task_by_task() -> None:
    """10 s idle, 10 s computing, three times."""
    result = composed("d10", "cpu", repeat=3, hosts="0")
    assert result.jobs[0].energy == 3 * (10 * 100 + 10 * 200)


def test_a_delay_between_tasks_is_charged_like_the_next_one_on_all_hosts_but_the_first() -> None:
    """As SimGrid does, because nobody looks at those hosts when the delay ends."""
    result = composed("cpu", "d10", "cpu", hosts="0-2")
    assert result.jobs[0].energy == 3 * 20 * 200 + 10 * 100 + 2 * 10 * 200


def test_a_delay_at_the_end_is_charged_as_it_is() -> None:
    """All hosts are looked at when a job ends."""
    result = composed("cpu", "d10", hosts="0-2")
    assert result.jobs[0].energy == 3 * (10 * 200 + 10 * 100)


def test_a_question_about_energy_in_a_delay_ends_what_is_charged_wrongly() -> None:
    """From then on, so a question changes the answer: 4 s are charged as they are, 6 s like the next task."""
    result = composed("d10", "cpu", hosts="0-1", ask_at=5.0)
    assert result.jobs[0].energy == 2 * 10 * 200 + 10 * 100 + 4 * 100 + 6 * 200


def test_a_single_executor_is_looked_at_when_its_task_begins() -> None:
    """Also if its host is not the first of the job."""
    result = composed("d10", "cpu", hosts="0-1", mapping={"0": "1"})
    assert result.jobs[0].energy == 10 * (200 + 100) + 10 * 200


def composed(*steps: str, hosts: str, repeat: int = 1, ask_at: float = 1.0, **extra: Any) -> Result:
    """A job of these steps on these hosts from t=1, and a question meanwhile."""
    profiles: Profiles = {**PROFILES, "mixed": {"type": "composed", "repeat": repeat, "seq": list(steps)}}
    size = 1 if extra else HostSet.parse(hosts).bits.bit_count()
    jobs = workload(job("a", "mixed", at=1, res=size), profiles=profiles)
    result, _ = play(
        jobs,
        {1.0: [execute("a", hosts, **extra), (*ASK, ask_at)]},
        on=platform(3, SLEEPER_SPEEDS, **SLEEPER),
        settings=ENERGY,
    )
    return result


def test_to_the_pstate_it_has_a_host_changes_at_once() -> None:
    """The request is acknowledged and counted."""
    result, peer = run({1.0: [switch("0", 0), execute("a", "0")]}, job("a", at=1))
    assert peer.told("RESOURCE_STATE_CHANGED") == [(1.0, {"resources": "0", "state": "0"})]
    assert (result.switch_requests, result.host_switches) == (1, 1)


def test_hosts_of_several_kinds_are_acknowledged_when_the_slowest_is_done() -> None:
    """One falls asleep in 2 s, the other in 4 s: one acknowledgement, after 4 s; meanwhile neither runs a job."""
    slow = (*SLEEPER_SPEEDS[:3], 0.25, 0.05)
    hosts = (PlatformHost("h0", SLEEPER_SPEEDS, properties=SLEEPER), PlatformHost("h1", slow, properties=SLEEPER))
    names = [host.name for host in hosts]
    machine = Platform("test", hosts, {"zone": TableZone("zone", "", {})}, dict.fromkeys(names, "zone"))
    jobs = workload(job("a", at=1), job("b", at=4))
    sleep: dict[float, list[Command]] = {1.0: [switch("0-1", 2), reject("a")], 4.0: [reject("b")]}
    _, peer = play(jobs, sleep, on=machine, settings=ENERGY)
    assert peer.told("RESOURCE_STATE_CHANGED") == [(5.0, {"resources": "0-1", "state": "2"})]
    for host, state in (("0", "sleeping"), ("1", "switching_off")):
        with pytest.raises(RefusedError, match=f"w0!b on hosts {host} cannot run there now: {host} {state}"):
            play(jobs, {**sleep, 4.0: [execute("b", host)]}, on=machine, settings=ENERGY)


def test_from_one_sleep_to_another_is_refused() -> None:
    """Only to a computing pstate."""
    two = {**SLEEPER, "sleep_pstates": "2:3:4, 1:3:4"}
    with pytest.raises(RefusedError, match="sleeps already; it can only be switched to a computing pstate"):
        play(
            workload(job("a", at=1), job("b", at=3)),
            {1.0: [switch("0", 2), reject("a")], 3.0: [switch("0", 1)]},
            on=platform(1, SLEEPER_SPEEDS, **two),
            settings=ENERGY,
        )


def test_a_host_that_wakes_up_runs_nothing_until_it_is_awake() -> None:
    """BA-13, from Batsim's side: to announce the job a second early is refused."""
    script = {1.0: [switch("0", 2), reject("b")], 3.0: [switch("0", 0)], 22.0: [execute("a", "0")]}
    with pytest.raises(RefusedError, match="0 switching_on"):
        run(script, job("a", at=22), job("b", at=1))


@pytest.mark.parametrize(
    ("properties", "rule"),
    [
        ({}, "host h0: needs the property wattage_per_state"),
        ({"wattage_per_state": "95"}, "h0.wattage_per_state: must be idle:full or idle:epsilon:full"),
        ({"wattage_per_state": "x:y"}, "must hold watts like 95:190, not 'x:y'"),
        ({"wattage_per_state": "1:inf"}, "must hold watts from 0 to 1e+15, not '1:inf'"),
        ({"wattage_per_state": "nan:2"}, "must hold watts from 0 to 1e+15, not 'nan:2'"),
        ({"wattage_per_state": "1:1e300"}, "must hold watts from 0 to 1e+15, not '1:1e300'"),
        ({"wattage_per_state": "-1:2"}, "must hold watts from 0 to 1e+15, not '-1:2'"),
        ({"wattage_per_state": "1:2"}, "must have one entry for each pstate (2), not 1"),
        ({"wattage_per_state": "1:2, 1:2, 1:2"}, "must have one entry for each pstate (2), not 3"),
        ({"wattage_per_state": "1:2, 3:4", "wattage_off": "no"}, "h0.wattage_off: must be a number of watts, not 'no'"),
        ({"watt_per_state": "1:2, 3:4", "watt_off": "5 W"}, "h0.watt_off: must be a number of watts, not '5 W'"),
        ({"watt_per_state": "1:2, 3:4", "sleep_pstates": "0:1"}, "h0.sleep_pstates: must be sleep:off:on"),
        ({"watt_per_state": "1:2, 3:4", "sleep_pstates": "0:1:9"}, "h0.sleep_pstates: must be sleep:off:on"),
        ({"watt_per_state": "1:2, 3:4", "sleep_pstates": f"0:1:{'1' * 5000}"}, "h0.sleep_pstates: must be sleep:off"),
    ],
)
def test_wrong_power_properties_are_named(properties: dict[str, str], rule: str) -> None:
    """With the host, the property and the rule."""
    with pytest.raises(PlatformError) as caught:
        play(workload(), {}, on=platform(1, (1e9, 5e8), **properties), settings=ENERGY)
    assert rule in str(caught.value)
