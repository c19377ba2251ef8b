"""The envelope of a message, and what of Python's JSON is refused."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.errors import LocalProtocolError, RemoteProtocolError
from batsched_py.hostset import HostSet
from batsched_py.protocol.codec import Message, decode, encode, encode_alone, parse
from batsched_py.protocol.commands import CallMeLater, RegisterProfile, RejectJob
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.events import JobCompleted, Nop, RequestedCall, Unknown
from tests.unit.protocol.strategies import unknown_events

CALL = {"timestamp": 1.0, "type": "REQUESTED_CALL", "data": {}}


def raw(events: object, now: object = 1.0, **more: object) -> bytes:
    """A message of these members, right or wrong."""
    return json.dumps({"now": now, "events": events, **more}).encode()


def read(message: bytes, *, keep_unknown: bool = True) -> Message:
    """A request of Batsim 4."""
    return decode(message, V4.events, keep_unknown=keep_unknown)


def refused(message: bytes) -> RemoteProtocolError:
    """The error that reading this request raises."""
    with pytest.raises(RemoteProtocolError) as caught:
        read(message)
    return caught.value


def test_an_empty_list_of_events_is_a_message() -> None:
    """Nothing has happened, and Batsim says so."""
    assert read(raw([])) == Message(1.0, ())


@pytest.mark.parametrize("now", [5, 5.0, 0, 18446744073709551615])
def test_now_may_be_an_integer(now: float) -> None:
    """Real Batsim writes six decimals; other writers need not."""
    assert read(raw([], now)).now == now


def test_a_timestamp_may_be_an_integer() -> None:
    """As `now` may."""
    assert read(raw([{**CALL, "timestamp": 1}])).events == (RequestedCall(1),)


def test_members_that_nobody_describes_are_ignored_in_the_envelope() -> None:
    """Real Batsim ignores them too."""
    assert read(raw([{**CALL, "why": 1}], version=3)).events == (RequestedCall(1.0),)


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (b"", "message"),
        (b"hello", "message"),
        (b'{"now":1,"events":[]', "message"),
        (b'{"now":1,"events":[],}', "message"),
        (b'{"now":1,"events":[]} // said', "message"),
        (b'{"now":"\xff\xfe","events":[]}', "message"),
        (b"\x00\x01\x02", "message"),
        (b"[]", "message"),
        (b"null", "message"),
        (b"7", "message"),
        (b'"now"', "message"),
        (b'{"events":[]}', "now"),
        (b'{"now":null,"events":[]}', "now"),
        (b'{"now":"1","events":[]}', "now"),
        (b'{"now":true,"events":[]}', "now"),
        (b'{"now":[],"events":[]}', "now"),
        (b'{"now":NaN,"events":[]}', "message"),
        (b'{"now":Infinity,"events":[]}', "message"),
        (b'{"now":-Infinity,"events":[]}', "message"),
        (b'{"now":1e400,"events":[]}', "message"),
        (b'{"now":' + b"9" * 5000 + b',"events":[]}', "message"),
        (b'{"now":' + b"[" * 1000 + b"]" * 1000 + b',"events":[]}', "now"),
        (b'{"now":' + b'{"a":' * 1000 + b"1" + b"}" * 1000 + b',"events":[]}', "now"),
        (b"[" * 100_000, "message"),
        (b'{"now":1,"events":[] /* as in the examples of the document */}', "message"),
        (b'{"now":1}', "events"),
        (b'{"now":1,"events":null}', "events"),
        (b'{"now":1,"events":{}}', "events"),
        (b'{"now":1,"events":"REQUESTED_CALL"}', "events"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else None,
)
def test_a_message_that_is_not_one_is_refused(message: bytes, path: str) -> None:
    """The error names the member, on one line of readable length."""
    error = refused(message)
    assert error.path == path
    assert "\n" not in str(error)
    assert len(str(error)) < 300


@pytest.mark.parametrize(
    ("event", "path"),
    [
        (None, "events[1]"),
        (7, "events[1]"),
        ("NOP", "events[1]"),
        ([], "events[1]"),
        ({}, "events[1].timestamp"),
        ({**CALL, "timestamp": None}, "events[1].timestamp"),
        ({**CALL, "timestamp": "1"}, "events[1].timestamp"),
        ({**CALL, "timestamp": True}, "events[1].timestamp"),
        ({"timestamp": 1.0, "data": {}}, "events[1].type"),
        ({**CALL, "type": 7}, "events[1].type"),
        ({**CALL, "type": None}, "events[1].type"),
        ({**CALL, "type": ["REQUESTED_CALL"]}, "events[1].type"),
        ({**CALL, "type": {}}, "events[1].type"),
        ({"timestamp": 1.0, "type": "REQUESTED_CALL"}, "events[1].data"),
        ({"timestamp": 1.0, "type": "UNHEARD_OF"}, "events[1].data"),
        ({**CALL, "data": None}, "events[1].data"),
        ({**CALL, "data": []}, "events[1].data"),
        ({**CALL, "data": "{}"}, "events[1].data"),
    ],
)
def test_an_event_without_its_three_members_is_refused(event: object, path: str) -> None:
    """All are compulsory, `data` even when empty; the error names the event's position."""
    assert refused(raw([CALL, event])).path == path


def test_an_error_inside_data_names_position_member_and_type() -> None:
    """Enough to find it in a message of hundreds of events."""
    error = refused(raw([CALL, {**CALL, "type": "JOB_SUBMITTED", "data": {"job_id": 5}}]))
    assert str(error) == "events[1].data.job_id: must be a text, not 5 (JOB_SUBMITTED)"


def test_an_error_shows_names_of_the_peer_on_one_line() -> None:
    """A job id may hold a line break, an error may not."""
    killed = {"job_ids": [], "job_progress": {"w0!1\nERROR all is lost": 7}}
    error = refused(raw([{**CALL, "type": "JOB_KILLED", "data": killed}]))
    assert error.path == "events[0].data.job_progress.w0!1\\nERROR all is lost.w0!1\\nERROR all is lost"


@given(unknown_events)
def test_an_event_of_an_unknown_type_is_kept_whole(event: Unknown) -> None:
    """Read and written back, nothing of it is lost."""
    written = encode(Message(8, (event,)), V4.events, "v4", keep_unknown=True)
    assert read(written) == Message(8, (event,))


def test_an_unknown_type_is_refused_where_batsim_refuses_it() -> None:
    """A decision process must not invent commands."""
    with pytest.raises(RemoteProtocolError, match=r"events\[0\]\.type: must be a known event, not 'MY_EVENT'"):
        read(raw([{**CALL, "type": "MY_EVENT"}]), keep_unknown=False)


def test_an_unknown_type_is_not_sent_where_batsim_refuses_it() -> None:
    """It would abort."""
    with pytest.raises(LocalProtocolError, match="Unknown does not exist in protocol v4"):
        encode(Message(1, (Unknown(1, "MY_EVENT", {}),)), V4.commands, "v4", keep_unknown=False)


def test_an_event_is_no_command() -> None:
    """Each direction has its own table."""
    with pytest.raises(LocalProtocolError, match=r"events\[1\]: JobCompleted does not exist in protocol v1.4"):
        encode(
            Message(1, (RejectJob(1, "a!1"), JobCompleted(1, "a!1", "REJECTED"))),
            V14.commands,
            "v1.4",
            keep_unknown=False,
        )


def test_nop_is_written_as_nothing() -> None:
    """An empty list says it in every dialect."""
    assert encode(Message(1.5, (Nop(1.5),)), V4.commands, "v4", keep_unknown=False) == b'{"now":1.5,"events":[]}'


def test_the_envelope_is_compact_and_in_order() -> None:
    """As Batsim writes it: now, events; timestamp, type, data."""
    written = encode(Message(2.0, (CallMeLater(1.5, 60.0),)), V4.commands, "v4", keep_unknown=False)
    assert written == (b'{"now":2.0,"events":[{"timestamp":1.5,"type":"CALL_ME_LATER","data":{"timestamp":60.0}}]}')


def test_any_mapping_is_written_as_an_object() -> None:
    """Annotations ask for a Mapping, so a read-only one will do, at any depth."""
    profile = MappingProxyType({"type": "mine", "inner": MappingProxyType({"a": 1})})
    written = encode(Message(1, (RegisterProfile(1, "w", "p", profile),)), V4.commands, "v4", keep_unknown=False)
    assert json.loads(written)["events"][0]["data"]["profile"] == {"type": "mine", "inner": {"a": 1}}


@pytest.mark.parametrize("value", [HostSet.of(1), object(), {1: 2}, 10**30, "\ud800", {1, 2}, b"bytes"])
def test_what_json_cannot_say_is_our_error(value: Any) -> None:
    """The peer never sees it."""
    with pytest.raises(LocalProtocolError, match="cannot be written as JSON"):
        encode(Message(1, (RegisterProfile(1, "w", "p", {"x": value}),)), V4.commands, "v4", keep_unknown=False)


def test_what_goes_round_in_circles_is_our_error() -> None:
    """It has no end to write."""
    circle: dict[str, Any] = {}
    circle["again"] = circle
    with pytest.raises(LocalProtocolError, match="must not nest deeper than"):
        encode(Message(1, (RegisterProfile(1, "w", "p", circle),)), V4.commands, "v4", keep_unknown=False)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document_or_a_protocol_error(message: bytes) -> None:
    """Nothing else comes out of the parser."""
    try:
        document = parse(message)
    except RemoteProtocolError:
        return
    assert type(document["events"]) is list


@pytest.mark.parametrize("dialect", [V14, V4, V5])
def test_a_command_that_is_written_already_is_written_the_same(dialect: Dialect) -> None:
    """Text of the user may hold brackets, of which a message is made."""
    profile = RegisterProfile(1.5, "w]0[", "p", {"type": "delay", "delay": 3.5, "mine": ["]}", "[", {"x": []}]})
    message = Message(2.0, (RejectJob(1.0, "w0!1"), profile, RejectJob(2.0, "w0![2]")))
    written = {id(profile): (profile, encode_alone(profile, dialect.commands, dialect.name))}
    whole = encode(message, dialect.commands, dialect.name, keep_unknown=False)
    assert encode(message, dialect.commands, dialect.name, keep_unknown=False, written=written) == whole


def test_what_was_written_of_another_command_is_not_sent() -> None:
    """Ids are used again once an object is gone: the command itself must be the same."""
    sent, other = RejectJob(1.0, "w0!1"), RejectJob(1.0, "w0!2")
    written = {id(sent): (other, encode_alone(other, V4.commands, V4.name))}
    document = json.loads(encode(Message(1.0, (sent,)), V4.commands, V4.name, keep_unknown=False, written=written))
    assert document["events"][0]["data"] == {"job_id": "w0!1"}
