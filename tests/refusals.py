"""The mistakes of a reply that real Batsim 4.2.1 aborts on or accepts: one table, read by several tests.

It was seen to do so, but for those of `IO_JOB`, which follow from its rules for profiles.

A case is one mistake. It says what is sent instead of a right reply, what the simulator must say of it, and why it
never leaves us: the verb of the Plan that refuses it (`verbs`, `told`), or how to see that no verb can say it (`sent`).
`row` is the first column of the table in docs/protocol.md, in which each of them has its line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.settings import Settings
from batsched_py.protocol.commands import (
    AdditionalIo,
    CallMeLater,
    ChangeJobState,
    ExecuteJob,
    KillJob,
    RegisterJob,
    SetJobMetadata,
    SetResourceState,
)
from batsched_py.protocol.commands import Command as Typed
from batsched_py.protocol.events import Notify, Query, Unknown
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from tests.unit.simulator.scenario import Command, call, execute, job, kill, reject, workload

#: Four hosts; a (1 host) and b (2 hosts) come at t=1, late (1 host) at t=50; each lasts 10 s.
JOBS = workload(job("a", at=1), job("b", at=1, res=2), job("late", at=50))

DELAY = {"type": "delay", "delay": 7}
DYNAMIC = Settings(dynamic_jobs=True)
ENERGY = Settings(energy=True)

Verb = Callable[[View, Plan], object]


@dataclass(frozen=True)
class Mistake:
    """One mistake, said at `at` in a run of JOBS.

    Attributes:
        row: the line of the documentation's table.
        name: what is wrong, for the test's id.
        said: the events of the reply, or all of it as bytes.
        rule: what the simulator says of it; None if Batsim accepts it.
        at: the instant.
        before: what is said before, at other instants.
        now: the reply's own; the request's if None.
        settings: of the simulation.
        verbs: what an algorithm calls at each instant to make this mistake; the last call is refused.
        told: what the Plan says.
        sent: True of a reply that holds this mistake; no reply of ours may.
        written: a command that the protocol's writer refuses.
    """

    row: str
    name: str
    said: Sequence[Command] | bytes
    rule: str | None = None
    at: float = 1.0
    before: Mapping[float, Sequence[Command]] = field(default_factory=dict)
    now: float | None = None
    settings: Settings = Settings()  # noqa: RUF009  (a frozen value)
    verbs: Mapping[float, Verb] | None = None
    told: str = ""
    sent: Callable[[bytes], bool] | None = None
    written: Typed | Unknown | None = None


def start(name: str, hosts: str) -> Verb:
    """Start a job of w0."""
    return lambda view, plan: plan.start(known(view, name), HostSet.parse(hosts))


def known(view: View, name: str) -> Job:
    """The job of w0 with this name; if it does not live, one that was made up."""
    return view.job(f"w0!{name}") or Job.create(f"w0!{name}", size=1, profile="d10")


def own(job_id: str = "dyn!1") -> Job:
    """A job of one's own of profile p; the Plan adds its time of submission."""
    return Job.create(job_id, size=1, profile="p")


def both(*verbs: Verb) -> Verb:
    """One after the other."""

    def called(view: View, plan: Plan) -> None:
        for verb in verbs:
            verb(view, plan)

    return called


def some_event(holds: Callable[[dict[str, Any]], bool]) -> Callable[[bytes], bool]:
    """True of a reply with an event of which this holds."""
    return lambda raw: any(holds(event) for event in json.loads(raw)["events"])


def _is_no_json(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except ValueError:
        return True
    return False


def said(kind: str, **data: Any) -> Command:
    """An event of a reply."""
    return kind, data


def _alloc(event: dict[str, Any]) -> Any:
    return event["data"].get("alloc", "0")


KNOWN = {
    *("EXECUTE_JOB", "REJECT_JOB", "KILL_JOB", "CALL_ME_LATER", "REGISTER_JOB", "REGISTER_PROFILE", "ANSWER", "NOTIFY"),
    *("SET_RESOURCE_STATE", "SET_JOB_METADATA", "CHANGE_JOB_STATE", "TO_JOB_MSG", "QUERY"),
}
FORMER = {"SUBMIT_JOB", "SUBMIT_PROFILE", "QUERY_REQUEST", "QUERY_REPLY"}
FORMER_NOTICES = {"submission_finished", "continue_submission"}

MALFORMED = "not JSON; no `now`; an event without `data`; an unknown `type`"
EXTRA = "an extra member beside `now` and `events`, or beside `timestamp`, `type`, `data`"
CLOCK = "`now` or timestamps before Batsim's clock; timestamps that descend"
AFTER_NOW = "a timestamp after the reply's `now`"
MUCH_LATER = "a reply's `now` long after the request's"
CALLS = "CALL_ME_LATER that is not later than the clock"
LAST = "an event in the reply to SIMULATION_ENDS"
NOT_WAITING = "EXECUTE_JOB of an unknown job; of one that does not wait"
MEMBERS = "EXECUTE_JOB with 4 members"
ALLOC = "`alloc` empty; a list; with a double blank; naming an unknown host; with another number of hosts than `res`"
SPELLED = "`alloc` with commas or overlapping pieces"
POWERED = "EXECUTE_JOB on a host that switches or sleeps"
KILLS = "KILL_JOB with an empty list; of an unknown job; of one that never ran; of one whose end was reported"
REJECTS = "REJECT_JOB with an extra member; of a running job; of one whose end was reported"
METADATA = "SET_JOB_METADATA with a double quote; on a job whose end was reported"
STATES = "CHANGE_JOB_STATE to COMPLETED_FAILED; to a final state"
PSTATES = "SET_RESOURCE_STATE with an integer; without energy"
QUESTIONS = "QUERY of the energy without energy"
REGISTERED = "REGISTER_JOB without dynamic jobs; without `subtime`; in a workload that does not exist"
TWICE = "REGISTER_PROFILE twice under one name"
NAMES = "names of v1.4"
IO_JOB = "`additional_io_job` with a new profile of a type that Batsim 4 does not know; with a step that does not exist"

SLEEP = said("SET_RESOURCE_STATE", resources="0", state="2")
PROFILE = said("REGISTER_PROFILE", workload_name="dyn", profile_name="p", profile=DELAY)
DESCRIBED = {"id": "1", "subtime": 0, "res": 1, "profile": "p"}
ASKED = said("QUERY", requests={"consumed_energy": {}})


def _sleep(view: View, plan: Plan) -> None:
    plan.set_pstate(HostSet.of(0), 2)


def _extra(kind: str, **members: Any) -> dict[str, Any]:
    """An io job on host 1, with a profile of its own."""
    return {"alloc": "1", "profile_name": "io", "profile": {"type": kind, **members}}


def _start_with(extra: Mapping[str, Any]) -> Verb:
    io = AdditionalIo(HostSet.of(1), extra["profile_name"], extra["profile"])
    return lambda view, plan: plan.start(known(view, "a"), HostSet.of(0), additional_io=io)


def _register(view: View, plan: Plan) -> None:
    plan.register_profile("dyn", "p", DELAY)


def _envelope(**changes: Any) -> bytes:
    """A reply that rejects job a, with these members of it changed; a change to None leaves the member out."""
    event = {"timestamp": 1, "type": "REJECT_JOB", "data": {"job_id": "w0!a"}, **changes.pop("event", {})}
    message = {"now": 1, "events": [{key: value for key, value in event.items() if value is not None}], **changes}
    return json.dumps({key: value for key, value in message.items() if value is not None}).encode()


MISTAKES: Sequence[Mistake] = (
    Mistake(MALFORMED, "not JSON", b'{"now": 1, "ev', "message: must be JSON", sent=_is_no_json),
    Mistake(
        MALFORMED,
        "no now",
        _envelope(now=None),
        "now: is missing; it must be a number of seconds",
        sent=lambda raw: "now" not in json.loads(raw),
    ),
    Mistake(
        MALFORMED,
        "no data",
        _envelope(event={"data": None}),
        "events[0].data: is missing; it must be an object",
        sent=some_event(lambda event: "data" not in event),
    ),
    Mistake(
        MALFORMED,
        "unknown type",
        [said("RUN_JOB", job_id="w0!a")],
        "events[0].type: must be a known event, not 'RUN_JOB'",
        sent=some_event(lambda event: event["type"] not in KNOWN),
        written=Unknown(1.0, "RUN_JOB", {}),
    ),
    Mistake(EXTRA, "beside now and events", _envelope(version=4)),
    Mistake(EXTRA, "beside timestamp, type and data", _envelope(event={"why": "big"})),
    Mistake(CLOCK, "now before the clock", [(*reject("a"), 0)], now=0),
    Mistake(CLOCK, "descending timestamps", [(*reject("a"), 4), (*reject("b"), 2)], now=4),
    Mistake(CLOCK, "an integer now", _envelope(now=1)),
    Mistake(
        AFTER_NOW,
        "a timestamp after now",
        [(*reject("a"), 3)],
        "events[0].timestamp: must be at most the reply's now=1.0, not 3",
        now=1.0,
        sent=lambda raw: any(event["timestamp"] > json.loads(raw)["now"] for event in json.loads(raw)["events"]),
        written=ExecuteJob(3.0, "w0!a", HostSet.of(0)),
    ),
    Mistake(MUCH_LATER, "1000 s later", [execute("a", "0"), reject("b")], now=1001.0),
    Mistake(
        CALLS,
        "at the clock",
        [call(1.0)],
        "events[0] CALL_ME_LATER: asks to be called at 1.0, which is not later than 1.0",
        verbs={1.0: lambda view, plan: plan.wake_at(view.now)},
        told="wake at 1.0: it must be later than now, 1.0",
        written=CallMeLater(1.0, 1.0),
    ),
    Mistake(
        CALLS,
        "before the clock",
        [call(0.5)],
        "events[0] CALL_ME_LATER: asks to be called at 0.5",
        verbs={1.0: lambda view, plan: plan.wake_at(view.now - 0.5)},
        told="wake at 0.5: it must be later than now, 1.0",
        written=CallMeLater(1.0, 0.5),
    ),
    Mistake(CALLS, "50 us ahead", [reject("a"), call(1.00005)]),
    Mistake(
        NOT_WAITING,
        "unknown",
        [execute("nobody", "0")],
        "events[0] EXECUTE_JOB: job w0!nobody is unknown",
        verbs={1.0: start("nobody", "0")},
        told="start w0!nobody on 0: no such job was submitted",
    ),
    Mistake(
        NOT_WAITING,
        "not yet submitted",
        [execute("late", "0")],
        "events[0] EXECUTE_JOB: job w0!late is unknown: it was never submitted",
        verbs={1.0: start("late", "0")},
        told="start w0!late on 0: no such job was submitted",
    ),
    Mistake(
        NOT_WAITING,
        "twice",
        [execute("a", "0"), execute("a", "1")],
        "events[1] EXECUTE_JOB: job w0!a is RUNNING, it cannot be executed",
        verbs={1.0: both(start("a", "0"), start("a", "1"))},
        told="start w0!a on 1: it runs already, on 0",
    ),
    Mistake(
        NOT_WAITING,
        "after its end",
        [execute("a", "0")],
        "events[0] EXECUTE_JOB: job w0!a is unknown",
        at=11.0,
        before={1.0: [execute("a", "0")]},
        verbs={1.0: start("a", "0"), 11.0: start("a", "0")},
        told="start w0!a on 0: it has ended",
    ),
    Mistake(
        MEMBERS,
        "4 members",
        [execute("a", "0", mapping={"0": "0"}, storage_mapping={})],
        "events[0].data: must have 2 or 3 members, not 4",
        sent=some_event(lambda event: event["type"] == "EXECUTE_JOB" and len(event["data"]) > 3),
        written=ExecuteJob(1.0, "w0!a", HostSet.of(0), {0: 0}, {"disk": 4}),
    ),
    Mistake(MEMBERS, "3 members", [execute("a", "0", mapping={"0": "0"}), execute("b", "1-2", priority=3)]),
    Mistake(
        ALLOC,
        "empty",
        [execute("a", "")],
        "events[0].data.alloc: must name at least one host",
        verbs={1.0: start("a", "")},
        told="start w0!a on : it needs at least one host",
        written=ExecuteJob(1.0, "w0!a", HostSet()),
    ),
    Mistake(
        ALLOC,
        "a list",
        [said("EXECUTE_JOB", job_id="w0!a", alloc=[0])],
        "events[0].data.alloc: must be a text, not [0]",
        verbs={1.0: lambda view, plan: plan.start(known(view, "a"), [0])},  # type: ignore[arg-type]
        told="start w0!a: hosts must be a HostSet or a ProcSet, not [0]: HostSet.from_ids([0]) makes one",
    ),
    Mistake(
        ALLOC,
        "a double blank",
        [execute("b", "0  2")],
        "events[0].data.alloc: must have single blanks between intervals",
        sent=some_event(lambda event: "  " in _alloc(event)),
    ),
    Mistake(
        ALLOC,
        "an unknown host",
        [execute("a", "4")],
        "job w0!a on hosts 4 names hosts that do not exist: there are 4",
        verbs={1.0: start("a", "4")},
        told="start w0!a on 4: 4 not in the platform",
    ),
    Mistake(
        ALLOC,
        "more hosts than res",
        [execute("a", "0-1")],
        "job w0!a on hosts 0-1 asks for 1 host, not 2 hosts",
        verbs={1.0: start("a", "0-1")},
        told="start w0!a on 0-1: it needs 1 host, not 2",
    ),
    Mistake(
        ALLOC,
        "fewer hosts than res",
        [execute("b", "0")],
        "job w0!b on hosts 0 asks for 2 hosts, not 1 host",
        verbs={1.0: start("b", "0")},
        told="start w0!b on 0: it needs 2 hosts, not 1",
    ),
    Mistake(SPELLED, "commas", [execute("a", "3"), execute("b", "0,1")]),
    Mistake(SPELLED, "overlapping pieces", [execute("a", "3"), execute("b", "0-1 1")]),
    Mistake(
        POWERED,
        "switching",
        [SLEEP, execute("a", "0")],
        "events[1] EXECUTE_JOB: job w0!a on hosts 0 cannot run there now: 0 switching_off",
        settings=ENERGY,
        verbs={1.0: both(_sleep, start("a", "0"))},
        told="start w0!a on 0: 0 switching",
    ),
    Mistake(
        POWERED,
        "asleep",
        [execute("late", "0")],
        "events[0] EXECUTE_JOB: job w0!late on hosts 0 cannot run there now: 0 sleeping",
        at=50.0,
        before={1.0: [SLEEP, execute("a", "1"), execute("b", "2-3")]},
        settings=ENERGY,
        verbs={1.0: both(_sleep, start("a", "1"), start("b", "2-3")), 50.0: start("late", "0")},
        told="start w0!late on 0: 0 asleep",
    ),
    Mistake(
        KILLS,
        "an empty list",
        [kill()],
        "events[0].data.job_ids: must name at least one job",
        sent=some_event(lambda event: event["data"].get("job_ids") == []),
        written=KillJob(1.0, ()),
    ),
    Mistake(
        KILLS,
        "unknown",
        [kill("nobody")],
        "events[0] KILL_JOB: job w0!nobody is unknown",
        verbs={1.0: lambda view, plan: plan.kill(known(view, "nobody"))},
        told="kill w0!nobody: it does not run",
    ),
    Mistake(
        KILLS,
        "never started",
        [kill("a")],
        "events[0] KILL_JOB: job w0!a does not run, it cannot be killed",
        verbs={1.0: lambda view, plan: plan.kill(known(view, "a"))},
        told="kill w0!a: it does not run",
    ),
    Mistake(
        KILLS,
        "its end was reported",
        [kill("a")],
        "events[0] KILL_JOB: job w0!a is unknown: it was never submitted, or its end was reported and it is forgotten",
        at=11.0,
        before={1.0: [execute("a", "0")]},
        verbs={1.0: start("a", "0"), 11.0: lambda view, plan: plan.kill(known(view, "a"))},
        told="kill w0!a: it does not run",
    ),
    Mistake(
        REJECTS,
        "an extra member",
        [said("REJECT_JOB", job_id="w0!a", why="big")],
        "events[0].data.why: is not allowed here",
        sent=some_event(lambda event: event["type"] == "REJECT_JOB" and len(event["data"]) > 1),
    ),
    Mistake(
        REJECTS,
        "running",
        [execute("a", "0"), reject("a")],
        "events[1] REJECT_JOB: job w0!a is RUNNING, it cannot be rejected",
        verbs={1.0: both(start("a", "0"), lambda view, plan: plan.reject(known(view, "a"), "why"))},
        told="reject w0!a: it runs already, on 0",
    ),
    Mistake(
        REJECTS,
        "its end was reported",
        [reject("a")],
        "events[0] REJECT_JOB: job w0!a is unknown",
        at=11.0,
        before={1.0: [execute("a", "0")]},
        verbs={1.0: start("a", "0"), 11.0: lambda view, plan: plan.reject(known(view, "a"), "why")},
        told="reject w0!a: it has ended",
    ),
    Mistake(
        METADATA,
        "a double quote",
        [said("SET_JOB_METADATA", job_id="w0!a", metadata='so "called"')],
        "events[0].data.metadata: must not hold a double quote",
        verbs={1.0: lambda view, plan: plan.set_metadata(known(view, "a"), 'so "called"')},
        told="set metadata of w0!a: the text must not hold a double quote",
        written=SetJobMetadata(1.0, "w0!a", '"'),
    ),
    Mistake(
        METADATA,
        "its end was reported",
        [said("SET_JOB_METADATA", job_id="w0!a", metadata="x")],
        "events[0] SET_JOB_METADATA: job w0!a is unknown",
        at=11.0,
        before={1.0: [execute("a", "0")]},
        verbs={1.0: start("a", "0"), 11.0: lambda view, plan: plan.set_metadata(known(view, "a"), "x")},
        told="set metadata of w0!a: it neither waits nor runs",
    ),
    Mistake(
        STATES,
        "COMPLETED_FAILED",
        [said("CHANGE_JOB_STATE", job_id="w0!a", job_state="COMPLETED_FAILED")],
        "events[0].data.job_state: must be one of",
        verbs={1.0: lambda view, plan: plan.change_state(known(view, "a"), "COMPLETED_FAILED")},
        told="change state of w0!a to COMPLETED_FAILED: in protocol v4 it may only become RUNNING",
        written=ChangeJobState(1.0, "w0!a", "COMPLETED_FAILED"),
    ),
    Mistake(
        STATES,
        "REJECTED",
        [said("CHANGE_JOB_STATE", job_id="w0!a", job_state="REJECTED")],
        "events[0] CHANGE_JOB_STATE: job w0!a cannot be set to REJECTED: Batsim 4 aborts on it",
        verbs={1.0: lambda view, plan: plan.change_state(known(view, "a"), "REJECTED")},
        told="change state of w0!a to REJECTED: in protocol v4 it may only become RUNNING",
    ),
    Mistake(
        STATES,
        "completed, and never ran",
        [
            said("CHANGE_JOB_STATE", job_id="w0!a", job_state="RUNNING"),
            said("CHANGE_JOB_STATE", job_id="w0!a", job_state="COMPLETED_SUCCESSFULLY"),
        ],
        "events[1] CHANGE_JOB_STATE: job w0!a cannot be set to COMPLETED_SUCCESSFULLY: Batsim 4 aborts on it",
        verbs={
            1.0: both(
                lambda view, plan: plan.change_state(known(view, "a"), "RUNNING"),
                lambda view, plan: plan.change_state(known(view, "a"), "COMPLETED_SUCCESSFULLY"),
            )
        },
        told="change state of w0!a to COMPLETED_SUCCESSFULLY: in protocol v4 nothing may end it",
    ),
    Mistake(
        PSTATES,
        "an integer",
        [said("SET_RESOURCE_STATE", resources="0", state=2)],
        "events[0].data.state: must be a text, not 2",
        settings=ENERGY,
        sent=some_event(lambda event: type(event["data"].get("state")) is int),
        written=SetResourceState(1.0, HostSet.of(0), ""),
    ),
    Mistake(
        PSTATES,
        "without energy",
        [said("SET_RESOURCE_STATE", resources="0", state="0")],
        "events[0] SET_RESOURCE_STATE: on hosts 0 needs energy to be counted (-E)",
        verbs={1.0: lambda view, plan: plan.set_pstate(HostSet.of(0), 0)},
        told="set pstate 0 on 0: host 0 describes no power states",
    ),
    Mistake(
        QUESTIONS,
        "without energy",
        [ASKED],
        "events[0] QUERY: asks for consumed_energy, which needs energy to be counted (-E)",
        verbs={1.0: lambda view, plan: plan.ask_energy()},
        told="ask energy: host 0 describes no power",
    ),
    Mistake(
        QUESTIONS,
        "another question",
        [said("QUERY", requests={"estimate_waiting_time": {}})],
        'events[0] QUERY: may only ask {"consumed_energy": {}}',
        sent=some_event(lambda event: event["type"] == "QUERY" and event["data"] != ASKED[1]),
        written=Query(1.0, {"estimate_waiting_time": {}}),
    ),
    Mistake(
        REGISTERED,
        "without dynamic jobs",
        [said("REGISTER_JOB", job_id="dyn!1", job=DESCRIBED)],
        "events[0] REGISTER_JOB: needs dynamic jobs to be enabled (--enable-dynamic-jobs)",
        verbs={1.0: lambda view, plan: plan.submit(own(), DELAY)},
        told="submit dyn!1: Batsim runs without --enable-dynamic-jobs",
    ),
    Mistake(
        REGISTERED,
        "without subtime",
        [PROFILE, said("REGISTER_JOB", job_id="dyn!1", job={"id": "1", "res": 1, "profile": "p"})],
        "events[1].data.job.subtime: is missing; Batsim needs it",
        settings=DYNAMIC,
        sent=some_event(lambda event: "res" in event["data"].get("job", {}) and "subtime" not in event["data"]["job"]),
        written=RegisterJob(1.0, "dyn!1", own()),
    ),
    Mistake(
        REGISTERED,
        "in a workload that does not exist",
        [said("REGISTER_JOB", job_id="dyn!1", job=DESCRIBED, profile=DELAY)],
        "events[0] REGISTER_JOB: job dyn!1 belongs to the workload dyn, which does not exist",
        settings=DYNAMIC,
        verbs={1.0: lambda view, plan: plan.submit(own())},
        told="submit dyn!1: profile p is not registered in workload dyn",
        written=RegisterJob(1.0, "dyn!1", Job.create("dyn!1", size=1, profile="p", submit_time=1.0), DELAY),
    ),
    Mistake(
        TWICE,
        "one name",
        [PROFILE, PROFILE],
        "events[1] REGISTER_PROFILE: profile dyn!p exists already",
        settings=DYNAMIC,
        verbs={1.0: both(_register, _register)},
        told="register profile dyn!p: it exists",
    ),
    *(
        Mistake(
            NAMES,
            kind,
            [said(kind, job_id="dyn!1", job=DESCRIBED)],
            f"events[0].type: must be a known event, not '{kind}'",
            settings=DYNAMIC,
            sent=some_event(lambda event: event["type"] in FORMER),
            written=Unknown(1.0, kind, {}),
        )
        for kind in sorted(FORMER)
    ),
    *(
        Mistake(
            NAMES,
            kind,
            [said("NOTIFY", type=kind)],
            "events[0].data.type: must be continue_registration or registration_finished",
            settings=DYNAMIC,
            sent=some_event(lambda event: event["data"].get("type") in FORMER_NOTICES),
            written=Notify(1.0, kind),
        )
        for kind in sorted(FORMER_NOTICES)
    ),
    *(
        Mistake(
            IO_JOB,
            f"of type {extra['profile']['type']}",
            [execute("a", "0", additional_io_job=extra)],
            f"events[0] EXECUTE_JOB: profile w0!io: {rule}",
            verbs={1.0: _start_with(extra)},
            told=f"start w0!a on 0: additional io io: {told}",
        )
        for extra, rule, told in (
            (
                _extra("composed", seq=["lost"]),
                "profiles.io.seq names the profile 'lost', which does not exist",
                "type: it is composed, and Batsim 4 crashes when it runs a composed profile that was registered",
            ),
            (
                _extra("msg_par_hg", cpu=1, com=0),
                "type 'msg_par_hg' is called 'parallel_homogeneous' in protocol v4",
                "type: 'msg_par_hg' is a type of Batsim 1 only",
            ),
            (_extra("nap"), "profiles.io.type 'nap' is not simulated here", "type: 'nap' is not a type of profile"),
        )
    ),
)
