"""The algorithms whose hosts sleep, against the simulator: when they sleep, and for whom they are woken."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from batsched_py.hostset import HostSet
from batsched_py.plugins import load
from batsched_py.session.session import Session
from batsched_py.testing import Case, play
from batsched_py.testing.strategies import cases
from tests.integration.energy_runs import SPECS, Spec, run, starts
from tests.integration.variants import SPECIAL
from tests.recorded_run import RecordedRun

#: EASY on hosts that sleep, and all that switch hosts.
SLEEPERS = [variant for variant in SPECIAL if variant[0] in ("easy_idle_sleeper", "easy_subpart_sleeper")]
SWITCHING = [variant for variant in SPECIAL if variant[0].startswith(("easy_", "energy_budget"))]


@pytest.mark.parametrize(("name", "options"), SWITCHING)
@given(cases(energy=True, failing=True))
@settings(max_examples=10)
def test_no_host_that_has_failed_is_switched(name: str, options: dict[str, str], case: Case) -> None:
    """Batsim would do it; the host is not there."""

    def watch(session: Session, request: bytes, reply: bytes) -> None:
        for event in json.loads(reply)["events"]:
            if event["type"] == "SET_RESOURCE_STATE":
                assert session.view.unavailable.isdisjoint(HostSet.parse(event["data"]["resources"]))

    play(load(name), options, case, watch)


@pytest.mark.parametrize(("name", "options"), SLEEPERS)
@given(SPECS)
@settings(max_examples=15)
def test_the_end_is_not_delayed_by_a_call(name: str, options: dict[str, str], specs: list[Spec]) -> None:
    """A call that is pending would keep Batsim from ending: when no job waits none is for later than all walltimes."""
    result, talk = run(name, options, specs)
    latest = max(record.start + (record.job.walltime or 0) for record in result.jobs)
    last_start = max(record.start for record in result.jobs)
    asked = [data["timestamp"] for now, _, data in talk.said("CALL_ME_LATER") if now > last_start]
    assert all(call < latest for call in asked)


def switches(talk: RecordedRun) -> list[tuple[float, str, str]]:
    """(when, hosts, pstate) of each request."""
    return [(now, data["resources"], data["state"]) for now, _, data in talk.said("SET_RESOURCE_STATE")]


def test_idle_hosts_are_switched_off_after_their_time_and_woken_on_demand() -> None:
    """All but one sleep from 10 s on; a job of three at 50 wakes the two cheapest and one other, and waits 20 s."""
    result, talk = run("easy_idle_sleeper", {"idle_time": "10"}, [(0, 1, 80, 80), (50, 3, 10, 10)])
    off, on = [(10.0, "1-3", "2"), (10.0, "4-5", "2")], [(50.0, "1", "0"), (50.0, "4-5", "0")]
    assert switches(talk) == off + on
    assert starts(result) == [0, 70]


def test_as_many_hosts_stay_awake_as_were_asked_for() -> None:
    """`keep_awake` hosts are never switched off while nobody waits: those that jobs take first."""
    _, talk = run("easy_idle_sleeper", {"idle_time": "0", "keep_awake": "2"}, [(60, 2, 10, 10)])
    assert switches(talk)[:2] == [(0.0, "2-3", "2"), (0.0, "4-5", "2")]
    assert talk.said("EXECUTE_JOB")[0][0] == 60.0


def test_the_hosts_of_a_blocked_job_stay_awake() -> None:
    """Four hosts wait idle for a job of six that waits for the other two."""
    result, talk = run("easy_idle_sleeper", {"idle_time": "5"}, [(0, 2, 25, 40), (0, 6, 5, 5)])
    assert switches(talk) == []
    assert starts(result) == [0, 25]


def test_a_part_of_the_machine_is_awake_until_a_larger_job_comes() -> None:
    """Three of six; all six for the job of six, and three again when it has ended and another one waits."""
    specs = [(0, 2, 10, 10), (30, 6, 10, 10), (100, 1, 10, 10)]
    result, talk = run("easy_subpart_sleeper", {"awake": "0.5"}, specs)
    assert starts(result) == [0, 50, 100]
    assert [hosts for now, hosts, _ in switches(talk) if now == 0] == ["3", "4-5"]
    assert {hosts for now, hosts, _ in switches(talk) if now == 30} == {"3", "4-5"}
    assert [hosts for now, hosts, _ in switches(talk) if now == 60] == ["3", "4-5"]
