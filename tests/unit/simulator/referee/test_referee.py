"""Commands that the referee refuses, as Batsim aborts on them, and those that it accepts."""

from typing import Any

import pytest

from batsched_py.errors import RefusedError
from batsched_py.hostset import HostSet
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.settings import Settings
from tests.unit.simulator.scenario import (
    SLEEPER,
    SLEEPER_SPEEDS,
    Command,
    call,
    execute,
    job,
    kill,
    platform,
    play,
    reject,
    workload,
)

JOBS = workload(job("a", at=1), job("b", at=1, res=2), job("late", at=50))


def said(kind: str, **data: Any) -> Command:
    return kind, data


@pytest.mark.parametrize(
    ("commands", "rule"),
    [
        ([execute("nobody", "0")], "events[0] EXECUTE_JOB: job w0!nobody is unknown"),
        ([execute("late", "0")], "job w0!late is unknown: it was never submitted"),
        ([execute("a", "0"), execute("a", "1")], "events[1] EXECUTE_JOB: job w0!a is RUNNING, it cannot be executed"),
        ([execute("a", "0"), execute("b", "0-1")], "job w0!b on hosts 0 cannot run there: another job does"),
        ([execute("a", "4")], "job w0!a on hosts 4 names hosts that do not exist: there are 4"),
        ([execute("a", "0-1")], "job w0!a on hosts 0-1 asks for 1 host, not 2 hosts"),
        ([execute("b", "0-1", mapping={"0": "0"})], "asks for 2 hosts, not 1 executor in the mapping"),
        ([execute("b", "0", mapping={"0": "0", "1": "1"})], "has a mapping to position 1 of alloc, which has 1 host"),
        ([reject("a"), reject("a")], "job w0!a is REJECTED, it cannot be rejected"),
        ([execute("a", "0"), reject("a")], "job w0!a is RUNNING, it cannot be rejected"),
        ([kill("nobody")], "KILL_JOB: job w0!nobody is unknown"),
        ([kill("a")], "job w0!a does not run, it cannot be killed"),
        ([call(1.0)], "CALL_ME_LATER: asks to be called at 1.0, which is not later than 1.0"),
        ([said("SET_RESOURCE_STATE", resources="0", state="0")], "on hosts 0 needs energy to be counted"),
        ([said("QUERY", requests={"consumed_energy": {}})], "asks for consumed_energy, which needs energy"),
        ([said("QUERY", requests={"weather": {}})], 'QUERY: may only ask {"consumed_energy": {}}'),
        ([said("SET_JOB_METADATA", job_id="w0!x", metadata="m")], "SET_JOB_METADATA: job w0!x is unknown"),
        ([said("TO_JOB_MSG", job_id="w0!x", msg="m")], "job w0!x is unknown"),
        ([said("CHANGE_JOB_STATE", job_id="w0!a", job_state="REJECTED")], "cannot be set to REJECTED"),
        ([said("CHANGE_JOB_STATE", job_id="w0!x", job_state="RUNNING")], "job w0!x is unknown"),
        (
            [said("REGISTER_JOB", job_id="w0!n", job={"id": "n", "subtime": 0, "res": 1, "profile": "d10"})],
            "REGISTER_JOB: needs dynamic jobs to be enabled",
        ),
        ([said("REGISTER_PROFILE", workload_name="w", profile_name="p", profile={})], "needs dynamic jobs"),
    ],
)
def test_what_aborts_batsim_is_refused_in_one_line(commands: list[Command], rule: str) -> None:
    """The line says when, which event of the reply, which job, which hosts, and the rule."""
    with pytest.raises(RefusedError) as caught:
        play(JOBS, {1.0: commands})
    assert str(caught.value).startswith("t=1.000000: events[")
    assert rule in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_completed_job_is_forgotten_once_its_end_was_told() -> None:
    """To kill it then aborts Batsim (E8)."""
    with pytest.raises(RefusedError, match="its end was reported and it is forgotten"):
        play(workload(job("a", at=1)), {1.0: [execute("a", "0")], 11.0: [kill("a")]})


def test_metadata_may_be_set_until_the_end() -> None:
    """It ends in the record of the job."""
    metadata = said("SET_JOB_METADATA", job_id="w0!a", metadata="mine")
    result, _ = play(workload(job("a", at=1)), {1.0: [metadata, execute("a", "0")]})
    assert result.jobs[0].metadata == "mine"


def test_a_rejected_job_keeps_its_metadata() -> None:
    """Set before the rejection, in the same reply."""
    metadata = said("SET_JOB_METADATA", job_id="w0!a", metadata="why")
    result, _ = play(workload(job("a", at=1)), {1.0: [metadata, reject("a")]})
    assert result.jobs[0].metadata == "why"


def test_an_unavailable_host_is_refused_until_it_is_available_again() -> None:
    """E16: the job that runs there goes on."""
    events = (
        ExternalEvent(2.0, "machine_unavailable", HostSet.of(0, 1)),
        ExternalEvent(30.0, "machine_available", HostSet.of(0, 1)),
    )
    settings = Settings(external_events=events)
    jobs = workload(job("a", at=1), job("b", at=3), job("c", at=40))
    with pytest.raises(RefusedError, match="job w0!b on hosts 1 cannot run there now: 1 unavailable"):
        play(jobs, {1.0: [execute("a", "0")], 3.0: [execute("b", "1")]}, settings=settings)
    result, peer = play(
        jobs, {1.0: [execute("a", "0")], 3.0: [execute("b", "2")], 40.0: [execute("c", "0")]}, settings=settings
    )
    assert [record.start for record in result.jobs] == [1.0, 3.0, 40.0]
    assert (30.0, {"type": "no_more_external_event_to_occur"}) in peer.told("NOTIFY")


def test_a_call_may_be_a_hair_ahead() -> None:
    """Less than 10 microseconds ahead means 10 microseconds ahead, as in Batsim."""
    _, peer = play(workload(job("a", at=1)), {1.0: [reject("a"), call(1.000001)]})
    assert peer.told("REQUESTED_CALL") == [(1.00001, {})]


def test_answers_are_only_logged() -> None:
    """estimate_waiting_time changes nothing (E20)."""
    answer = said("ANSWER", estimate_waiting_time={"job_id": "w0!a", "estimated_waiting_time": 3})
    result, _ = play(workload(job("a", at=1)), {1.0: [answer, reject("a")]})
    assert len(result.jobs) == 1


def test_shared_hosts_take_several_jobs_if_that_is_enabled() -> None:
    """They are idle again when the last of them has ended."""
    jobs = workload(job("a", at=1, profile="d5"), job("b", at=1), job("c", at=20))
    script = {1.0: [execute("a", "0"), execute("b", "0")], 20.0: [execute("c", "0")]}
    result, _ = play(jobs, script, settings=Settings(compute_sharing=True))
    assert [record.finish for record in result.jobs] == [6.0, 11.0, 30.0]
    assert result.host_seconds["computing"] == 20.0


def test_a_job_called_running_in_the_books_never_ends() -> None:
    """Only SUBMITTED to RUNNING passes in Batsim 4.2.1, and then the run cannot end."""
    change = said("CHANGE_JOB_STATE", job_id="w0!a", job_state="RUNNING")
    with pytest.raises(Exception, match="w0!a was set to RUNNING by CHANGE_JOB_STATE and never ends"):
        play(workload(job("a", at=1)), {1.0: [change]})


@pytest.mark.parametrize(
    ("commands", "rule"),
    [
        ([said("SET_RESOURCE_STATE", resources="9", state="0")], "on hosts 9 names a host that does not exist"),
        ([said("SET_RESOURCE_STATE", resources="0", state="7")], "on hosts 0 has no pstate 7"),
        ([said("SET_RESOURCE_STATE", resources="0", state="3")], "it only models a transition"),
        ([said("SET_RESOURCE_STATE", resources="0", state="2")] * 2, "on hosts 0 is switching already"),
        ([execute("a", "0"), said("SET_RESOURCE_STATE", resources="0-1", state="2")], "on hosts 0 cannot sleep"),
        ([said("SET_RESOURCE_STATE", resources="0", state="2"), execute("a", "0")], "0 switching_off"),
    ],
)
def test_impossible_power_states_are_refused(commands: list[Command], rule: str) -> None:
    """With the hosts and the rule."""
    with pytest.raises(RefusedError) as caught:
        play(JOBS, {1.0: commands}, on=platform(4, SLEEPER_SPEEDS, **SLEEPER), settings=Settings(energy=True))
    assert rule in str(caught.value)


def test_a_sleeping_host_runs_nothing_and_cannot_sleep_more() -> None:
    """It must be switched on first."""
    machine, settings = platform(4, SLEEPER_SPEEDS, **SLEEPER), Settings(energy=True)
    sleep = said("SET_RESOURCE_STATE", resources="0", state="2")
    with pytest.raises(RefusedError, match="0 sleeping"):
        play(JOBS, {1.0: [sleep], 3.0: [execute("a", "0")]}, on=machine, settings=settings)
    with pytest.raises(RefusedError, match="sleeps already"):
        play(JOBS, {1.0: [sleep], 3.0: [sleep]}, on=machine, settings=settings)
