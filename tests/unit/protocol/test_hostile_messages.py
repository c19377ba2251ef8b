"""Hostile bytes: nothing but a protocol error is raised, and the conversation goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.errors import RemoteProtocolError
from batsched_py.protocol.conversation import DecisionSide, Turn
from batsched_py.protocol.dialect import V4, V14, Dialect
from tests.unit.protocol.hostile import damages, mutations
from tests.unit.protocol.messages import (
    LATER_V4,
    LATER_V14,
    OPENING_V4,
    OPENING_V14,
    REPLY_V4,
    REPLY_V14,
    Document,
    batsim_side,
    decision_side,
    document,
    raw,
)

#: What stands before the mutated request, and a valid request after it.
SITUATIONS = {
    "v4 begins": (Turn.BEFORE, OPENING_V4, OPENING_V4),
    "v1.4 begins": (Turn.BEFORE, OPENING_V14, OPENING_V14),
    "v4 goes on": (Turn.SIMULATING, OPENING_V4, LATER_V4),
    "v1.4 goes on": (Turn.SIMULATING, OPENING_V14, LATER_V14),
}
each_situation = pytest.mark.parametrize(
    ("turn", "opening", "valid"), SITUATIONS.values(), ids=[name.replace(" ", "-") for name in SITUATIONS]
)


def refusal(side: DecisionSide, message: bytes) -> RemoteProtocolError | None:
    """The error that this message raises, if any; another kind of error fails the test."""
    try:
        side.receive(message)
    except RemoteProtocolError as error:
        return error
    return None


def survives(side: DecisionSide, message: bytes, valid: Document) -> None:
    """Receive a message, wrong or right, and then a valid one."""
    turn = side.turn
    error = refusal(side, message)
    if error is None:
        side.reply(side.now, ())
        if side.turn is not Turn.OVER:
            side.receive(raw(document(side.now, ("REQUESTED_CALL", {}))))
        return
    assert side.turn is turn, "a message that breaks a rule counts as not received"
    assert error.path
    assert error.rule
    assert str(error).isprintable()
    assert len(str(error)) < 400
    side.receive(raw(valid))


@each_situation
@given(message=st.binary(max_size=300))
def test_random_bytes_are_a_protocol_error(turn: Turn, opening: Document, valid: Document, message: bytes) -> None:
    """A valid message afterwards is received."""
    survives(decision_side(turn, opening), message, valid)


@each_situation
@given(values=st.data())
def test_a_damaged_request_is_read_or_a_protocol_error(
    turn: Turn, opening: Document, valid: Document, values: st.DataObject
) -> None:
    """Some bytes were lost or others came in."""
    survives(decision_side(turn, opening), values.draw(damages(raw(valid))), valid)


@each_situation
@given(values=st.data())
def test_a_mutated_request_is_read_or_a_protocol_error(
    turn: Turn, opening: Document, valid: Document, values: st.DataObject
) -> None:
    """Any member of any other type or value, missing, or of no meaning."""
    survives(decision_side(turn, opening), raw(values.draw(mutations(valid))), valid)


@pytest.mark.parametrize(("dialect", "valid"), [(V4, REPLY_V4), (V14, REPLY_V14)], ids=["v4", "v1.4"])
@given(values=st.data())
def test_a_mutated_reply_is_read_or_a_protocol_error(dialect: Dialect, valid: Document, values: st.DataObject) -> None:
    """At Batsim's end too, and a valid reply afterwards is received."""
    side = batsim_side(Turn.DECIDING, dialect)
    try:
        side.receive(raw(values.draw(mutations(valid))))
    except RemoteProtocolError:
        side.receive(raw(valid))
    assert side.turn is Turn.SIMULATING


@pytest.mark.parametrize("valid", [OPENING_V4, LATER_V4, OPENING_V14, LATER_V14, REPLY_V4, REPLY_V14])
def test_the_messages_that_are_mutated_are_json(valid: Document) -> None:
    """The tests above start from what is right."""
    assert json.loads(raw(valid)) == valid


@each_situation
def test_the_requests_that_are_mutated_are_valid(turn: Turn, opening: Document, valid: Document) -> None:
    """The tests above start from what is right."""
    side = decision_side(turn, opening)
    assert len(side.receive(raw(valid)).events) == len(valid["events"])


@pytest.mark.parametrize("levels", [100, 300, 900, 1000])
def test_members_that_nest_deep_are_kept_or_a_protocol_error(levels: int) -> None:
    """JSON may nest deeper than Python's stack."""
    events = [{"timestamp": 0, "type": "SOLAR_FLARE", "data": {"deep": "?"}}]
    message = raw({"now": 0, "events": events}).replace(b'"?"', b"[" * levels + b"]" * levels)
    survives(decision_side(Turn.SIMULATING), message, document(0.0))


@pytest.mark.parametrize("member", ["job_id", "job_state", "return_code", "alloc"])
@pytest.mark.parametrize("levels", [300, 1000])
def test_a_wrong_member_that_nests_deep_is_a_protocol_error(member: str, levels: int) -> None:
    """The error message is cut before it is written."""
    completed = {"job_id": "w0!1", "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": "0", member: "?"}
    message = raw(document(0.0, ("JOB_COMPLETED", completed))).replace(b'"?"', b"[" * levels + b"]" * levels)
    with pytest.raises(RemoteProtocolError, match=rf"^events\[0\]\.data\.{member}: must be "):
        decision_side(Turn.SIMULATING).receive(message)


def test_progress_that_nests_deep_is_a_protocol_error() -> None:
    """No composed profile does."""
    node: Any = {"profile_name": "p", "progress": 0.5}
    for _ in range(200):
        node = {"profile_name": "c", "current_task_index": 0, "current_task": node}
    killed = document(0.0, ("JOB_KILLED", {"job_ids": ["w0!1"], "job_progress": {"w0!1": node}}))
    with pytest.raises(RemoteProtocolError, match="must not nest deeper than 100"):
        decision_side(Turn.SIMULATING).receive(raw(killed))
