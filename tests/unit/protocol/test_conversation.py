"""Turns of a conversation, its time, and messages that neither end may send."""

from __future__ import annotations

import json
import math
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.errors import LocalProtocolError, RemoteProtocolError
from batsched_py.hostset import HostSet
from batsched_py.protocol.commands import CallMeLater, ExecuteJob, KillJob, RejectJob, SetJobMetadata
from batsched_py.protocol.conversation import TURNS, BatsimSide, DecisionSide, Turn
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.events import JobSubmitted, Nop, RequestedCall, SimulationBegins, SimulationEnds, Unknown
from batsched_py.protocol.stopping import STOP_EVENT
from tests.unit.protocol.messages import (
    LATER_V4,
    LATER_V14,
    OPENING_V4,
    OPENING_V14,
    REPLY_V4,
    REPLY_V14,
    REQUESTS,
    Document,
    batsim_side,
    decision_side,
    document,
    raw,
)

EMPTY = b'{"now":0,"events":[]}'
CALL = ("REQUESTED_CALL", {})  # type: tuple[str, dict[str, Any]]

#: The turns of all conversations; Batsim 5 has one more (see batsim5/test_greeting.py).
EVERY = [turn for turn in Turn if turn is not Turn.GREETED]
ABSENT = [pair for pair in product(EVERY, REQUESTS) if pair not in TURNS]
PRESENT = [pair for pair in product(EVERY, REQUESTS) if pair in TURNS]
SILENT = [turn for turn in EVERY if (turn, "reply") not in TURNS]
SPEAKING = [turn for turn in EVERY if (turn, "reply") in TURNS]


def called(*timestamps: float, now: float = 10.0) -> Document:
    """A request whose events are calls at these times."""
    events = [{"timestamp": timestamp, "type": "REQUESTED_CALL", "data": {}} for timestamp in timestamps]
    return {"now": now, "events": events}


def test_the_turns_are_these() -> None:
    """Begin, in Batsim 5 greeted, then request and reply in strict alternation, then the end and its empty reply."""
    assert [(turn.name, what, after.name) for (turn, what), after in TURNS.items()] == [
        ("BEFORE", "begin", "DECIDING"),
        ("BEFORE", "greeting", "GREETED"),
        ("GREETED", "begin", "DECIDING"),
        ("DECIDING", "reply", "SIMULATING"),
        ("SIMULATING", "request", "DECIDING"),
        ("SIMULATING", "end", "LAST_REPLY"),
        ("LAST_REPLY", "reply", "OVER"),
    ]


@pytest.mark.parametrize(("turn", "what"), PRESENT)
def test_a_request_in_its_turn_leads_on_at_our_end(turn: Turn, what: str) -> None:
    """As the table says."""
    side = decision_side(turn)
    side.receive(raw(REQUESTS[what][1]))
    assert side.turn is TURNS[turn, what]


@pytest.mark.parametrize(("turn", "what"), PRESENT)
def test_a_request_in_its_turn_leads_on_at_batsims_end(turn: Turn, what: str) -> None:
    """The same table at both ends."""
    side = batsim_side(turn)
    side.request(0.0, REQUESTS[what][0])
    assert side.turn is TURNS[turn, what]


@pytest.mark.parametrize(("turn", "what"), ABSENT)
def test_a_request_out_of_turn_is_batsims_fault_and_counts_as_not_received(turn: Turn, what: str) -> None:
    """Each pair that is not in the table; the error tells where the conversation stands."""
    side = decision_side(turn)
    with pytest.raises(RemoteProtocolError, match=r"out of turn; now: |must be SIMULATION_BEGINS"):
        side.receive(raw(REQUESTS[what][1]))
    assert side.turn is turn


@pytest.mark.parametrize(("turn", "what"), ABSENT)
def test_a_request_out_of_turn_is_not_written(turn: Turn, what: str) -> None:
    """At Batsim's end it is our own fault."""
    side = batsim_side(turn)
    with pytest.raises(LocalProtocolError, match=f"out of turn; now: {turn.value}"):
        side.request(0.0, REQUESTS[what][0])
    assert side.turn is turn


@pytest.mark.parametrize("turn", SPEAKING)
def test_a_reply_in_its_turn_leads_on_at_both_ends(turn: Turn) -> None:
    """Empty ones always may be given."""
    ours, batsim = decision_side(turn), batsim_side(turn)
    batsim.receive(ours.reply(0.0, ()))
    assert ours.turn is batsim.turn is TURNS[turn, "reply"]


@pytest.mark.parametrize("turn", SILENT)
def test_a_reply_out_of_turn_is_not_written(turn: Turn) -> None:
    """There is no request to answer."""
    side = decision_side(turn)
    with pytest.raises(LocalProtocolError, match=f"must answer a request; now: {turn.value}"):
        side.reply(0.0, ())
    assert side.turn is turn


@pytest.mark.parametrize("turn", SILENT)
def test_a_reply_out_of_turn_is_the_schedulers_fault(turn: Turn) -> None:
    """Batsim has not asked."""
    side = batsim_side(turn)
    with pytest.raises(RemoteProtocolError, match=f"a reply is out of turn; now: {turn.value}"):
        side.receive(EMPTY)
    assert side.turn is turn


BEGIN, END, OTHER = SimulationBegins(0.0, ()), SimulationEnds(0.0), RequestedCall(0.0)
WIRE: dict[Any, Any] = {
    SimulationBegins: OPENING_V4["events"][0],
    SimulationEnds: {"timestamp": 0.0, "type": "SIMULATION_ENDS", "data": {}},
    RequestedCall: {"timestamp": 0.0, "type": "REQUESTED_CALL", "data": {}},
}
DISORDER = [
    pytest.param(Turn.BEFORE, [BEGIN, BEGIN], id="two beginnings"),
    pytest.param(Turn.BEFORE, [OTHER, BEGIN], id="a beginning that is not first"),
    pytest.param(Turn.BEFORE, [BEGIN, END], id="beginning and end at once"),
    pytest.param(Turn.BEFORE, [], id="nothing to begin with"),
    pytest.param(Turn.SIMULATING, [OTHER, BEGIN], id="a beginning in the middle"),
    pytest.param(Turn.SIMULATING, [END, OTHER], id="something after the end"),
    pytest.param(Turn.SIMULATING, [END, END], id="two ends"),
    pytest.param(Turn.SIMULATING, [BEGIN, END], id="all at once"),
]


@pytest.mark.parametrize(("turn", "events"), DISORDER)
def test_a_request_in_disorder_is_batsims_fault(turn: Turn, events: list[Any]) -> None:
    """The beginning stands first in the first message, the end last in the last."""
    side = decision_side(turn)
    with pytest.raises(RemoteProtocolError):
        side.receive(raw({"now": 0.0, "events": [WIRE[type(event)] for event in events]}))
    assert side.turn is turn


@pytest.mark.parametrize(("turn", "events"), DISORDER)
def test_a_request_in_disorder_is_not_written(turn: Turn, events: list[Any]) -> None:
    """The same rules at both ends."""
    side = batsim_side(turn)
    with pytest.raises(LocalProtocolError):
        side.request(0.0, events)
    assert side.turn is turn


def test_the_end_may_come_with_the_last_completion() -> None:
    """As in real Batsim 1.4."""
    side = decision_side(Turn.SIMULATING, OPENING_V14)
    completed = {"job_id": "a!1", "status": "SUCCESS", "job_state": "COMPLETED_SUCCESSFULLY", "kill_reason": ""}
    side.receive(raw(document(9.0, ("JOB_COMPLETED", completed), ("SIMULATION_ENDS", {}))))
    assert side.turn is Turn.LAST_REPLY


@pytest.mark.parametrize("first", [document(0.0), document(0.0, ("NOP", {})), document(0.0, ("SIMULATION_ENDS", {}))])
def test_the_first_message_opens_with_the_beginning(first: Document) -> None:
    """Nothing else tells the dialect."""
    with pytest.raises(RemoteProtocolError, match=r"^events\[0\]\.type: must be SIMULATION_BEGINS"):
        DecisionSide(pytest.fail).receive(raw(first))


@pytest.mark.parametrize(
    ("opening", "later", "dialect"), [(OPENING_V4, LATER_V4, V4), (OPENING_V14, LATER_V14, V14)], ids=["v4", "v1.4"]
)
def test_the_dialect_is_that_of_the_beginning(opening: Document, later: Document, dialect: Dialect) -> None:
    """All later messages are read in it."""
    side = decision_side(Turn.SIMULATING, opening)
    assert len(side.receive(raw(later)).events) == len(later["events"])
    assert side.dialect is dialect


def test_names_of_the_other_dialect_are_unknown() -> None:
    """A QUERY is a question in v4 and an event like any other in v1.4."""
    side = decision_side(Turn.SIMULATING, OPENING_V14)
    (event,) = side.receive(raw(document(0.0, ("QUERY", {"requests": {}})))).events
    assert event == Unknown(0.0, "QUERY", {"requests": {}})


def test_a_command_that_the_dialect_lacks_is_not_sent() -> None:
    """Batsim 1.4 would abort."""
    side = decision_side(Turn.DECIDING, OPENING_V14)
    with pytest.raises(LocalProtocolError, match=r"SetJobMetadata does not exist in protocol v1\.4"):
        side.reply(0.0, [SetJobMetadata(0.0, "a!1", "why")])


def test_an_event_of_an_unknown_type_is_kept_with_one_warning() -> None:
    """The run goes on (BA-15)."""
    warnings: list[str] = []
    side = DecisionSide(warnings.append)
    side.receive(raw(OPENING_V4))
    side.reply(0.0, ())
    message = side.receive(raw(document(3.0, ("SOLAR_FLARE", {"class": "X"}), CALL)))
    assert message.events == (Unknown(3.0, "SOLAR_FLARE", {"class": "X"}), RequestedCall(3.0))
    assert [line for line in warnings if not line.startswith("t=0: member")] == [
        "t=3: event of unknown type SOLAR_FLARE kept, but nothing is done with it"
    ]


def test_a_notice_of_an_unknown_kind_is_kept() -> None:
    """Batsim forwards events that it does not know as notices."""
    side = decision_side(Turn.SIMULATING)
    (notice,) = side.receive(raw(document(0.0, ("NOTIFY", {"type": "solar_flare", "resources": 7})))).events
    assert (notice.kind, notice.hosts, notice.members["resources"]) == ("solar_flare", None, 7)


def test_an_unknown_type_is_written_at_batsims_end() -> None:
    """A simulator may play a Batsim that is newer than we are."""
    written = json.loads(batsim_side(Turn.SIMULATING).request(1.0, [Unknown(1.0, "SOLAR_FLARE", {"class": "X"})]))
    assert written == document(1.0, ("SOLAR_FLARE", {"class": "X"}))


def test_events_older_than_now_are_accepted() -> None:
    """They happened while Batsim waited for the date of the reply (BA-5)."""
    side = decision_side(Turn.SIMULATING)
    message = side.receive(raw(called(0, 4.5, 4.5, 10)))
    assert [event.timestamp for event in message.events] == [0, 4.5, 4.5, 10]


TIMES_ASTRAY = [
    pytest.param(called(2.0, 1.0), "events[1].timestamp", id="descending"),
    pytest.param(called(1.0, 10.5), "events[1].timestamp", id="after now"),
    pytest.param(called(now=-1.0), "now", id="before the beginning"),
]


@pytest.mark.parametrize(("request_", "path"), TIMES_ASTRAY)
def test_a_request_whose_times_go_astray_is_batsims_fault(request_: Document, path: str) -> None:
    """Timestamps ascend, and none is above now (BA-4)."""
    side = decision_side(Turn.SIMULATING)
    with pytest.raises(RemoteProtocolError) as caught:
        side.receive(raw(request_))
    assert (caught.value.path, side.turn) == (path, Turn.SIMULATING)


@pytest.mark.parametrize(("request_", "path"), TIMES_ASTRAY)
def test_a_request_whose_times_go_astray_is_not_written(request_: Document, path: str) -> None:
    """The same rules at both ends."""
    with pytest.raises(LocalProtocolError) as caught:
        batsim_side(Turn.SIMULATING).request(
            request_["now"], [RequestedCall(event["timestamp"]) for event in request_["events"]]
        )
    assert caught.value.path == path


@pytest.mark.parametrize("now", [math.nan, math.inf])
def test_batsims_end_does_not_write_a_time_that_json_lacks(now: float) -> None:
    """It would arrive as null."""
    with pytest.raises(LocalProtocolError, match=r"^now: "):
        batsim_side(Turn.SIMULATING).request(now, [])


def test_time_stands_still_between_requests_of_one_instant() -> None:
    """Batsim batches only what is in its mailbox (E5)."""
    side = decision_side(Turn.SIMULATING)
    side.receive(raw(called(now=10.0)))
    side.reply(10.0, ())
    side.receive(raw(called(10.0)))
    assert side.now == 10.0


def test_time_does_not_go_back_between_requests() -> None:
    """Not by the least bit."""
    side = decision_side(Turn.SIMULATING)
    side.receive(raw(called(now=10.0)))
    side.reply(10.0, ())
    with pytest.raises(RemoteProtocolError, match=r"^now: must not go back: it was 10.0, it is 9.999999"):
        side.receive(raw(called(now=9.999999)))


def deciding(now: float = 10.0, dialect: Document = OPENING_V4) -> DecisionSide:
    """Our end, which must answer a request of this time."""
    side = decision_side(Turn.SIMULATING, dialect)
    side.receive(raw(called(now=now)))
    return side


@pytest.mark.parametrize(
    ("now", "commands", "path"),
    [
        (9.9, [], "now"),
        (math.nan, [], "now"),
        (math.inf, [], "now"),
        (10.0, [RejectJob(10.1, "w0!1")], "events[0].timestamp"),
        (12.0, [RejectJob(12.0, "w0!1"), RejectJob(11.0, "w0!2")], "events[1].timestamp"),
        (10.0, [RejectJob(math.nan, "w0!1")], "events[0].timestamp"),
        (10.0, [CallMeLater(10.0, 10.0)], "events[0].data.timestamp"),
        (10.0, [CallMeLater(10.0, 3.0)], "events[0].data.timestamp"),
        (12.0, [CallMeLater(10.0, 11.0)], "events[0].data.timestamp"),
        (10.0, [CallMeLater(10.0, math.nan)], "events[0].data.timestamp"),
        (10.0, [CallMeLater(10.0, math.inf)], "events[0].data.timestamp"),
        (10.0, [RejectJob(10.0, "w0!1"), KillJob(10.0, ())], "events[1].data.job_ids"),
    ],
)
def test_a_reply_that_breaks_a_rule_is_not_sent(now: float, commands: list[Any], path: str) -> None:
    """The reply's now is not before the request's, times ascend, calls are later than now (BA-4, BA-6)."""
    with pytest.raises(LocalProtocolError) as caught:
        deciding(10.0).reply(now, commands)
    assert caught.value.path == path


def test_after_a_reply_that_was_not_sent_another_may_be() -> None:
    """Nothing was said, so it is still our turn."""
    side = deciding(10.0)
    with pytest.raises(LocalProtocolError):
        side.reply(9.0, ())
    assert json.loads(side.reply(10.0, ())) == {"now": 10.0, "events": []}


def test_decisions_may_lie_between_now_and_the_replys_now() -> None:
    """A decision takes time."""
    written = deciding(10.0).reply(12.0, [ExecuteJob(11.0, "w0!1", HostSet.of(3, 1, 2)), CallMeLater(12.0, 12.1)])
    assert [event["timestamp"] for event in json.loads(written)["events"]] == [11.0, 12.0]


@given(st.lists(st.floats(10, 1e6), max_size=5), st.floats(0, 1e6))
def test_a_reply_is_sent_exactly_if_its_times_are_in_order(timestamps: list[float], wait: float) -> None:
    """BA-4, whatever the times."""
    now = 10.0 + wait
    in_order = timestamps == sorted(timestamps) and all(timestamp <= now for timestamp in timestamps)
    try:
        deciding(10.0).reply(now, [RejectJob(timestamp, "w0!1") for timestamp in timestamps])
    except LocalProtocolError:
        assert not in_order
    else:
        assert in_order


def test_the_last_reply_is_empty() -> None:
    """A call in it makes Batsim abort."""
    side = decision_side(Turn.LAST_REPLY)
    with pytest.raises(LocalProtocolError, match=r"^events: must be empty in the reply to SIMULATION_ENDS"):
        side.reply(0.0, [CallMeLater(0.0, 5.0)])


def test_the_last_reply_is_read_empty() -> None:
    """As real Batsim reads it."""
    side = batsim_side(Turn.LAST_REPLY)
    with pytest.raises(RemoteProtocolError, match=r"^events: must be empty in the reply to SIMULATION_ENDS"):
        side.receive(raw(document(0.0, ("CALL_ME_LATER", {"timestamp": 5.0}))))


def test_batsim_1_accepts_whatever_stands_in_the_last_reply() -> None:
    """As a recording shows; it must still be a reply."""
    side = batsim_side(Turn.LAST_REPLY, V14)
    reply = side.receive(raw(document(0.0, ("CALL_ME_LATER", {"timestamp": 5.0}))))
    assert (reply.events, side.turn) == ((CallMeLater(0.0, 5.0),), Turn.OVER)


def asking(now: float = 10.0, dialect: Dialect = V4) -> BatsimSide:
    """Batsim's end, which has asked at this time."""
    side = batsim_side(Turn.SIMULATING, dialect)
    side.request(now, [])
    return side


def test_batsim_accepts_a_reply_of_the_past() -> None:
    """It is applied at once."""
    assert asking(10.0).receive(raw(document(3, ("REJECT_JOB", {"job_id": "w0!1"})))).now == 3


def test_batsim_accepts_a_reply_of_the_far_future() -> None:
    """Events before that time come with the next message."""
    assert asking(10.0).receive(raw(document(1010.0))).now == 1010.0


def test_batsim_accepts_descending_times() -> None:
    """Each is slept to in turn."""
    reply = document(20.0, ("REJECT_JOB", {"job_id": "w0!1"}), ("REJECT_JOB", {"job_id": "w0!2"}))
    reply["events"][1]["timestamp"] = 15
    assert [command.timestamp for command in asking(10.0).receive(raw(reply)).events] == [20.0, 15]


def test_batsim_accepts_members_that_it_does_not_know() -> None:
    """In the message and beside timestamp, type and data."""
    reply = document(10.0, ("REJECT_JOB", {"job_id": "w0!1"}))
    reply["version"] = reply["events"][0]["why"] = "5"
    assert asking(10.0).receive(raw(reply)).events == (RejectJob(10.0, "w0!1"),)


def test_batsim_refuses_a_time_after_the_replys_now() -> None:
    """It aborts."""
    reply = document(10.0, ("REJECT_JOB", {"job_id": "w0!1"}))
    reply["events"][0]["timestamp"] = 10.1
    with pytest.raises(RemoteProtocolError, match=r"^events\[0\]\.timestamp: must be at most the reply's now=10.0"):
        asking(10.0).receive(raw(reply))


@pytest.mark.parametrize("reply", [b"", b"yes", b'{"events":[]}', b'{"now":1}', raw(document(10.0, ("RUN", {})))])
def test_batsim_refuses_what_is_no_reply(reply: bytes) -> None:
    """It still waits for a reply, as far as this end is concerned."""
    side = asking(10.0)
    with pytest.raises(RemoteProtocolError):
        side.receive(reply)
    assert side.turn is Turn.DECIDING


@pytest.mark.parametrize(("dialect", "reply"), [(V4, REPLY_V4), (V14, REPLY_V14)], ids=["v4", "v1.4"])
def test_batsim_reads_every_command_of_its_dialect(dialect: Dialect, reply: Document) -> None:
    """One of each kind in one reply."""
    assert len(asking(5.5, dialect).receive(raw(reply)).events) == len(reply["events"])


def test_batsims_end_speaks_its_dialect() -> None:
    """The names and members of 1.4."""
    side = BatsimSide(V14)
    written = json.loads(side.request(0.0, [SimulationBegins(0.0, ())]))
    assert "resources_data" in written["events"][0]["data"]


def test_what_one_end_writes_the_other_reads() -> None:
    """Two peers wired together."""
    ours, batsim = decision_side(Turn.SIMULATING), batsim_side(Turn.SIMULATING)
    events = (JobSubmitted(1.0, "w0!1", None), RequestedCall(2.5))
    assert ours.receive(batsim.request(2.5, events)).events == events


def test_an_explicit_nothing_is_read_in_v14() -> None:
    """NOP, in both directions."""
    side = decision_side(Turn.SIMULATING, OPENING_V14)
    assert side.receive(raw(document(0.0, ("NOP", {})))).events == (Nop(0.0),)


@pytest.mark.parametrize("data", [{}, {"data": None}], ids=["absent", "null"])
def test_an_explicit_nothing_needs_no_data(data: dict[str, None]) -> None:
    """v1.4's document says "N/A" of it; all else needs an object, and so does a NOP that has something else."""
    nothing = {"timestamp": 1.0, "type": "NOP", **data}
    side = decision_side(Turn.SIMULATING, OPENING_V14)
    assert side.receive(raw({"now": 1.0, "events": [nothing]})).events == (Nop(1.0),)
    assert batsim_side(Turn.DECIDING, V14).receive(raw({"now": 1.0, "events": [nothing]})).events == (Nop(1.0),)
    for wrong, path in (({**nothing, "data": 5}, r"\.data"), ({"type": "NOP"}, r"\.timestamp")):
        with pytest.raises(RemoteProtocolError, match=rf"events\[0\]{path}"):
            batsim_side(Turn.DECIDING, V14).receive(raw({"now": 1.0, "events": [wrong]}))


@pytest.mark.parametrize("dialect", [V4, V14], ids=["v4", "v1.4"])
def test_a_refusal_is_refused_by_every_batsim(dialect: Dialect) -> None:
    """So that it stops instead of waiting for ever, with a name in its log that says why."""
    refusal = deciding(10.0).refusal("the disk is full")
    with pytest.raises(RemoteProtocolError, match=STOP_EVENT):
        asking(10.0, dialect).receive(refusal)


@pytest.mark.parametrize("reason", ["", 'a "word"\n', "/data/\udcff.json", "\x00"])
def test_a_refusal_is_sent_whatever_the_reason(reason: str) -> None:
    """Names of files may hold bytes that are no text."""
    assert json.loads(deciding(10.0).refusal(reason))["events"][0]["type"] == STOP_EVENT


@pytest.mark.parametrize("turn", [Turn.LAST_REPLY, Turn.OVER])
def test_a_refusal_after_the_end_is_the_empty_reply(turn: Turn) -> None:
    """Batsim aborts on any event there, and leaves its files empty."""
    side = decision_side(turn)
    assert json.loads(side.refusal("why")) == {"now": side.now, "events": []}


def test_a_refusal_may_be_sent_before_anything_was_understood() -> None:
    """The first message may be the wrong one."""
    assert json.loads(DecisionSide(pytest.fail).refusal("why"))["now"] == 0.0
