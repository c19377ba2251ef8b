"""Messages that make a real Batsim 5.0.0-rc2 abort, crash or stand still never leave us: a row for each recording."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from batsched_py.errors import BatschedError, LocalProtocolError, PlanError, RemoteProtocolError, WorkloadError
from batsched_py.hostset import HostSet
from batsched_py.protocol import commands
from batsched_py.protocol.batsim5.greeting import read_hello, write_greeting
from batsched_py.protocol.codec import Message, encode
from batsched_py.protocol.commands import Command
from batsched_py.protocol.conversation import DecisionSide
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.events import Config, JobCompleted, Nop, ProbeData, SimulationBegins, SimulationEnds
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.scheduling.plan import Plan
from batsched_py.session.session import Session
from batsched_py.simulator.generation import Batsim5
from batsched_py.traces.batsim_json import read_workload
from tests.builders import hosts, job, plan_for, state, submitted
from tests.clone import ROOT, files
from tests.unit.scheduling.test_plan import busy_sleepy_failed

RUNS = ROOT / "tests" / "data" / "batsim5"


def ended_badly(path: Any) -> bool:
    """True if Batsim's exit code was not 0."""
    last = json.loads(path.read_text().splitlines()[-1])
    return bool(last["rc"] != 0)


BAD = {path.stem for path in files("tests/data/batsim5/*.jsonl") if ended_badly(path)}


def written(command: Command) -> None:
    """Write one command."""
    encode(Message(1.0, (command,)), V5.commands, V5.name, keep_unknown=False)


def planned(verb: Callable[[Plan], object], **config: Any) -> None:
    """Call a verb where a job "a" of one host waits, "r" runs on host 0, and "e" has ended."""
    now = state(4, job("a"), job("r"), job("e"))
    now.config = Config(**config)
    now.registration_open = now.config.dynamic_jobs
    plan = plan_for(now)
    plan.dialect = V5
    plan.start(job("r"), hosts("0"))
    plan.start(job("e"), hosts("1"))
    now.apply(JobCompleted(0.0, "w0!e", "COMPLETED_SUCCESSFULLY"))
    plan.begin(0.0)
    try:
        verb(plan)
    finally:
        assert plan.commands == []


def powered(verb: Callable[[Plan], object]) -> None:
    """Call a verb where hosts have power states, one of them sleeps and one computes."""
    plan = plan_for(busy_sleepy_failed())
    plan.dialect = V5
    verb(plan)


def reply(now: float, *said: Command) -> None:
    """Answer a request of t=5 with these commands."""
    side = DecisionSide()
    session = Session(Fcfs)
    side.greet(write_greeting(""), session._hello())
    begins = SimulationBegins(5.0, ())
    side.receive(encode(Message(5.0, (begins,)), V5.events, V5.name, keep_unknown=False))
    side.reply(now, said)


def last_reply() -> None:
    """Answer the end with a command."""
    side = DecisionSide()
    side.greet(write_greeting(""), Session(Fcfs)._hello())
    for event in (SimulationBegins(0.0, ()), SimulationEnds(0.0)):
        side.receive(encode(Message(0.0, (event,)), V5.events, V5.name, keep_unknown=False))
        said = (commands.CallMeLater(0.0, 5.0),) if type(event) is SimulationEnds else ()
        side.reply(0.0, said)


def two_periods(plan: Plan) -> None:
    """The second is no multiple of the first."""
    plan.call_every(2, "a")
    plan.commands.clear()
    plan.call_every(3, "b")


DYNAMIC = {"dynamic_jobs": True}
NEW = job("n")
DELAY = {"type": "delay", "delay": 5}
EXECUTE = commands.ExecuteJob(1.0, "w0!a", HostSet())
CALL = commands.CallMeLater
PERIOD = commands.CallPeriodically
PROBE = commands.CreateProbe(1.0, "", HostSet.of(0), 5.0)

#: Recording -> what would say it, which must fail.
REFUSED: dict[str, Callable[[], object]] = {
    "end_with_events": last_reply,
    "err_alloc_bad_host": lambda: planned(lambda plan: plan.start(job("a"), hosts("17"))),
    "err_alloc_empty": lambda: planned(lambda plan: plan.start(job("a"), hosts(""))),
    "err_cml_negative": lambda: written(CALL(1.0, -1.0)),
    "err_cml_periods_not_multiple": lambda: planned(two_periods),
    "err_do_nothing": lambda: reply(4.0),
    "err_edc_sends_batsim_event": lambda: written(JobCompleted(1.0, "w0!a", "COMPLETED_SUCCESSFULLY")),  # type: ignore[arg-type]
    "err_event_after_now": lambda: reply(5.0, commands.RejectJob(6.0, "w0!a")),
    "err_events_not_sorted": lambda: reply(7.0, commands.RejectJob(6.0, "w0!a"), commands.RejectJob(5.0, "w0!b")),
    "err_execute_twice": lambda: planned(lambda plan: plan.start(job("r"), hosts("2"))),
    "err_fork_profile": lambda: read_workload(RUNS / "inputs" / "w_fork.json"),
    "err_job_id_without_workload": lambda: written(commands.RegisterJob(1.0, "a", job("a"))),
    "err_kill_completed": lambda: planned(lambda plan: plan.kill(job("e"))),
    "err_kill_empty": lambda: written(commands.KillJob(1.0, ())),
    "err_kill_unknown": lambda: planned(lambda plan: plan.kill(job("nosuch"))),
    "err_now_past_no_event": lambda: reply(4.0),
    "err_pstate_bad": lambda: powered(lambda plan: plan.set_pstate(hosts("4"), 9)),
    "err_register_job_exists": lambda: planned(lambda plan: plan.submit(job("a"), DELAY), **DYNAMIC),
    "err_register_no_profile": lambda: planned(lambda plan: plan.submit(NEW), **DYNAMIC),
    "err_register_twice": lambda: planned(lambda plan: plan.submit(job("e"), DELAY), **DYNAMIC),
    "err_register_profile_noworkload": lambda: planned(lambda plan: plan.register_profile("", "p", DELAY), **DYNAMIC),
    "err_reject_running": lambda: planned(lambda plan: plan.reject(job("r"), "why")),
    "err_reject_unknown": lambda: planned(lambda plan: plan.reject(job("nosuch"), "why")),
    "err_turn_no_sleep": lambda: planned(lambda plan: plan.set_pstate(hosts("1"), 1)),
    "err_turn_off_busy": lambda: powered(lambda plan: plan.set_pstate(hosts("0"), 2)),
    "err_unknown_event": lambda: written(ProbeData(1.0, "p", HostSet(), ())),  # type: ignore[arg-type]
    "err_unknown_job": lambda: planned(lambda plan: plan.start(job("nosuch"), hosts("2"))),
    "err_cml_empty_id": lambda: planned(lambda plan: plan.call_every(2, "")),
}


@pytest.mark.parametrize(("name", "say"), REFUSED.items(), ids=REFUSED)
def test_it_is_refused_before_it_is_sent(name: str, say: Callable[[], object]) -> None:
    """By a verb of the Plan, by the writer, by the conversation or by the reader of workloads."""
    with pytest.raises((PlanError, LocalProtocolError, WorkloadError)):
        say()


def document(command: Command) -> dict[str, Any]:
    """Return the document that is written of a command."""
    raw = encode(Message(1.0, (command,)), V5.commands, V5.name, keep_unknown=False)
    found: dict[str, Any] = json.loads(raw[:-1])
    return found


def event(command: Command) -> dict[str, Any]:
    """The event of a command."""
    found: dict[str, Any] = document(command)["events"][0]
    return found


def started() -> dict[str, Any]:
    """An execution as it is written."""
    return event(commands.ExecuteJob(1.0, "w0!a", HostSet.of(0)))


def greeted() -> dict[str, Any]:
    """Our hello."""
    raw = DecisionSide().greet(write_greeting(""), Session(Fcfs)._hello())
    assert read_hello(raw).name.startswith("batsched-py")
    found: dict[str, Any] = json.loads(raw[4:-1])
    return found


def _killed_once() -> bool:
    """A job is killed twice in one reply; the second time nothing is said."""
    now = state(4, job("a"))
    plan = plan_for(now)
    plan.dialect = V5
    plan.start(job("a"), hosts("0"))
    plan.kill(job("a"))
    plan.kill(job("a"))
    return [type(command) for command in plan.commands] == [commands.ExecuteJob, commands.KillJob]


def _finishes() -> bool:
    """An algorithm that submits no jobs finishes registration with its first reply, if it was asked for."""
    session = Session(Fcfs, features=read_hello(_asking()).features)
    session.answer(write_greeting(""))
    begins = SimulationBegins(0.0, ())
    said = session.answer(encode(Message(0.0, (begins,)), V5.events, V5.name, keep_unknown=False))
    return b"FinishRegistrationEvent" in said


def _asking() -> bytes:
    hello = greeted()
    hello["events"][0]["event"]["requested_simulation_features"] = {"dynamic_registration": True}
    return b"\2\0\0\0" + json.dumps(hello).encode()


HELLO = {
    "batprotocol_version",
    "decision_component_name",
    "decision_component_version",
    "decision_component_commit",
    "requested_simulation_features",
}
PROBED = commands.CreateProbe(1.0, "p", HostSet.of(0), 5.0)

#: Recording -> what is always so in what we write.
NEVER: dict[str, Callable[[], bool]] = {
    "err_cml_offset": lambda: event(PERIOD(1.0, "a", 2.0))["event"]["when"]["offset"] == 0,
    "err_no_placement": lambda: "executor_placement" in started()["event"]["allocation"],
    "err_no_placement_type": lambda: "executor_placement_type" in started()["event"]["allocation"],
    "err_unknown_field": lambda: started()["event"].keys() == {"job_id", "allocation"},
    "err_probe_noaccumulation": lambda: (
        event(PROBED)["event"]["data_accumulation_strategy_type"] == "ProbeDataAccumulation"
    ),
    "err_probe_oneshot": lambda: (
        event(PROBED)["event"]["measurement_triggering_policy"]["temporal_trigger_type"] == "Periodic"
    ),
    "err_trigger_probe": lambda: "TriggerProbeEvent" not in V5.commands.readers,
    "hello_constraints": lambda: greeted()["events"][0]["event"].keys() == HELLO,
    "hello_events_left_out": lambda: len(greeted()["events"]) == 1,
    "hello_no_commit": lambda: greeted()["events"][0]["event"]["decision_component_commit"] == "",
    "hello_no_events": lambda: greeted()["events"][0]["event_type"] == "EDCHelloEvent",
    "hello_no_name": lambda: bool(greeted()["events"][0]["event"]["decision_component_name"]),
    "hello_no_version": lambda: bool(greeted()["events"][0]["event"]["batprotocol_version"]),
    "hello_not_json": lambda: greeted()["now"] == 0,
    "hello_unknown_events_feature": lambda: (
        set(greeted()["events"][0]["event"]["requested_simulation_features"]) == {"forward_profiles_on_job_submission"}
    ),
    "hello_unknown_feature": lambda: all(greeted()["events"][0]["event"]["requested_simulation_features"].values()),
    "hello_unknown_field": lambda: greeted()["events"][0]["event"].keys() == HELLO,
    "reply_empty_message": lambda: encode(Message(1.0, ()), V5.commands, "v5", keep_unknown=False).startswith(b"{"),
    "reply_events_left_out": lambda: document(Nop(1.0))["events"] == [],
    "reply_not_json": lambda: document(CALL(1.0, 5.0))["now"] == 1,
    "reply_required_left_out": lambda: event(commands.RejectJob(1.0, "w0!a"))["event"] == {"job_id": "w0!a"},
    "reply_type_far_after": lambda: list(started()) == ["timestamp", "event_type", "event"],
    "kill_all_again": _killed_once,
    "err_register_no_finish": _finishes,
}


@pytest.mark.parametrize(("name", "so"), NEVER.items(), ids=NEVER)
def test_it_is_never_written(name: str, so: Callable[[], bool]) -> None:
    """Our messages have no way to say it."""
    assert so()


#: Recordings in which Batsim refused its own command line or input, or that are of a format that we do not speak.
NOT_OURS = {
    "err_energy_flag": "an option of Batsim",
    "err_energy_link": "an option of Batsim",
    "err_ext_event_machine_unavailable": "a file of Batsim's: simulate --protocol v5 sends it as a generic event",
    "err_old_profile": "a workload of Batsim 4, which convert --protocol v5 writes anew",
    "err_data_staging": "a job that the session rejects; see test_batsim5.py",
}


def test_each_recording_of_a_failure_has_its_row() -> None:
    """None is forgotten."""
    rows = REFUSED.keys() | NEVER.keys() | NOT_OURS.keys()
    assert BAD - rows == set()
    assert not Batsim5.fails_machines


def test_the_tests_above_can_fail() -> None:
    """Legal commands are not refused."""
    written(CALL(1.0, 5.0))
    reply(5.0, commands.RejectJob(5.0, "w0!a"))
    with pytest.raises(BatschedError):
        written(PROBE)
    with pytest.raises(RemoteProtocolError):
        read_hello(b"hello")
    with pytest.raises(LocalProtocolError):
        written(EXECUTE)
    assert submitted(job("a")).job_id == "w0!a"
