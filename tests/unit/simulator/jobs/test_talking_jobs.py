"""Jobs that link with the scheduler: profiles of type send and recv."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.errors import DeadlockError, RefusedError, WorkloadError
from batsched_py.model.settings import Settings
from batsched_py.simulator.jobs import talking_jobs as talking
from batsched_py.simulator.jobs.talking_jobs import FORGOTTEN
from tests.unit.simulator.scenario import (
    DELAYS,
    SLEEPER,
    Command,
    Profiles,
    execute,
    job,
    kill,
    platform,
    play,
    workload,
)

PROFILES: Profiles = {
    **DELAYS,
    "cpu": {"type": "parallel_homogeneous", "cpu": 10e9, "com": 0},
    "say": {"type": "send", "msg": {"want": "more", "share": 1 / 3}},
    "say, sleep": {"type": "send", "msg": {}, "sleeptime": 5, "ret": 7},
    "wait": {"type": "recv", "polltime": 1, "ret": 3},
    "ask": {"type": "recv", "regex": "go|run", "success": "d10", "failure": "d5", "polltime": 1},
    "peek": {"type": "recv", "success": "d10", "timeout": "d5"},
    "again": {"type": "recv", "regex": "stop", "failure": "again", "polltime": 1},
    "ever": {"type": "recv", "timeout": "ever"},
    "fails": {"type": "recv", "success": "broken", "polltime": 1, "ret": 9},
    "broken": {"type": "delay", "delay": 2, "ret": 4},
    "link": {"type": "composed", "seq": ["say", "cpu", "ask", "cpu"], "repeat": 2},
    # Named by no job, so that a job of each must be there for Batsim to know them.
    "known": {"type": "composed", "seq": ["d10", "d5", "broken", "again", "ever"]},
}


def tell(text: str, at: float, name: str = "a") -> Command:
    """TO_JOB_MSG."""
    return "TO_JOB_MSG", {"job_id": f"w0!{name}", "msg": text}, at


def run(profile: str, *commands: Command, walltime: float | None = None, **settings: Any) -> Any:
    """(job's record, peer, approximations) of one job that starts at 1 s; commands are said with the start."""
    jobs = workload(job("a", profile, at=1, walltime=walltime), job("k", "known", at=1), profiles=PROFILES)
    script = {1.0: [("REJECT_JOB", {"job_id": "w0!k"}), execute("a", "0"), *commands]}
    result, peer = play(jobs, script, settings=Settings(**settings))
    return result.jobs[1], peer, result.approximations


def test_a_job_says_something_to_the_scheduler() -> None:
    """FROM_JOB_MSG with the profile's object; then it sleeps next to nothing."""
    record, peer, _ = run("say")
    assert peer.told("FROM_JOB_MSG") == [(1.0, {"job_id": "w0!a", "msg": {"want": "more", "share": 0.333333}})]
    assert record.execution == pytest.approx(1e-7)
    assert peer.told("JOB_COMPLETED")[0][1]["return_code"] == 0


@pytest.mark.parametrize(
    ("walltime", "state", "code", "duration"),
    [
        (None, "COMPLETED_FAILED", 7, 5.0),
        (5.001, "COMPLETED_FAILED", 7, 5.0),
        (5, "COMPLETED_WALLTIME_REACHED", -1, 5.0),
        (2, "COMPLETED_WALLTIME_REACHED", -1, 2.0),
    ],
)
def test_a_send_sleeps_like_a_delay(walltime: float | None, state: str, code: int, duration: float) -> None:
    """Its return code counts, and it must end before the walltime."""
    record, peer, _ = run("say, sleep", walltime=walltime)
    assert (record.state, record.return_code, record.execution) == (state, code, duration)
    assert len(peer.told("FROM_JOB_MSG")) == 1


@pytest.mark.parametrize(
    ("profile", "commands", "walltime", "duration", "code"),
    [
        # Found at the next look, each second after the start; success 10 s, failure 5 s.
        ("ask", [tell("go", 4.5)], None, 4 + 10, 0),
        ("ask", [tell("run", 4.0)], None, 3 + 10, 0),
        ("ask", [tell("no go", 4.5)], None, 4 + 5, 0),
        # The first text counts; it may be there before the job looks.
        ("ask", [tell("no", 1.0), tell("go", 1.5)], None, 1 + 5, 0),
        # Without a continuation it goes on at once, with its own return code.
        ("wait", [tell("anything", 1.2)], None, 1, 3),
        # With a continuation for silence it does not wait.
        ("peek", [tell("late", 3.0)], None, 5, 0),
        # It may wait again and again.
        ("again", [tell("x", 1.5), tell("y", 5.0), tell("stop", 9.5)], None, 9, 0),
        # What fails inside is the job's return code.
        ("fails", [tell("x", 1.0)], None, 1 + 2, 4),
        # The walltime ends the wait, also if the text was found at that very instant.
        ("ask", [], 30, 30, -1),
        ("ask", [tell("go", 30.5)], 30, 30, -1),
        ("ask", [tell("go", 28.5)], 30, 30, -1),
        ("ask", [tell("go", 10.5)], 30, 20, 0),
    ],
)
def test_a_job_waits_for_a_text(
    profile: str, commands: list[Command], walltime: float | None, duration: float, code: int
) -> None:
    """It goes on as its profile says."""
    record, _, approximations = run(profile, *commands, walltime=walltime)
    assert (record.execution, record.return_code) == (pytest.approx(duration), code)
    assert approximations == ()


def test_a_text_that_is_sent_before_the_start_is_kept() -> None:
    """As in Batsim, where each job has an inbox."""
    jobs = workload(job("a", "peek", at=1), job("b", "d10", at=1), job("k", "known", at=1), profiles=PROFILES)
    early = [("REJECT_JOB", {"job_id": "w0!k"}), execute("b", "0"), tell("hello", 1.0), tell("unheard", 1.0, "b")]
    result, _ = play(jobs, {1.0: early, 11.0: [execute("a", "0")]})
    assert result.jobs[-1].execution == 10


def test_the_default_of_polling_is_five_milliseconds() -> None:
    """A text is found at a whole number of them."""
    profiles = {"r": {"type": "recv"}}
    script = {1.0: [execute("a", "0"), tell("x", 2.0)]}
    result, _ = play(workload(job("a", "r", at=1), profiles=profiles), script)
    assert result.jobs[0].execution == pytest.approx(1.0)
    result, _ = play(workload(job("a", "r", at=1), profiles=profiles), {1.0: [execute("a", "0"), tell("x", 2.0011)]})
    assert result.jobs[0].execution == pytest.approx(1.005)


def test_a_talk_of_several_turns() -> None:
    """Each repetition says something, computes, waits for the answer, does what it says and computes again."""
    answers = [tell("go", 20.0), tell("no", 60.0)]
    record, peer, _ = run("link", *answers)
    # Each time: computing, looking each second until the text is there, what it says, computing.
    assert record.execution == pytest.approx((10 + 9 + 10 + 10) + (10 + 10 + 5 + 10), abs=1e-3)
    assert [stamp for stamp, _ in peer.told("FROM_JOB_MSG")] == [1.0, pytest.approx(40.0, abs=1e-3)]


@pytest.mark.parametrize(
    ("profile", "commands", "code", "progress"),
    [
        ("wait", [], -1, {"profile_name": "wait", "current_task_index": -1}),
        ("say, sleep", [], -1, {"profile_name": "say, sleep", "current_task_index": -1}),
        (
            "ask",
            [tell("go", 1.0)],
            -1,
            {
                "profile_name": "ask",
                "current_task_index": 0,
                "current_task": {"profile_name": "d10", "progress": 0.2},
            },
        ),
        (
            "link",
            [],
            -2,
            {
                "profile_name": "link",
                "current_task_index": 1,
                "current_task": {"profile_name": "cpu", "progress": 0.3},
            },
        ),
    ],
)
def test_a_kill_stops_a_talk(profile: str, commands: list[Command], code: int, progress: object) -> None:
    """A talking job has no progress of its own; the return code is that of the part that ran."""
    record, peer, _ = run(profile, *commands, (*kill("a"), 4.0))
    assert (record.state, record.return_code, record.finish) == ("COMPLETED_KILLED", code, 4.0)
    assert peer.told("JOB_KILLED") == [(4.0, {"job_ids": ["w0!a"], "job_progress": {"w0!a": progress}})]


def test_a_text_after_the_end_is_ignored() -> None:
    """Until its end was reported a job is known; its hosts are free, and nothing starts again."""
    record, peer, _ = run("ask", (*kill("a"), 2.5), tell("go", 2.5))
    assert record.finish == 2.5
    assert len(peer.told("JOB_COMPLETED")) == 1


def test_a_job_that_waits_for_ever_is_named() -> None:
    """Batsim looks for a message for ever; here nothing will ever happen again."""
    with pytest.raises(DeadlockError, match=r"w0!a waits for a message \(profile of type recv\), without a walltime"):
        run("wait")


def test_a_job_that_goes_on_for_ever_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a text "ever" goes on with itself at once: Batsim's stack overflows."""
    monkeypatch.setattr(talking, "DEEPEST", 100)
    with pytest.raises(
        RefusedError, match=r"t=1.0*: job w0!a continues forever: 100 profiles inside each other \(ever\)"
    ):
        run("ever")


def test_a_job_may_wait_thousands_of_times() -> None:
    """Its profiles are inside each other, without a limit of Python; the progress that is told is cut."""
    texts = [tell("x", 1.5 + number) for number in range(3000)]
    record, peer, _ = run("again", *texts, (*kill("a"), 3500.0))
    assert record.finish == 3500.0
    assert len(peer.told("JOB_KILLED")) == 1


def test_a_profile_that_only_a_recv_names_is_told_of() -> None:
    """Real Batsim keeps those that a job or a composed profile names."""
    profiles = {"r": {"type": "recv", "success": "d5"}, "d5": DELAYS["d5"]}
    result, _ = play(workload(job("a", "r", at=1), profiles=profiles), {1.0: [execute("a", "0"), tell("x", 1.0)]})
    assert result.approximations == (FORGOTTEN,)


def test_a_profile_of_a_workload_that_does_not_exist_is_an_error_when_it_is_read() -> None:
    """A registered recv fails only when it goes on, since its continuations may be registered later."""
    profile = {"type": "recv", "success": "later", "polltime": 1}
    register: list[Command] = [
        ("REGISTER_PROFILE", {"workload_name": "w0", "profile_name": "r", "profile": profile}),
        ("REGISTER_JOB", {"job_id": "w0!x", "job": {"id": "x", "subtime": 0, "res": 1, "profile": "r"}}),
        execute("x", "0"),
        tell("x", 1.0, "x"),
    ]
    later = {"workload_name": "w0", "profile_name": "later", "profile": DELAYS["d20"]}
    end = ("NOTIFY", {"type": "registration_finished"})
    settings = Settings(dynamic_jobs=True)
    jobs = workload(job("a", at=1))
    script = {1.0: [execute("a", "1"), *register, ("REGISTER_PROFILE", later), end]}
    result, _ = play(jobs, script, settings=settings)
    assert result.jobs[-1].execution == 1 + 20
    with pytest.raises(RefusedError, match=r"t=2.0*: job w0!x goes on with the profile 'later', which does not exist"):
        play(jobs, {1.0: [execute("a", "1"), *register, end]}, settings=settings)


def test_profiles_that_are_reached_by_a_text_must_run_too() -> None:
    """On the size of the job."""
    profiles: Profiles = {"r": {"type": "recv", "success": "p"}, "p": {"type": "parallel", "cpu": [1, 1]}}
    with pytest.raises(WorkloadError, match=r"profiles.r.success.cpu: is for 2 hosts, a job that runs it asks for 1"):
        play(workload(job("a", "r"), profiles=profiles), {})


def test_energy_of_a_talk() -> None:
    """A host draws what it draws idle while the job talks, and all it can while it computes."""
    jobs = workload(job("a", "link", at=1, walltime=35), job("k", "known", at=1), profiles=PROFILES)
    script = {1.0: [("REJECT_JOB", {"job_id": "w0!k"}), execute("a", "0"), tell("go", 15.5)]}
    result, _ = play(
        jobs, script, on=platform(1, speeds=(1e9, 5e8, 1.0, 0.5, 0.05), **SLEEPER), settings=Settings(energy=True)
    )
    # 10 s computing at 200 W, 5 s waiting and 10 s of delay at 100 W, 10 s computing.
    assert result.jobs[1].energy == pytest.approx(20 * 200 + 15 * 100, abs=0.1)
    assert result.jobs[1].state == "COMPLETED_WALLTIME_REACHED"


def test_messages_of_jobs_take_time_with_latency() -> None:
    """The sleep of a send begins when the message was taken, and the walltime does not count the way."""
    record, peer, _ = run("say", message_latency=True)
    assert len(peer.told("FROM_JOB_MSG")) == 1
    assert record.state == "COMPLETED_SUCCESSFULLY"


def test_a_talk_follows_the_speed_of_its_hosts() -> None:
    """A task that computes in it takes longer from the moment on at which its host is slower."""
    profiles = {**PROFILES, "c": {"type": "composed", "seq": ["say", "cpu", "d5"]}}
    slower: Command = ("SET_RESOURCE_STATE", {"resources": "0", "state": "1"}, 5.0)
    sleeper = platform(1, speeds=(1e9, 5e8, 1.0, 0.5, 0.05), **SLEEPER)
    for walltime, duration in ((None, 4 + 12 + 5), (17, 17), (20, 20)):
        jobs = workload(job("a", "c", at=1, walltime=walltime), profiles=profiles)
        result, _ = play(jobs, {1.0: [execute("a", "0"), slower]}, on=sleeper, settings=Settings(energy=True))
        assert result.jobs[0].execution == pytest.approx(duration, abs=1e-6)
