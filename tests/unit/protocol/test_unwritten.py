"""Messages that go from one end to the other unwritten: what is received is what would have been read."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from batsched_py.errors import LocalProtocolError, RemoteProtocolError
from batsched_py.hostset import HostSet
from batsched_py.model.host_room import TaskPlace
from batsched_py.model.job import Job
from batsched_py.protocol.codec import Message, as_read, decode, encode
from batsched_py.protocol.commands import AdditionalIo, CallMeLater, ExecuteJob, RejectJob
from batsched_py.protocol.conversation import Turn
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.events import (
    COMPLETED_SUCCESSFULLY,
    JobCompleted,
    JobSubmitted,
    RequestedCall,
    SimulationBegins,
    Unknown,
)
from batsched_py.protocol.forms import Forms
from tests.unit.protocol.messages import batsim_side, decision_side
from tests.unit.protocol.strategies import COMMANDS_V4, COMMANDS_V14, EVENTS_V4, EVENTS_V14, Values

#: Each class of each dialect, with its forms.
CASES = [
    pytest.param(dialect, forms, strategy, id=f"{dialect.name}-{kind.__name__}")
    for dialect, forms, strategies in (
        (V4, V4.events, EVENTS_V4),
        (V4, V4.commands, COMMANDS_V4),
        (V14, V14.events, EVENTS_V14),
        (V14, V14.commands, COMMANDS_V14),
    )
    for kind, strategy in strategies.items()
]
TWO = HostSet.of(0, 1)
JOB = Job("w0!1", 3, 2, 10.5, "p", {"id": "w0!1", "subtime": 3, "res": 2, "profile": "p", "walltime": 10.5})
#: What nearly all messages are made of.
PLAIN: list[Any] = [
    JobSubmitted(7.0, "w0!1", JOB),
    JobCompleted(7.0, "w0!1", COMPLETED_SUCCESSFULLY, 0, TWO),
    RequestedCall(7.0),
]
COMMANDS: list[Any] = [ExecuteJob(7.0, "w0!1", TWO), RejectJob(7.0, "w0!1"), CallMeLater(7.0, 9.5)]


class Text(str):
    """As libraries make them; JSON is not written of it."""


def read(message: Message, forms: Forms, dialect: Dialect) -> Message:
    """Write it, and read that."""
    return decode(encode(message, forms, dialect.name, keep_unknown=True), forms, keep_unknown=True)


@pytest.mark.parametrize(("dialect", "forms", "strategy"), CASES)
def test_a_message_that_may_stay_unwritten_is_what_is_read(dialect: Dialect, forms: Forms, strategy: Values) -> None:
    """To the types of its numbers and mappings, whatever stands in it."""

    @settings(max_examples=20)
    @given(strategy, st.sampled_from([8, 8.0]))
    def check(event: Any, now: float) -> None:
        unwritten = as_read(now, (event,), forms)
        if unwritten is not None:
            assert repr(unwritten) == repr(read(Message(now, (event,)), forms, dialect))

    check()


@pytest.mark.parametrize("value", PLAIN + COMMANDS, ids=lambda value: type(value).__name__)
def test_what_nearly_all_messages_are_made_of_stays_unwritten(value: Any) -> None:
    """Otherwise nothing would be gained."""
    forms = V4.events if value in PLAIN else V4.commands
    unwritten = as_read(7.0, (value,), forms)
    assert unwritten == Message(7.0, (value,))
    assert repr(unwritten) == repr(read(Message(7.0, (value,)), forms, V4))


def test_each_member_that_may_be_left_out_is_known_here() -> None:
    """A member that a class is given later has to be thought of in `as_read`, and tried below."""
    optional = {
        type(value): set(type(value).__struct_fields__[-len(type(value).__struct_defaults__) :])
        for value in PLAIN + COMMANDS
        if type(value).__struct_defaults__
    }
    assert optional == {
        JobSubmitted: {"profile", "extra"},
        JobCompleted: {"return_code", "hosts", "status", "kill_reason", "extra"},
        RequestedCall: {"extra", "call_id", "last"},
        ExecuteJob: {"mapping", "storage_mapping", "additional_io", "placement", "overrides", "places"},
        CallMeLater: {"call_id"},
    }


@pytest.mark.parametrize("value", PLAIN + COMMANDS, ids=lambda value: type(value).__name__)
def test_a_time_that_is_no_float_is_written(value: Any) -> None:
    """A reader may make a float of it."""
    forms = V4.events if value in PLAIN else V4.commands
    assert as_read(7.0, (replace(value, timestamp=7),), forms) is None


@pytest.mark.parametrize(
    "value",
    [
        JobSubmitted(7.0, "w0!1", None),
        JobSubmitted(7.0, "w0!1", JOB, {"type": "delay", "delay": 1}),
        JobSubmitted(7.0, "w0!1", JOB, extra={"mine": 1}),
        JobSubmitted(7.0, "1", JOB),
        JobSubmitted(7.0, "w0!1", replace(JOB, members={**JOB.members, "mine": {1}})),
        JobSubmitted(7.0, "w0!1", replace(JOB, members={**JOB.members, "mine": "\ud800"})),
        JobSubmitted(7.0, "w0!1", replace(JOB, members={**JOB.members, "res": -1})),
        JobCompleted(7.0, "w0!1", COMPLETED_SUCCESSFULLY, 0, None),
        JobCompleted(7.0, "w0!1", COMPLETED_SUCCESSFULLY, 0, HostSet()),
        JobCompleted(7.0, "w0!1", "RUNNING", 0, TWO),
        replace(PLAIN[1], status="SUCCESS"),
        replace(PLAIN[1], kill_reason="Walltime reached"),
        replace(PLAIN[1], extra={"mine": 1}),
        replace(PLAIN[1], extra={}),
        RequestedCall(7.0, {"mine": 1}),
        RequestedCall(7.0, call_id="mine"),
        RequestedCall(7.0, last=True),
        Unknown(7.0, "MINE", {}),
    ],
    ids=str,
)
def test_an_event_with_more_is_written(value: Any) -> None:
    """Only that tells what is read, or what is wrong."""
    assert as_read(7.0, (PLAIN[2], value), V4.events) is None


@pytest.mark.parametrize(
    "value",
    [
        replace(COMMANDS[0], hosts=HostSet()),
        replace(COMMANDS[0], job_id=Text("w0!1")),
        RejectJob(7.0, Text("w0!1")),
        replace(COMMANDS[0], mapping={0: 0}),
        replace(COMMANDS[0], storage_mapping={"disk": 2}),
        replace(COMMANDS[0], additional_io=AdditionalIo(TWO, "io")),
        replace(COMMANDS[0], placement="fill-one-host-completely"),
        replace(COMMANDS[0], overrides=(1,)),
        replace(COMMANDS[0], places=(TaskPlace(0, (1,)), TaskPlace(1, (0,)))),
        replace(COMMANDS[2], at=9),
        replace(COMMANDS[2], at=math.inf),
        replace(COMMANDS[2], at=math.nan),
        replace(COMMANDS[2], call_id="mine"),
    ],
    ids=str,
)
def test_a_command_with_more_is_written(value: Any) -> None:
    """Likewise."""
    assert as_read(7.0, (COMMANDS[1], value), V4.commands) is None


def test_a_job_is_a_copy_of_its_own() -> None:
    """An algorithm that changes the members of a job changes nothing in the simulation."""
    members = {**JOB.members, "mine": {"deep": [1]}}
    event = JobSubmitted(7.0, "w0!1", replace(JOB, members=members))
    unwritten = as_read(7.0, (event,), V4.events)
    assert unwritten is not None
    unwritten.events[0].job.members["mine"]["deep"].append(2)
    assert members["mine"] == {"deep": [1]}


def test_the_times_of_a_job_are_those_of_its_members() -> None:
    """Batsim writes six decimals, and knows more."""
    event = JobSubmitted(7.0, "w0!1", replace(JOB, submit_time=3.0000004, walltime=10.49999999))
    assert as_read(7.0, (event,), V4.events) == Message(7.0, (replace(event, job=JOB),))


def test_both_ends_talk_unwritten() -> None:
    """Their turns go on as if it were written."""
    batsim, ours = batsim_side(Turn.SIMULATING), decision_side(Turn.SIMULATING)
    request = batsim.request_unwritten(7.0, PLAIN)
    assert isinstance(request, Message)
    assert request == Message(7.0, tuple(PLAIN))
    ours.receive_unwritten(request)
    reply = ours.reply_unwritten(8.0, COMMANDS)
    assert isinstance(reply, Message)
    assert reply == Message(8.0, tuple(COMMANDS))
    batsim.receive_unwritten(reply)
    assert (batsim.turn, batsim.now, ours.turn, ours.now) == (Turn.SIMULATING, 7.0, Turn.SIMULATING, 7.0)


def test_what_has_to_be_written_is_written() -> None:
    """The other end reads it, as always."""
    batsim, ours = batsim_side(Turn.SIMULATING), decision_side(Turn.SIMULATING)
    request = batsim.request_unwritten(7.0, [Unknown(7.0, "MINE", {})])
    assert isinstance(request, bytes)
    assert ours.receive(request) == Message(7.0, (Unknown(7.0, "MINE", {}),))
    reply = ours.reply_unwritten(8.0, [replace(COMMANDS[0], mapping={0: 0, 1: 1})])
    assert isinstance(reply, bytes)
    assert batsim.receive(reply).events == (replace(COMMANDS[0], mapping={0: 0, 1: 1}),)


def test_the_first_request_is_always_written() -> None:
    """It decides how all others are read: another one is an error there, as if it were written."""
    side = batsim_side(Turn.BEFORE)
    with pytest.raises(LocalProtocolError, match="a request is out of turn"):
        side.request_unwritten(0.0, [RequestedCall(0.0)])
    assert isinstance(side.request_unwritten(0.0, [SimulationBegins(0.0, ())]), bytes)


def test_an_unwritten_message_keeps_the_rules_of_times_and_turns() -> None:
    """As a written one."""
    batsim, ours = batsim_side(Turn.SIMULATING), decision_side(Turn.SIMULATING)
    with pytest.raises(LocalProtocolError, match="must ascend"):
        batsim.request_unwritten(6.0, PLAIN)
    with pytest.raises(LocalProtocolError, match="must answer a request"):
        ours.reply_unwritten(8.0, COMMANDS)
    with pytest.raises(RemoteProtocolError, match="out of turn"):
        batsim.receive_unwritten(Message(8.0, ()))
    batsim.request_unwritten(7.0, PLAIN)
    with pytest.raises(LocalProtocolError, match="out of turn"):
        batsim.request_unwritten(7.0, PLAIN)
    with pytest.raises(RemoteProtocolError, match="at most the reply's now"):
        batsim.receive_unwritten(Message(6.0, tuple(COMMANDS)))
    batsim.receive_unwritten(Message(7.0, tuple(COMMANDS)))
    with pytest.raises(LocalProtocolError, match="must not go back"):
        batsim.request_unwritten(6.0, [RequestedCall(6.0)])
    ours.receive_unwritten(Message(7.0, tuple(PLAIN)))
    with pytest.raises(LocalProtocolError, match="at or after"):
        ours.reply_unwritten(6.0, ())
    with pytest.raises(RemoteProtocolError, match="out of turn"):
        ours.receive_unwritten(Message(7.0, tuple(PLAIN)))
