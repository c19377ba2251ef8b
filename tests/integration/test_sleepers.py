"""The algorithms whose hosts sleep, against the simulator: nobody starves, and hosts are used when they are awake."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from batsched_py.simulator.records import Result
from tests.integration.energy_runs import FAILURES, SPECS, Failure, Spec, Watch, run

SLEEPERS: list[tuple[str, dict[str, str]]] = [
    ("easy_idle_sleeper", {"idle_time": "0"}),
    ("easy_idle_sleeper", {"idle_time": "10", "keep_awake": "2", "reserve": "hosts"}),
    ("easy_idle_sleeper", {"idle_time": "none", "sleep_state": "deepest", "wake_for": "queue"}),
    ("easy_idle_sleeper", {"idle_time": "3", "off_time": "2", "on_time": "20", "wake_for": "queue"}),
    ("easy_idle_sleeper", {"idle_time": "0", "order": "sjf"}),
    ("easy_subpart_sleeper", {}),
    ("easy_subpart_sleeper", {"awake": "0", "idle_time": "5", "reserve": "hosts"}),
    ("easy_subpart_sleeper", {"awake": "0.3", "sleep_state": "deepest", "backfill_order": "sjf"}),
]


@pytest.mark.parametrize("latency", [False, True], ids=["at-once", "messages"])
@pytest.mark.parametrize(("name", "options"), SLEEPERS)
@given(SPECS, FAILURES)
@settings(max_examples=30)
def test_every_job_ends_and_no_host_is_used_before_it_was_announced(
    name: str, options: dict[str, str], latency: bool, specs: list[Spec], failures: list[Failure]
) -> None:
    """Jobs come while hosts switch and while all are asleep, hosts fail in any state: nothing stands still."""
    result, watch = run(name, options, specs, failures, latency=latency)
    assert len(result.jobs) == len(specs)
    assert all(record.state in ("COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED") for record in result.jobs)
    assert len(watch.told("RESOURCE_STATE_CHANGED")) == len(watch.said("SET_RESOURCE_STATE"))


@pytest.mark.parametrize(("name", "options"), SLEEPERS)
@given(SPECS)
@settings(max_examples=15)
def test_the_end_is_not_delayed_by_a_call(name: str, options: dict[str, str], specs: list[Spec]) -> None:
    """A call that is pending would keep Batsim from ending: when no job waits none is for later than all walltimes."""
    result, watch = run(name, options, specs)
    latest = max(record.start + (record.job.walltime or 0) for record in result.jobs)
    last_start = max(record.start for record in result.jobs)
    asked = [data["timestamp"] for now, _, data in watch.said("CALL_ME_LATER") if now > last_start]
    assert all(call < latest for call in asked)


def starts(result: Result) -> list[float]:
    return [record.start for record in sorted(result.jobs, key=lambda record: record.job.id)]


def switches(watch: Watch) -> list[tuple[float, str, str]]:
    """(when, hosts, pstate) of each request."""
    return [(now, data["resources"], data["state"]) for now, _, data in watch.said("SET_RESOURCE_STATE")]


def test_idle_hosts_are_switched_off_after_their_time_and_woken_on_demand() -> None:
    """All but one sleep from 10 s on; a job of three at 50 wakes the two cheapest and one other, and waits 20 s."""
    result, watch = run("easy_idle_sleeper", {"idle_time": "10"}, [(0, 1, 80, 80), (50, 3, 10, 10)])
    off, on = [(10.0, "1-3", "2"), (10.0, "4-5", "2")], [(50.0, "1", "0"), (50.0, "4-5", "0")]
    assert switches(watch) == off + on
    assert starts(result) == [0, 70]


def test_as_many_hosts_stay_awake_as_were_asked_for() -> None:
    """`keep_awake` hosts are never switched off while nobody waits: those that jobs take first."""
    _, watch = run("easy_idle_sleeper", {"idle_time": "0", "keep_awake": "2"}, [(60, 2, 10, 10)])
    assert switches(watch)[:2] == [(0.0, "2-3", "2"), (0.0, "4-5", "2")]
    assert watch.said("EXECUTE_JOB")[0][0] == 60.0


def test_the_hosts_of_a_blocked_job_stay_awake() -> None:
    """Four hosts wait idle for a job of six that waits for the other two."""
    result, watch = run("easy_idle_sleeper", {"idle_time": "5"}, [(0, 2, 25, 40), (0, 6, 5, 5)])
    assert switches(watch) == []
    assert starts(result) == [0, 25]


def test_a_part_of_the_machine_is_awake_until_a_larger_job_comes() -> None:
    """Three of six; all six for the job of six, and three again when it has ended and another one waits."""
    specs = [(0, 2, 10, 10), (30, 6, 10, 10), (100, 1, 10, 10)]
    result, watch = run("easy_subpart_sleeper", {"awake": "0.5"}, specs)
    assert starts(result) == [0, 50, 100]
    assert [hosts for now, hosts, _ in switches(watch) if now == 0] == ["3", "4-5"]
    assert {hosts for now, hosts, _ in switches(watch) if now == 30} == {"3", "4-5"}
    assert [hosts for now, hosts, _ in switches(watch) if now == 60] == ["3", "4-5"]


@pytest.mark.parametrize(("name", "options"), SLEEPERS)
@given(SPECS)
@settings(max_examples=15)
def test_the_same_input_gives_the_same_decisions(name: str, options: dict[str, str], specs: list[Spec]) -> None:
    """While hosts sleep, too."""
    assert run(name, options, specs)[1].answered == run(name, options, specs)[1].answered
