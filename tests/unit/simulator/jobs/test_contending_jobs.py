"""Jobs that others slow down: their steps, walltimes, kills, speeds and joules."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from batsched_py.hostset import HostSet
from batsched_py.model.external_event import MACHINE_UNAVAILABLE, ExternalEvent
from batsched_py.model.platform import Link, Platform, PlatformHost
from batsched_py.model.settings import Settings
from batsched_py.model.zone import Spoke, StarZone
from batsched_py.simulator.jobs.execution import NO_CONTENTION
from batsched_py.simulator.jobs.lifecycle import SHARED_HOSTS
from tests.unit.simulator.scenario import (
    DELAYS,
    SLEEPER,
    SLEEPER_SPEEDS,
    Profiles,
    Script,
    execute,
    job,
    kill,
    platform,
    play,
    switch,
    workload,
)

PROFILES: Profiles = {
    **DELAYS,
    "com": {"type": "parallel", "cpu": [0, 0], "com": [0, 1000, 0, 0]},
    "cpu": {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0},
    "seq": {"type": "composed", "repeat": 2, "seq": ["d5", "com"]},
    "nested": {"type": "composed", "repeat": 2, "seq": ["com", "seq"]},
    "fails": {"type": "composed", "repeat": 3, "seq": ["com", "wrong", "com"]},
    "wrong": {"type": "parallel", "cpu": [0, 0], "com": [0, 1000, 0, 0], "ret": 3},
    "asks": {"type": "composed", "seq": ["com", "says", "com"]},
    "says": {"type": "send", "msg": {"hello": 1}, "sleeptime": 5},
}
SHARED = Settings(compute_sharing=True)


def network(*, latency: float = 0.0, properties: Mapping[str, str] = MappingProxyType({})) -> Platform:
    """Eight hosts on a backbone of 100 bytes/s, which takes 10 s for `com`."""
    names = ["master_host", *(f"h{number}" for number in range(8))]
    hosts = tuple(PlatformHost(name, (1e9, 5e8), properties=properties) for name in sorted(names))
    spokes = {name: Spoke() for name in names}
    zone = StarZone("z", "", spokes, (Link("backbone", 100.0, latency),))
    return Platform("test", hosts, {"z": zone}, dict.fromkeys(names, "z"))


def ends(script: dict[float, list[Any]], *jobs: Any, on: Platform | None = None, **extra: Any) -> dict[str, Any]:
    """Job -> its end, of jobs that the script executes."""
    result, _ = play(workload(*jobs, profiles=PROFILES), script, on=on or network(), **extra)
    assert result.approximations == ()
    return {record.job.id.partition("!")[2]: pytest.approx(record.finish) for record in result.jobs}


def at_once(*names: str) -> dict[float, list[Any]]:
    """Execute these at 1 s, on two hosts each."""
    return {1.0: [execute(name, f"{2 * number}-{2 * number + 1}") for number, name in enumerate(names)]}


def test_jobs_that_share_a_link_slow_each_other_down() -> None:
    """Two that would take 10 s each take 20 s, and as long as ever with --network alone."""
    jobs = [job("a", "com", res=2, at=1), job("b", "com", res=2, at=1)]
    assert ends(at_once("a", "b"), *jobs) == {"a": 21.0, "b": 21.0}
    alone, _ = play(
        workload(*jobs, profiles=PROFILES), at_once("a", "b"), on=network(), settings=Settings(network="alone")
    )
    assert [record.finish for record in alone.jobs] == [11.0, 11.0]
    assert alone.approximations == (NO_CONTENTION,)


def test_jobs_that_share_a_host_slow_each_other_down() -> None:
    """Likewise."""
    jobs = [job("a", "cpu", at=1), job("b", "cpu", at=1)]
    script = {1.0: [execute("a", "0"), execute("b", "0")]}
    assert ends(dict(script), *jobs, settings=SHARED) == {"a": 21.0, "b": 21.0}
    settings = Settings(compute_sharing=True, network="alone")
    alone, _ = play(workload(*jobs, profiles=PROFILES), dict(script), settings=settings)
    assert [record.finish for record in alone.jobs] == [11.0, 11.0]
    assert alone.approximations == (SHARED_HOSTS,)


def test_steps_of_a_sequence_share_when_they_meet() -> None:
    """The delay of 5 s shares nothing; `seq` transfers from 6 s on, beside `a` until that is done at 16 s."""
    jobs = [job("a", "com", res=2, at=1), job("b", "seq", res=2, at=1)]
    assert ends(at_once("a", "b"), *jobs) == {"a": 16.0, "b": 21.0 + 15.0}


def test_a_step_that_fails_ends_its_sequence() -> None:
    """After two transfers of 20 s, with the return code of the second."""
    jobs = [job("a", "fails", res=2, at=1), job("b", "fails", res=2, at=1)]
    result, _ = play(workload(*jobs, profiles=PROFILES), at_once("a", "b"), on=network())
    assert [(record.return_code, record.state) for record in result.jobs] == [(3, "COMPLETED_FAILED")] * 2
    assert [record.finish for record in result.jobs] == pytest.approx([41.0, 41.0])


def test_a_walltime_may_be_reached_because_of_others() -> None:
    """The link is free for the other from then on."""
    jobs = [job("a", "com", res=2, at=1, walltime=12), job("b", "com", res=2, at=1)]
    assert ends(at_once("a", "b"), *jobs) == {"a": 13.0, "b": 17.0}


@pytest.mark.parametrize("kind", ["parallel_homogeneous", "parallel_homogeneous_total"])
def test_jobs_that_would_never_end_reach_their_walltimes(kind: str) -> None:
    """The backbone would carry more bytes than a number can be."""
    profiles = {"ever": {"type": kind, "cpu": 0, "com": 1e308}}
    jobs = workload(*(job(name, "ever", res=4, at=1, walltime=9) for name in "ab"), profiles=profiles)
    result, _ = play(jobs, {1.0: [execute("a", "0-3"), execute("b", "4-7")]}, on=network())
    assert [(record.finish, record.state) for record in result.jobs] == [(10.0, "COMPLETED_WALLTIME_REACHED")] * 2


@pytest.mark.parametrize(("walltime", "state"), [(30.0, "WALLTIME_REACHED"), (30.1, "SUCCESSFULLY")])
def test_a_delay_at_the_end_must_be_over_before_the_walltime(walltime: float, state: str) -> None:
    """As a delay by itself must; a transfer may end with it."""
    profiles = {**PROFILES, "ends": {"type": "composed", "seq": ["com", "com", "d10"]}}
    jobs = workload(job("a", "ends", res=2, at=1, walltime=walltime), profiles=profiles)
    result, _ = play(jobs, at_once("a"), on=network())
    assert [(record.finish, record.state) for record in result.jobs] == [(31.0, f"COMPLETED_{state}")]


def test_a_transfer_as_long_as_its_walltime_ends_by_itself() -> None:
    """Also one that has a delay before it, in spite of rounding."""
    profiles = {**PROFILES, "d": {"type": "delay", "delay": 0.7}, "s": {"type": "composed", "seq": ["d", "com"]}}
    jobs = workload(job("a", "s", res=2, at=1, walltime=10.7), profiles=profiles)
    result, _ = play(jobs, at_once("a"), on=network())
    assert [record.state for record in result.jobs] == ["COMPLETED_SUCCESSFULLY"]


def progress(at: float, *others: str, settings: Settings = Settings()) -> Any:  # noqa: B008  (frozen)
    """Return the progress of `nested` if it is killed then; `others` transfer from the same instant on."""
    jobs = [job("a", "nested", res=2, at=1), *(job(name, "com", res=2, at=1) for name in others)]
    script = at_once("a", *others) | {at: [kill("a")]}
    script[1.0].append(("CALL_ME_LATER", {"timestamp": at}))
    _, peer = play(workload(*jobs, profiles=PROFILES), script, on=network(), settings=settings)
    ((_, told),) = peer.told("JOB_KILLED")
    return told["job_progress"]["w0!a"]


def test_a_killed_job_tells_how_far_it_came() -> None:
    """Slowed down in its first transfer; alone in the fourth step of the sequence inside of it."""
    assert progress(6.0, "b") == {
        "profile_name": "nested",
        "current_task_index": 0,
        "current_task": {"profile_name": "com", "progress": 0.25},
    }
    inner = progress(36.0)
    assert (inner["current_task_index"], inner["current_task"]["current_task_index"]) == (1, 3)
    assert inner["current_task"]["current_task"] == {"profile_name": "com", "progress": 0.5}


def test_between_two_steps_it_is_at_the_end_of_the_one_before() -> None:
    """As jobs are that nobody slows down."""
    told = progress(11.0)
    assert told["current_task"] == {"profile_name": "com", "progress": 1.0}


def test_a_delay_that_is_killed_tells_its_share() -> None:
    """The share passes as fast as time."""
    told = progress(12.0)
    assert told["current_task"]["current_task"] == {"profile_name": "d5", "progress": 0.2}


def test_a_job_that_talks_is_slowed_down_in_its_tasks() -> None:
    """10 s of transfer beside the other are 20 s; it says something, sleeps 5 s, and is alone."""
    jobs = [job("a", "asks", res=2, at=1), job("b", "com", res=2, at=1)]
    assert ends(at_once("a", "b"), *jobs) == {"b": 21.0, "a": 36.0}


def test_a_job_that_talks_is_cut_by_its_walltime_and_frees_the_link() -> None:
    """It reports its progress when it is killed."""
    jobs = [job("a", "asks", res=2, at=1, walltime=10), job("b", "com", res=2, at=1)]
    assert ends(at_once("a", "b"), *jobs) == {"a": 11.0, "b": 16.0}
    script = at_once("a", "b") | {6.0: [kill("a")]}
    script[1.0].append(("CALL_ME_LATER", {"timestamp": 6}))
    _, peer = play(workload(*jobs, profiles=PROFILES), script, on=network())
    ((_, told),) = peer.told("JOB_KILLED")
    assert told["job_progress"]["w0!a"]["current_task"] == {"profile_name": "com", "progress": 0.25}


def joules(script: dict[float, list[Any]], *jobs: Any, on: Platform) -> tuple[dict[str, Any], Script]:
    """Job -> joules of its hosts while it ran."""
    settings = Settings(energy=True, compute_sharing=True)
    result, peer = play(workload(*jobs, profiles=PROFILES), script, on=on, settings=settings)
    return {record.job.id.partition("!")[2]: pytest.approx(record.energy) for record in result.jobs}, peer


WATTS = {"wattage_per_state": "100:200, 50:80"}


def test_two_on_one_host_draw_what_one_draws() -> None:
    """For 20 s the host is busy, at 200 W; both are charged for all of it."""
    script = {1.0: [execute("a", "0"), execute("b", "0")]}
    jobs = [job("a", "cpu", at=1), job("b", "cpu", at=1)]
    found, _ = joules(script, *jobs, on=platform(1, (1e9, 5e8), **WATTS))
    assert found == {"a": 4000.0, "b": 4000.0}


def test_hosts_draw_less_while_a_link_slows_their_task() -> None:
    """Each host computes for 5 of 10 s alone: half of the span of 100 W, and a quarter of it beside another task."""
    profiles: Profiles = {**PROFILES, "both": {"type": "parallel", "cpu": [5e9, 5e9], "com": [0, 1000, 0, 0]}}
    jobs = workload(job("a", "both", res=2, at=1), job("b", "both", res=2, at=1), profiles=profiles)
    settings = Settings(energy=True)
    result, _ = play(jobs, at_once("a", "b"), on=network(properties=WATTS), settings=settings)
    assert [record.energy for record in result.jobs] == [pytest.approx(2 * 20 * 125.0)] * 2


def test_during_its_latency_a_task_draws_nothing_beyond_idle_hosts() -> None:
    """Another job starts at 2.9 s, when all hosts are charged; the rest of the latency is charged like what follows."""
    jobs = [job("a", "com", res=2, at=1), job("b", "d5", at=2.9)]
    profiles: Profiles = {**PROFILES, "com": {"type": "parallel", "cpu": [1e10, 0], "com": [0, 1, 0, 0]}}
    script = {1.0: [execute("a", "0-1")], 2.9: [execute("b", "2")]}
    result, _ = play(
        workload(*jobs, profiles=profiles),
        script,
        on=network(latency=2.0, properties=WATTS),
        settings=Settings(energy=True),
    )
    assert result.jobs[-1].energy == pytest.approx(1.9 * 200 + 10.1 * 300)


def test_a_slower_pstate_slows_both_down() -> None:
    """Half of the work in 10 s, the other half in 20 s."""
    script = {1.0: [execute("a", "0"), execute("b", "0"), ("CALL_ME_LATER", {"timestamp": 11})], 11.0: [switch("0", 1)]}
    jobs = [job("a", "cpu", at=1), job("b", "cpu", at=1)]
    on = platform(1, SLEEPER_SPEEDS, **SLEEPER)
    result, _ = play(
        workload(*jobs, profiles=PROFILES), script, on=on, settings=Settings(energy=True, compute_sharing=True)
    )
    assert [record.finish for record in result.jobs] == [pytest.approx(31.0)] * 2


def test_a_host_that_fails_frees_the_link() -> None:
    """Its job ends at once."""
    event = ExternalEvent(6.0, MACHINE_UNAVAILABLE, HostSet(0b1))
    jobs = [job("a", "com", res=2, at=1), job("b", "com", res=2, at=1)]
    settings = Settings(external_events=(event,), on_failure="kill")
    assert ends(at_once("a", "b"), *jobs, settings=settings) == {"a": 6.0, "b": 13.5}


def test_what_others_cost_a_job_is_known() -> None:
    """Also of one that is cut by its walltime, one that is killed, and one that talks."""
    jobs = [job("a", "com", res=2, at=1), job("b", "com", res=2, at=1), job("alone", "com", res=2, at=100)]
    script = at_once("a", "b") | {100.0: [execute("alone", "0-1")]}
    result, _ = play(workload(*jobs, profiles=PROFILES), script, on=network())
    assert [slowed.job_id for slowed in result.slowed or ()] == ["w0!a", "w0!b"]
    assert [slowed.execution for slowed in result.slowed or ()] == pytest.approx([20.0, 20.0])
    assert [slowed.alone for slowed in result.slowed or ()] == pytest.approx([10.0, 10.0])
    jobs = [job("cut", "seq", res=2, at=1, walltime=9), job("b", "com", res=2, at=1), job("says", "asks", res=2, at=1)]
    script = at_once("cut", "b", "says") | {12.0: [kill("says")]}
    script[1.0].append(("CALL_ME_LATER", {"timestamp": 12}))
    result, _ = play(workload(*jobs, profiles=PROFILES), script, on=network())
    alone = {slowed.job_id.partition("!")[2]: pytest.approx(slowed.alone) for slowed in result.slowed or ()}
    # Two share the link from 1 s to 6 s, three until 10 s, two until 12 s.
    assert alone == {"cut": 5 + 4 / 3, "says": 2.5 + 4 / 3 + 1, "b": 10.0}


def test_a_sequence_that_takes_no_time_is_over_at_once_however_long_it_is() -> None:
    """A thousand million steps are not played one by one."""
    profiles: Profiles = {
        "none": {"type": "parallel", "cpu": [0, 0], "com": [0, 1e-17, 0, 0]},
        "long": {"type": "composed", "repeat": 10**9, "seq": ["none"]},
    }
    result, _ = play(workload(job("a", "long", res=2, at=1), profiles=profiles), at_once("a"), on=network())
    assert result.jobs[0].success
