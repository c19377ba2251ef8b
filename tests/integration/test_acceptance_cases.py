"""The acceptance cases of the protocol, one after the other, each under its number.

BA-1 a job from begin to end. BA-3 interval sets. BA-4, BA-5 times. BA-6 calls. BA-7 kills and ends (test_kills.py has
the races). BA-9, BA-10 registration. BA-11 a job that is too large. BA-12 machines that fail. BA-13 hosts that switch.
BA-15 malformed requests. BA-16 queries. BA-17 replays. BA-20 a delay as long as its walltime. At the end: when a
simulation ends (E14, E15).

Elsewhere: BA-2 (two dialects) in unit/session/test_session.py and wherever v1.4 is simulated, BA-14 (Redis) in
test_redis_store.py, BA-18 (several executors on a host) in unit/protocol/test_command_forms.py and
unit/scheduling/test_plan.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest

from batsched_py.api import HostSet, Job, JobCompleted, NoOptions, Plan, Scheduler, View
from batsched_py.errors import DeadlockError, RemoteProtocolError
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.session.clock import DecisionClock
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from tests.builders import begins_data, begun, completed_data, message, said, submitted_data
from tests.clone import ROOT
from tests.integration.programs import ask, batsim, serving
from tests.recorded_run import RecordedRun, algorithm, in_order
from tests.unit.simulator.scenario import SLEEPER, SLEEPER_SPEEDS, Script, job, platform, play, workload

DELAY = {"type": "delay", "delay": 3}
DYNAMIC = Settings(dynamic_jobs=True)
ENDS: tuple[str, dict[str, Any]] = ("SIMULATION_ENDS", {})
RECORDINGS = ROOT / "tests" / "data" / "batsim"


def test_ba_01_a_job_is_run_once_and_the_process_ends(tmp_path: Path) -> None:
    """One EXECUTE_JOB, an empty last reply, exit code 0: over a socket, as with Batsim."""
    requests = [
        message(0, ("SIMULATION_BEGINS", begins_data(4))),
        message(1, ("JOB_SUBMITTED", submitted_data("a", 2, subtime=1))),
        message(6, ("JOB_COMPLETED", completed_data("a", "0-1"))),
        message(6, ENDS),
    ]
    with serving(tmp_path, "-s", "fcfs") as served:
        with batsim(served.address) as socket:
            replies = [ask(socket, request) for request in requests]
        code, lines = served.end()
    assert [command for reply in replies for command in said(reply)] == [
        ("EXECUTE_JOB", {"job_id": "w0!a", "alloc": "0-1"})
    ]
    assert orjson.loads(replies[-1]) == {"now": 6.0, "events": []}
    assert (code, lines) == (0, ["the simulation ended at t=6 after 4 messages"])


def test_ba_03_sets_are_written_canonically_and_read_in_any_spelling() -> None:
    """{1, 2, 3, 5} is "1-3 5"; "5 2-2 1-3" is the same set."""

    def scattered(view: View, plan: Plan) -> None:
        for waiting in view.queue:
            plan.start(waiting, HostSet.of(5, 2, 1, 3))

    session = begun(algorithm(scattered), 6)
    reply = session.answer(message(1, ("JOB_SUBMITTED", submitted_data("a", 4))))
    assert said(reply) == [("EXECUTE_JOB", {"job_id": "w0!a", "alloc": "1-3 5"})]
    session.answer(message(6, ("JOB_COMPLETED", completed_data("a", "5 2-2 1-3"))))
    session.check()


@pytest.mark.parametrize("thinking", [0.0, 0.25, 7.0])
def test_ba_04_replies_are_not_before_their_requests_and_times_ascend(thinking: float) -> None:
    """None of the timestamps is above the reply's `now`, whatever the decision clock."""
    talk = RecordedRun("easy", clock=DecisionClock(fixed=thinking))
    talk.run([workload(*(job(str(n), at=n, res=1 + n % 4, walltime=11) for n in range(20)))])
    for asked, answered in zip(talk.requests, talk.replies, strict=True):
        stamps = [event["timestamp"] for event in answered["events"]]
        assert asked["now"] <= answered["now"]
        assert stamps == sorted(stamps)
        assert all(asked["now"] <= stamp <= answered["now"] for stamp in stamps)
    assert len(talk.said("EXECUTE_JOB")) == 20


def test_ba_05_events_may_be_older_than_now_and_decisions_are_not() -> None:
    """They happened while the previous reply was being applied."""
    request = json.loads(message(9, ("JOB_SUBMITTED", submitted_data("a"))))
    request["events"][0]["timestamp"] = 2.5
    reply = json.loads(begun().answer(json.dumps(request).encode()))
    assert reply["now"] == 9
    assert [event["timestamp"] for event in reply["events"]] == [9]


def test_ba_06_a_call_is_later_than_now_and_each_instant_is_asked_for_once() -> None:
    """However often the algorithm asks."""

    def wake(view: View, plan: Plan) -> None:
        in_order(view, plan)
        for ahead in (1e-9, 5.0, 5.0, 2.5):
            if view.now < 20:
                plan.wake_at(view.now - view.now % 5 + 5 if ahead == 5.0 else view.now + ahead)

    talk = RecordedRun(algorithm(wake))
    talk.run([workload(job("a", at=1), job("b", at=11))])
    calls = [(time, data["timestamp"]) for time, _, data in talk.said("CALL_ME_LATER")]
    assert all(at > time for time, at in calls)
    assert len({at for _, at in calls}) == len(calls) > 5


def test_ba_07_after_its_completion_a_job_is_not_killed() -> None:
    """Completion and call come in one message; and a kill that comes too late ends nothing twice."""

    def kill(view: View, plan: Plan) -> None:
        in_order(view, plan)
        if view.now >= 11.0:
            plan.kill([run.job for run in view.running])
        elif not view.wakeups:
            plan.wake_at(11.0)

    talk = RecordedRun(algorithm(kill))
    result = talk.run([workload(job("a", at=1))])
    assert (talk.said("KILL_JOB"), result.jobs[0].state) == ([], "COMPLETED_SUCCESSFULLY")


def test_ba_09_registration_is_finished_exactly_once() -> None:
    """It is where registration is on; never where it is off."""
    for settings, expected in ((DYNAMIC, 1), (Settings(), 0)):
        talk = RecordedRun(Fcfs)
        talk.run([workload(job("a", at=1), job("b", at=30))], settings)
        assert [data["type"] for _, _, data in talk.said("NOTIFY")] == ["registration_finished"] * expected


def test_ba_10_the_profile_comes_before_the_job_which_has_a_time_and_a_new_id() -> None:
    """The job is submitted once, with acknowledgement or without."""

    def submit(view: View, plan: Plan) -> None:
        if view.now == 1.0 and view.registration_open:
            plan.submit(Job.create("dyn!1", size=2, profile="p"), DELAY)
            plan.finish_registration()
        in_order(view, plan)

    for acknowledged in (False, True):
        talk = RecordedRun(algorithm(submit, dynamic=True))
        settings = Settings(dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledged)
        result = talk.run([workload(job("a", at=1))], settings)
        registered = talk.said("REGISTER_PROFILE", "REGISTER_JOB")
        assert [kind for _, kind, _ in registered] == ["REGISTER_PROFILE", "REGISTER_JOB"]
        assert registered[1][2]["job"]["subtime"] == 1.0
        assert sorted(record.job.id for record in result.jobs) == ["dyn!1", "w0!a"]


def test_ba_11_a_job_larger_than_the_platform_is_rejected() -> None:
    """With a reason, before the algorithm sees it; one of one's own too."""

    def submit(view: View, plan: Plan) -> None:
        if view.now == 1.0 and view.registration_open:
            plan.submit(Job.create("dyn!big", size=9, profile="p"), DELAY)
            plan.finish_registration()
        in_order(view, plan)

    settings = Settings(allow_oversized=True, dynamic_jobs=True, acknowledge_dynamic_jobs=True)
    talk = RecordedRun(algorithm(submit, dynamic=True))
    result = talk.run([workload(job("big", at=1, res=5), job("none", at=1, res=0), job("fits", at=1, res=4))], settings)
    assert talk.session.rejections == {
        "w0!big": "needs 5 hosts, the platform has 4",
        "w0!none": "needs no host, and Batsim runs no job on none",
        "dyn!big": "needs 9 hosts, the platform has 4",
    }
    assert {record.job.id for record in result.jobs if record.state == "REJECTED"} == set(talk.session.rejections)


def test_ba_12_unavailable_machines_are_not_used_and_available_ones_are() -> None:
    """A job that runs there goes on (E16)."""
    events = (
        ExternalEvent(2.0, "machine_unavailable", HostSet.of(0, 1)),
        ExternalEvent(30.0, "machine_available", HostSet.of(0, 1)),
    )
    talk = RecordedRun(Fcfs)
    jobs = workload(job("a", at=1, profile="d20"), job("b", at=3, res=2), job("c", at=4, res=3), job("d", at=40, res=4))
    talk.run([jobs], Settings(external_events=events))
    placed = [(time, data["job_id"], data["alloc"]) for time, _, data in talk.said("EXECUTE_JOB")]
    assert placed == [(1.0, "w0!a", "0"), (3.0, "w0!b", "2-3"), (30.0, "w0!c", "0-2"), (40.0, "w0!d", "0-3")]


def test_ba_13_switching_hosts_are_not_used_before_they_have_switched() -> None:
    """Neither on their way to sleep nor back."""

    def nap(view: View, plan: Plan) -> None:
        if view.now == 0.0:
            plan.set_pstate(HostSet.of(0, 1), 2)
        if view.queue and view.asleep and not view.switching:
            plan.set_pstate(view.asleep, 0)
        in_order(view, plan)

    talk = RecordedRun(algorithm(nap))
    machine = platform(2, SLEEPER_SPEEDS, **SLEEPER)
    talk.run([workload(job("a", at=1))], Settings(energy=True), on=machine)
    told = [(time, data["state"]) for time, _, data in talk.told("RESOURCE_STATE_CHANGED")]
    started = [time for time, _, _ in talk.said("EXECUTE_JOB")]
    assert told == [(2.0, "2"), (22.0, "0")]
    assert started == [22.0]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (b'{"now": 1}', "events: is missing"),
        (b'{"now": 1, "events": [{"timestamp": 1, "type": "REQUESTED_CALL"}]}', r"events\[0\].data: is missing"),
        (b"nonsense", "message: must be JSON"),
        (message(1, ("JOB_SUBMITTED", {"job_id": "w0!a"})), "job: is missing"),
        (message(1, ("JOB_COMPLETED", completed_data("a", "0"))), "must be a running job, not w0!a"),
    ],
)
def test_ba_15_a_malformed_request_is_an_error(request_: bytes, words: str) -> None:
    """The error names the member; nothing is booked, and Batsim can be stopped."""
    session = begun()
    with pytest.raises(RemoteProtocolError, match=words) as caught:
        session.answer(request_)
    session.check()
    assert b"BATSCHED_PY_STOPPED" in session.refusal(caught.value)


def test_ba_15_unknown_events_and_notices_are_warned_of_and_ignored() -> None:
    """The run goes on."""
    warnings: list[str] = []
    session = Session(Fcfs, warn=warnings.append)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data())))
    assert said(session.answer(message(1, ("WEATHER", {"rain": True}), ("NOTIFY", {"type": "full_moon"})))) == []
    assert warnings == ["t=1: event of unknown type WEATHER kept, but nothing is done with it"]
    assert said(session.answer(message(2, ("JOB_SUBMITTED", submitted_data("a")))))[0][0] == "EXECUTE_JOB"


def test_ba_16_the_waiting_time_of_a_job_is_a_number() -> None:
    """It is one for a job that waits and for one that is only described; -1 for an unknown job."""
    session = begun(load("easy"))
    session.answer(message(0, ("JOB_SUBMITTED", submitted_data("a", 4, 30)), ("JOB_SUBMITTED", submitted_data("b", 4))))
    described = {"job": submitted_data("new", 4)["job"]}
    for name, job_of, wait in (("b", {}, 20.0), ("new", described, 30.0), ("x", {}, -1)):
        asked = {"estimate_waiting_time": {"job_id": f"w0!{name}", **job_of}}
        ((kind, data),) = said(session.answer(message(10, ("QUERY", {"requests": asked}))))
        assert kind == "ANSWER"
        assert data["estimate_waiting_time"] == {"job_id": f"w0!{name}", "estimated_waiting_time": wait}


def requests_of(recording: str) -> Iterator[bytes]:
    """Yield the requests of real Batsim in a recording."""
    for line in (RECORDINGS / recording / "transcript.jsonl").read_text().splitlines():
        spoken = json.loads(line)
        if spoken["from"] == "batsim":
            yield spoken["bytes"].encode()


@pytest.mark.parametrize("recording", ["o09_filler_no_walltime", "o01_fcfs_delays"])
def test_ba_17_the_same_requests_have_the_same_answers_byte_for_byte(recording: str) -> None:
    """Requests of real Batsim are answered twice, up to another decision of its scheduler; so is a whole simulation."""
    replies = []
    for _ in range(2):
        session, given = Session(load("easy")), list[bytes]()
        for request in requests_of(recording):
            try:
                given.append(session.answer(request))
            except RemoteProtocolError as error:  # its decisions were others than ours: the answer is that
                given.append(session.refusal(error))
                break
        replies.append(given)
    assert replies[0] == replies[1]
    runs = []
    for _ in range(2):
        talk = RecordedRun("easy")
        talk.run([workload(*(job(str(n), at=n, res=1 + n % 4, walltime=11) for n in range(20)))])
        runs.append((talk.requests, talk.replies))
    assert runs[0] == runs[1]


def test_ba_20_a_delay_as_long_as_its_walltime_is_a_normal_end() -> None:
    """COMPLETED_WALLTIME_REACHED, without JOB_KILLED: the job is over, its hosts are free, the algorithm goes on."""
    ends: list[str] = []

    class Watcher(Scheduler[NoOptions]):
        name = "watcher"

        def observe(self, event: object, view: View) -> None:
            if isinstance(event, JobCompleted):
                ends.append(event.state)
                assert view.job(event.job_id) is None
                assert view.free == view.all_hosts

        def decide(self, view: View, plan: Plan) -> None:
            in_order(view, plan)

    talk = RecordedRun(Watcher)
    result = talk.run([workload(job("lease", at=0, res=4, walltime=10), job("next", at=1, res=4, walltime=11))])
    assert ends == ["COMPLETED_WALLTIME_REACHED", "COMPLETED_SUCCESSFULLY"]
    assert talk.told("JOB_KILLED") == []
    assert [record.start for record in result.jobs] == [0.0, 10.0]


#: (what is still open, script, settings, when the simulation ends).
ENDINGS: list[tuple[str, dict[float, list[Any]], Settings, float]] = [
    ("nothing", {1.0: [("REJECT_JOB", {"job_id": "w0!a"})]}, Settings(), 1.0),
    ("a job runs", {1.0: [("EXECUTE_JOB", {"job_id": "w0!a", "alloc": "0"})]}, Settings(), 11.0),
    (
        "a call is pending",
        {1.0: [("REJECT_JOB", {"job_id": "w0!a"}), ("CALL_ME_LATER", {"timestamp": 500})]},
        Settings(),
        500.0,
    ),
    (
        "an event is to come",
        {1.0: [("REJECT_JOB", {"job_id": "w0!a"})]},
        Settings(external_events=(ExternalEvent(70.0, "machine_unavailable", HostSet.of(0)),)),
        70.0,
    ),
    (
        "a host switches",
        {1.0: [("REJECT_JOB", {"job_id": "w0!a"}), ("SET_RESOURCE_STATE", {"resources": "0", "state": "2"})]},
        Settings(energy=True),
        3.0,
    ),
    (
        "registration is open until then",
        {
            1.0: [("REJECT_JOB", {"job_id": "w0!a"}), ("CALL_ME_LATER", {"timestamp": 40})],
            40.0: [("NOTIFY", {"type": "registration_finished"})],
        },
        DYNAMIC,
        40.0,
    ),
]


@pytest.mark.parametrize(
    ("script", "settings", "end"), [case[1:] for case in ENDINGS], ids=[case[0] for case in ENDINGS]
)
def test_e14_the_simulation_ends_when_nothing_is_open(
    script: dict[float, list[Any]], settings: Settings, end: float
) -> None:
    """Alone in its message, once: jobs, events, switches, registration, and calls, however far away."""
    machine = platform(4, SLEEPER_SPEEDS, **SLEEPER)
    _, peer = play(workload(job("a", at=1)), script, on=machine, settings=settings)
    assert peer.told("SIMULATION_ENDS") == [(end, {})]
    assert [event["type"] for event in peer.heard[-1]["events"]] == ["SIMULATION_ENDS"]
    assert [before["now"] <= after["now"] for before, after in pairwise(peer.heard)] == [True] * (len(peer.heard) - 1)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ({}, "1 job waits for a decision"),
        ({1.0: [("REJECT_JOB", {"job_id": "w0!a"})]}, "registration was never finished"),
    ],
)
def test_e15_a_standstill_is_told(script: dict[float, list[Any]], words: str) -> None:
    """Nothing will ever happen again, and registration is open or a job waits: an error, not an end."""
    peer = Script(script)
    with pytest.raises(DeadlockError, match=words):
        Simulation(platform(), [workload(job("a", at=1))], DYNAMIC).run(peer)
    assert peer.told("SIMULATION_ENDS") == []


def test_e15_a_call_that_is_pending_keeps_registration_alive() -> None:
    """A job is registered at t=40, when nothing else was left."""

    def submit(view: View, plan: Plan) -> None:
        in_order(view, plan)
        if view.now < 40 and not view.wakeups:
            plan.wake_at(40.0)
        if view.due(40.0) and view.registration_open:
            plan.submit(Job.create("dyn!1", size=1, profile="p"), DELAY)
            plan.finish_registration()
            in_order(view, plan)

    result = RecordedRun(algorithm(submit, dynamic=True)).run([workload(job("a", at=0))], DYNAMIC)
    assert [(record.job.id, record.start) for record in result.jobs] == [("w0!a", 0.0), ("dyn!1", 40.0)]
