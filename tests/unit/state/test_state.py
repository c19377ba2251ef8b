"""The state: what each event and command changes, and what contradicts it."""

from __future__ import annotations

import math

import pytest

from batsched_py.errors import InvariantError
from batsched_py.planning.future.availability import Availability
from batsched_py.protocol.commands import (
    CallMeLater,
    Command,
    KillJob,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SetResourceState,
)
from batsched_py.protocol.events import (
    Config,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    Notify,
    Progress,
    RequestedCall,
    ResourceStateChanged,
)
from batsched_py.reading.faults import FieldError
from batsched_py.state.state import State
from tests.builders import begins, completed, execute, hosts, job, state, submitted


def test_a_submitted_job_waits() -> None:
    """Submission puts a job at the end of the queue and among the arrived."""
    now = state(4, job("a"), job("b"))
    assert [waiting.name for waiting in now.queue] == ["a", "b"]
    assert now.arrived == [job("a"), job("b")]
    now.check()


def test_a_started_job_holds_its_hosts_until_its_walltime() -> None:
    """EXECUTE_JOB moves a job from the queue to the running ones."""
    now = state(4, job("a", size=2, walltime=10))
    now.apply(execute("w0!a", "1-2", 3.0))
    run = now.running["w0!a"]
    assert (run.hosts, run.start, run.end) == (hosts("1-2"), 3.0, 13.0)
    assert now.hosts.free == 0b1001
    assert not now.queue
    now.check()


def test_a_job_without_walltime_has_no_predicted_end() -> None:
    """No walltime, no end."""
    now = state(4, job("a", walltime=None))
    now.apply(execute("w0!a", "0"))
    assert now.running["w0!a"].end == math.inf


@pytest.mark.parametrize("final", ["COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED"])
def test_a_completion_frees_the_hosts(final: str) -> None:
    """However a job ended, its hosts are free and it is forgotten."""
    now = state(4, job("a", size=2))
    now.apply(execute("w0!a", "0-1"))
    now.advance(5.0)
    now.apply(completed("w0!a", 5.0, final))
    assert now.hosts.free == 0b1111
    assert not now.running
    assert now.hosts_changed
    now.check()


def test_a_kill_in_v14_is_announced_by_job_killed_alone() -> None:
    """v1.4 sends no JOB_COMPLETED for a killed job."""
    now = state(4, job("a"), job("b"))
    now.apply(execute("w0!a", "0"))
    now.apply(KillJob(0.0, ("w0!a",)))
    assert now.running["w0!a"].killed
    now.apply(JobKilled(0.0, ("w0!a",), {"w0!a": Progress("p", 0.5)}))
    assert not now.running
    now.check()


def test_a_kill_whose_progress_is_not_told_ends_all_its_jobs() -> None:
    """v1.4's document has JOB_KILLED without `job_progress`; those that had ended before are no news."""
    now = state(4, job("a"), job("b"))
    now.apply(execute("w0!a", "0"))
    now.apply(execute("w0!b", "1"))
    now.apply(KillJob(0.0, ("w0!a", "w0!b")))
    now.apply(completed("w0!b"))
    now.apply(JobKilled(0.0, ("w0!a", "w0!b"), has_progress=False))
    assert not now.running
    assert now.hosts.free == 0b1111
    now.check()


def test_job_killed_after_its_completions_changes_nothing() -> None:
    """Since v3 the completions come first (E9)."""
    now = state(4, job("a"))
    now.apply(execute("w0!a", "0"))
    now.apply(completed("w0!a", 0.0, "COMPLETED_KILLED"))
    now.apply(JobKilled(0.0, ("w0!a",), {"w0!a": Progress("p", 0.5)}))
    assert not now.running
    now.check()


def test_a_rejected_job_is_gone() -> None:
    """REJECT_JOB takes a job out of the queue."""
    now = state(4, job("a"))
    now.apply(RejectJob(0.0, "w0!a"))
    assert not now.queue


def test_an_id_never_comes_twice() -> None:
    """A second submission of one id is Batsim's mistake."""
    now = state(4, job("a"))
    with pytest.raises(FieldError, match=r"job_id: must be new; w0!a was submitted before"):
        now.apply(submitted(job("a")))


def test_a_completion_of_a_job_that_does_not_run_is_refused() -> None:
    """A completion of a waiting job is Batsim's mistake, and changes nothing."""
    now = state(4, job("a"))
    with pytest.raises(FieldError, match="job_id: must be a running job"):
        now.apply(completed("w0!a"))
    assert len(now.queue) == 1


def test_a_completion_on_other_hosts_is_refused() -> None:
    """The hosts announced must be the hosts given."""
    now = state(4, job("a"))
    now.apply(execute("w0!a", "0"))
    with pytest.raises(FieldError, match="alloc: must be the hosts on which w0!a was started, not 3"):
        now.apply(JobCompleted(0.0, "w0!a", "COMPLETED_SUCCESSFULLY", 0, hosts("3")))


def test_a_job_kept_in_redis_needs_a_redis() -> None:
    """Without a description a job cannot wait."""
    now = state(4)
    with pytest.raises(FieldError, match="job: is missing"):
        now.apply(JobSubmitted(0.0, "w0!a", None))


@pytest.mark.parametrize("command", [execute("w0!nobody", "0"), execute("w0!b", "0")])
def test_an_impossible_start_is_our_own_defect(command: Command) -> None:
    """The Plan refuses these; if one arrives here, the books are wrong."""
    now = state(4, job("a"), job("b"))
    now.apply(execute("w0!a", "0"))
    with pytest.raises(InvariantError):
        now.apply(command)


def test_failed_hosts_are_not_free_until_they_are_back() -> None:
    """Machine events move hosts out of the free ones and back (BA-12)."""
    now = state(4)
    now.apply(Notify(0.0, "event_machine_unavailable", hosts("0-1")))
    assert now.hosts.free == 0b1100
    assert now.hosts_changed
    now.apply(Notify(0.0, "event_machine_available", hosts("0")))
    assert now.hosts.free == 0b1101


def test_a_job_on_a_failed_host_runs_on() -> None:
    """Unavailability stops no job (E16); the host is free only when it is back and the job has ended."""
    now = state(2, job("a"))
    now.apply(execute("w0!a", "0"))
    now.apply(Notify(0.0, "event_machine_unavailable", hosts("0")))
    now.apply(completed("w0!a"))
    assert now.hosts.free == 0b10
    now.apply(Notify(0.0, "event_machine_available", hosts("0")))
    assert now.hosts.free == 0b11


def test_switching_hosts_take_no_job_until_acknowledged() -> None:
    """A host is out from the request on, and stays out if the new pstate is a sleep (BA-13)."""
    now = state(0)
    now.apply(begins(2, sleep_pstates="2:3:4"))
    now.apply(SetResourceState(0.0, hosts("0-1"), "2"))
    assert now.hosts.free == 0
    now.apply(ResourceStateChanged(5.0, hosts("0"), "2"))
    assert (now.hosts.asleep, now.hosts.switching, now.hosts.free) == (0b1, 0b10, 0)
    now.apply(ResourceStateChanged(5.0, hosts("1"), "0"))
    assert now.hosts.free == 0b10
    assert now.hosts.pstate == {0: "2", 1: "0"}


def test_a_due_call_is_done_and_later_ones_stay() -> None:
    """REQUESTED_CALL does not say which; those that are due are done, within the wire's six decimals."""
    now = state(1)
    now.apply(CallMeLater(0.0, 5.0000004))
    now.apply(CallMeLater(0.0, 9.0))
    now.advance(5.0)
    now.apply(RequestedCall(5.0))
    assert now.wakeups == {9.0}
    now.check()


def test_a_registered_job_waits_once_acknowledged() -> None:
    """With acknowledgement a job of ours is known at once and waits when Batsim says so."""
    now = state(1, config=Config(dynamic_jobs=True, dynamic_jobs_acknowledged=True))
    now.apply(RegisterProfile(0.0, "w0", "p", {"type": "delay", "delay": 1}))
    now.apply(RegisterJob(0.0, "w0!x", job("x")))
    assert not now.queue
    now.apply(submitted(job("x")))
    assert "w0!x" in now.queue
    now.check()


def test_a_registered_job_waits_at_once_without_acknowledgement() -> None:
    """Without acknowledgement nothing will come, so it waits now."""
    now = state(1, config=Config(dynamic_jobs=True))
    now.apply(RegisterJob(0.0, "w0!x", job("x")))
    assert "w0!x" in now.queue
    assert now.arrived == []
    now.advance(1.0)
    assert now.arrived == [job("x")]


def test_sharing_jobs_free_a_host_when_the_last_one_ends() -> None:
    """With compute sharing a host is free only when nobody is left on it."""
    now = state(1, job("a"), job("b"), sharing=True)
    now.apply(execute("w0!a", "0"))
    now.apply(execute("w0!b", "0"))
    now.apply(completed("w0!a"))
    assert now.hosts.free == 0
    now.apply(completed("w0!b"))
    assert now.hosts.free == 0b1
    now.check()


@pytest.mark.parametrize("late", [False, True], ids=["followed from the start", "followed later"])
def test_shared_hosts_are_expected_when_the_last_job_ends(late: bool) -> None:
    """The order of starts and ends does not matter; each host counts by itself."""
    now = state(3, *(job(name, walltime=end) for name, end in (("a", 100), ("b", 300), ("c", 200))), sharing=True)
    forecast = Availability(0.0, 0b111)
    if not late:
        now.follow(forecast)
    for name, taken in (("a", "0-1"), ("b", "0"), ("c", "0-2")):
        now.apply(execute(f"w0!{name}", taken))
    if late:
        now.follow(forecast)
    assert expected(forecast) == [(0.0, 0), (200.0, 0b110), (300.0, 0b111)]
    now.apply(completed("w0!b"))
    assert expected(forecast) == [(0.0, 0), (200.0, 0b111)]
    now.apply(completed("w0!c"))
    assert expected(forecast) == [(0.0, 0b100), (100.0, 0b111)]
    now.apply(completed("w0!a"))
    assert expected(forecast) == [(0.0, 0b111)]


def expected(forecast: Availability) -> list[tuple[float, int]]:
    """Instants from which on more hosts are expected to be free, and which."""
    return [(time, free.bits) for time, free in forecast.steps()]


def test_a_new_message_forgets_what_was_new() -> None:
    """`arrived` and `hosts_changed` speak of the latest message only."""
    now = state(2, job("a"))
    now.apply(execute("w0!a", "0"))
    now.apply(completed("w0!a"))
    now.advance(1.0)
    assert now.arrived == []
    assert not now.hosts_changed


def test_check_finds_hosts_that_are_busy_for_nobody() -> None:
    """check() compares the bits with the running jobs."""
    now = state(2)
    now.hosts.busy = 0b1
    with pytest.raises(InvariantError, match="busy hosts"):
        now.check()


def test_a_kill_that_overtakes_the_completion_frees_the_hosts_once() -> None:
    """JOB_KILLED first, JOB_COMPLETED after it: messages of different hosts take different times (BA-7)."""
    now = state(2, job("a"), job("b"))
    now.apply(execute("w0!a", "0"))
    now.apply(JobKilled(0.0, ("w0!a",), {"w0!a": Progress("p", 0.5)}))
    now.apply(execute("w0!b", "0"))
    now.apply(completed("w0!a", state="COMPLETED_KILLED"))
    now.check()
    assert list(now.running) == ["w0!b"]
    with pytest.raises(FieldError, match="must be a running job"):
        now.apply(completed("w0!a"))


def test_a_job_that_had_ended_before_its_kill_ends_by_its_completion() -> None:
    """It is named in JOB_KILLED without progress, and its completion may still be on its way."""
    now = state(1, job("a"))
    now.apply(execute("w0!a", "0"))
    now.apply(JobKilled(0.0, ("w0!a",)))
    assert list(now.running) == ["w0!a"]
    now.apply(completed("w0!a"))
    now.check()
    assert now.hosts.free == 1


@pytest.mark.parametrize(("names", "pstate"), [("0", "2"), ("1-3", "999999999")])
def test_a_pstate_that_a_host_does_not_have_is_the_peers_mistake(names: str, pstate: str) -> None:
    """As far as hosts tell how many they have; algorithms look their pstates up in what hosts told."""
    now = State()
    now.apply(begins(4, wattage_per_state="10:20,5:5"))
    now.apply(ResourceStateChanged(0.0, hosts(names), "1"))
    with pytest.raises(FieldError, match=r"^state: must be below 2, the pstates of host"):
        now.apply(ResourceStateChanged(0.0, hosts(names), pstate))
    silent = state(4)
    silent.apply(ResourceStateChanged(0.0, hosts(names), pstate))
    assert silent.hosts.pstate[1 if names == "1-3" else 0] == pstate
