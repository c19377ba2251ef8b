"""The loop: what is recorded and sent, and what Batsim hears when the loop ends before the simulation does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from batsched_py.api import NoOptions, Plan, Scheduler, View
from batsched_py.errors import AlgorithmError, InputError, RemoteProtocolError, TranscriptError, TransportError
from batsched_py.protocol.events import Event, SimulationEnds
from batsched_py.protocol.stopping import STOP_EVENT
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.session.serve import RecordExchange, serve
from batsched_py.session.session import Session
from batsched_py.transport.connection import GRACE
from tests.builders import begins_data, message, submitted_data
from tests.scripted import BEGINS, ENDS, NOTHING, Wire


def stops(reply: bytes) -> bool:
    return [event["type"] for event in json.loads(reply)["events"]] == [STOP_EVENT]


@pytest.fixture
def session() -> Session:
    return Session(Fcfs)


@pytest.fixture
def kept() -> list[tuple[bytes, bytes]]:
    return []


@pytest.fixture
def record(kept: list[tuple[bytes, bytes]]) -> RecordExchange:
    return lambda request, reply, *, is_json=False: kept.append((request, reply))


def test_the_loop_ends_with_the_simulation(
    session: Session, kept: list[tuple[bytes, bytes]], record: RecordExchange
) -> None:
    """Each exchange is recorded; the time-out is handed to the connection."""
    wire = Wire(BEGINS, NOTHING, ENDS, b"never received")
    serve(session, wire, record=record, timeout=7.0)
    assert wire.script == [b"never received"]
    assert wire.timeouts == [7.0] * 3
    assert kept == list(zip([BEGINS, NOTHING, ENDS], wire.replies, strict=True))


def test_an_exchange_is_recorded_before_batsim_can_act_on_it(session: Session) -> None:
    """Nothing was sent yet when the recorder is called."""
    wire = Wire(BEGINS, ENDS)
    sent = []

    def keep(request: bytes, reply: bytes, *, is_json: bool = False) -> None:
        sent.append((len(wire.replies), is_json))

    serve(session, wire, record=keep)
    assert sent == [(0, True), (1, True)]


def test_an_error_stops_batsim_and_is_raised(
    session: Session, kept: list[tuple[bytes, bytes]], record: RecordExchange
) -> None:
    """The refusal is recorded in the place of the reply."""
    wire = Wire(b"nonsense")
    with pytest.raises(RemoteProtocolError):
        serve(session, wire, record=record)
    assert stops(wire.replies[0])
    assert kept == [(b"nonsense", wire.replies[0])]


def test_a_recorder_that_fails_stops_batsim(session: Session) -> None:
    """A run that cannot be recorded as asked does not go on."""

    def full(request: bytes, reply: bytes, *, is_json: bool = False) -> None:
        raise TranscriptError("run.jsonl", "", "cannot be written")

    wire = Wire(BEGINS)
    with pytest.raises(TranscriptError):
        serve(session, wire, record=full)
    assert stops(wire.replies[0])


def test_an_interruption_refuses_the_next_request(
    session: Session, kept: list[tuple[bytes, bytes]], record: RecordExchange
) -> None:
    """Batsim would wait for ever for its reply; it is given a moment to ask."""
    wire = Wire(BEGINS, KeyboardInterrupt(), NOTHING)
    with pytest.raises(KeyboardInterrupt):
        serve(session, wire, record=record)
    assert wire.timeouts == [None, None, GRACE]
    assert stops(wire.replies[1])
    assert kept[1] == (NOTHING, wire.replies[1])


def test_an_interruption_before_the_first_request_ends_at_once(session: Session) -> None:
    """There is no Batsim to stop."""
    wire = Wire(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        serve(session, wire)
    assert wire.timeouts == [None]


def test_an_interruption_of_a_silent_batsim_ends_after_the_moment(session: Session) -> None:
    """The interruption is what the caller hears of, not the silence."""
    wire = Wire(BEGINS, KeyboardInterrupt(), TransportError("silence"))
    with pytest.raises(KeyboardInterrupt):
        serve(session, wire)


def test_an_interruption_just_after_a_reply_refuses_the_next_request(session: Session) -> None:
    """The request is answered already: refusing it again would be out of turn."""

    class Interrupted(Wire):
        def send(self, reply: bytes) -> None:
            super().send(reply)
            if len(self.replies) == 1:
                raise KeyboardInterrupt

    wire = Interrupted(BEGINS, NOTHING)
    with pytest.raises(KeyboardInterrupt):
        serve(session, wire)
    assert stops(wire.replies[1])


def test_a_peer_that_is_gone_is_told_nothing(session: Session) -> None:
    """The transport's error goes to the caller as it is."""
    wire = Wire(BEGINS, TransportError("gone"), b"never received")
    with pytest.raises(TransportError, match="gone"):
        serve(session, wire)
    assert wire.script == [b"never received"]


class FailsAtTheEnd(Fcfs):
    """Raises when it observes SIMULATION_ENDS."""

    def observe(self, event: Event, view: View) -> None:
        if isinstance(event, SimulationEnds):
            raise ValueError("at the end")


def test_an_error_at_the_end_lets_batsim_end(kept: list[tuple[bytes, bytes]], record: RecordExchange) -> None:
    """Its reply is empty, so that Batsim writes its files; the error is raised all the same."""
    wire = Wire(BEGINS, NOTHING, ENDS)
    with pytest.raises(AlgorithmError, match="failed on SimulationEnds: ValueError: at the end") as caught:
        serve(Session(FailsAtTheEnd), wire, record=record)
    assert caught.value.exit_code == 3
    assert json.loads(wire.replies[2]) == {"now": 2.0, "events": []}
    assert kept[2] == (ENDS, wire.replies[2])


class Forgetful(Scheduler[NoOptions]):
    """Submits nothing, starts nothing, and never says that this is all."""

    name = "forgetful"
    needs_dynamic_jobs = True

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            plan.hold(job, "not today")


def stood_still(*requests: tuple[str, dict[str, Any]], config: dict[str, Any]) -> str:
    """Return the error about a Batsim that closed the connection after these requests."""
    begins = message(0.0, ("SIMULATION_BEGINS", begins_data(config=config)))
    script = [begins, *(message(1.0, request) for request in requests)]
    with pytest.raises(TransportError) as caught:
        serve(Session(Forgetful), Wire(*script, TransportError("Batsim closed the connection")))
    return str(caught.value)


NO_MORE = ("NOTIFY", {"type": "no_more_static_job_to_submit"})
OPEN = (
    "registration is open: forgetful must call plan.finish_registration() after its last job, and keep a call"
    " (plan.wake_at) as long as more are to come"
)


def test_a_batsim_that_came_to_a_standstill_and_went_is_explained() -> None:
    """Real Batsim ends with exit code 0 and tells nobody: who waits, and that registration was never finished."""
    said = stood_still(NO_MORE, config={"dynamic-jobs-enabled": True})
    assert said == f"Batsim closed the connection; nothing was left to happen at t=1: {OPEN}"
    said = stood_still(("JOB_SUBMITTED", submitted_data("a", 2)), NO_MORE, config={"dynamic-jobs-enabled": True})
    assert said.endswith(f"at t=1: {OPEN}; w0!a (2 hosts) held at t=1: not today")


def test_a_batsim_that_went_while_jobs_were_to_come_is_not_explained() -> None:
    """It did not stand still: it died."""
    said = stood_still(("JOB_SUBMITTED", submitted_data("a", 2)), config={"dynamic-jobs-enabled": True})
    assert said == "Batsim closed the connection"


def test_all_is_finished_before_the_last_reply_leaves(session: Session, record: RecordExchange) -> None:
    """Once; whoever started both processes may kill this one as soon as it has the reply."""
    wire = Wire(BEGINS, NOTHING, ENDS)
    finished: list[int] = []
    serve(session, wire, record=record, finish=lambda: finished.append(len(wire.replies)))
    assert finished == [2]
    assert len(wire.replies) == 3


def test_batsim_ends_although_its_results_cannot_be_written(
    session: Session, kept: list[tuple[bytes, bytes]], record: RecordExchange
) -> None:
    """The last exchange is recorded once, and the reply is empty."""

    def fail() -> None:
        raise InputError("run.json", "", "cannot be written")

    wire = Wire(BEGINS, ENDS)
    with pytest.raises(InputError, match="cannot be written"):
        serve(session, wire, record=record, finish=fail)
    assert json.loads(wire.replies[-1])["events"] == []
    assert len(kept) == 2
