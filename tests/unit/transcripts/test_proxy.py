"""The relay between two connections: what is kept, what is passed on, and what Batsim hears at the end."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from batsched_py.errors import RemoteProtocolError, TranscriptError, TransportError
from batsched_py.protocol.stopping import STOP_EVENT
from batsched_py.transcripts.proxy import relay
from batsched_py.transport.connection import GRACE
from tests.builders import completed_data, message
from tests.scripted import BEGINS, ENDS, NOTHING, Wire

#: How Batsim 1.4 ends: not alone.
OLD_ENDS = message(2.0, ("JOB_COMPLETED", completed_data("1", "0")), ("SIMULATION_ENDS", {}))


class Kept(list[tuple[bytes, bytes]]):
    def __call__(self, request: bytes, reply: bytes) -> None:
        self.append((request, reply))


def fails(error: BaseException) -> Callable[[bytes], bytes]:
    def decide(request: bytes) -> bytes:
        raise error

    return decide


def stop(reply: bytes) -> tuple[float, str]:
    """When and why this reply makes Batsim stop."""
    document = json.loads(reply)
    (event,) = document["events"]
    assert event["type"] == STOP_EVENT
    return document["now"], event["data"]["reason"]


@pytest.mark.parametrize("last", [ENDS, OLD_ENDS])
@pytest.mark.parametrize("odd", [b"\xff\x00", b"tea", b"[]", b'{"now":0,"events":[{"type":"SIMULATION_ENDS"', b""])
def test_everything_is_passed_on_and_kept_as_it_is(last: bytes, odd: bytes) -> None:
    """Until SIMULATION_ENDS was answered, also if it stands among other events; nothing is judged."""
    wire, kept = Wire(BEGINS, odd, last, b"never asked"), Kept()
    assert relay(wire, lambda request: request[::-1], kept, timeout=7.0) == 3
    assert wire.replies == [request[::-1] for request in (BEGINS, odd, last)]
    assert kept == list(zip([BEGINS, odd, last], wire.replies, strict=True))
    assert wire.timeouts == [7.0] * 3


def test_an_exchange_is_kept_before_batsim_can_act_on_it() -> None:
    """Nothing was sent yet."""
    wire, sent = Wire(BEGINS, ENDS), []
    relay(wire, lambda request: b"", lambda request, reply: sent.append(len(wire.replies)))
    assert sent == [0, 1]


def test_a_decision_process_that_fails_stops_batsim() -> None:
    """At the time of the request, which is kept with the refusal."""
    wire, kept = Wire(NOTHING), Kept()
    with pytest.raises(TransportError, match="it died"):
        relay(wire, fails(TransportError("it died")), kept)
    assert stop(wire.replies[0]) == (1.0, "it died")
    assert kept == [(NOTHING, wire.replies[0])]


def test_a_full_disk_stops_batsim() -> None:
    """The decision never reaches it."""
    wire = Wire(NOTHING)
    with pytest.raises(TranscriptError):
        relay(wire, lambda request: b"decision", _full)
    assert stop(wire.replies[0])[1] == "run.jsonl: cannot be written: No space left on device"


def _full(request: bytes, reply: bytes) -> None:
    raise TranscriptError("run.jsonl", "", "cannot be written: No space left on device")


def test_a_batsim_that_has_gone_is_not_waited_for() -> None:
    """There is nobody to be told."""
    wire = Wire(BEGINS, TransportError("it died"))
    with pytest.raises(TransportError, match="it died"):
        relay(wire, lambda request: b"", Kept())
    assert wire.timeouts == [None, None]


def test_an_interruption_stops_batsim_at_its_next_request() -> None:
    """If it has begun; it is not waited for longer than a moment."""
    wire, kept = Wire(BEGINS, KeyboardInterrupt("Ctrl-C"), NOTHING), Kept()
    with pytest.raises(KeyboardInterrupt):
        relay(wire, lambda request: b"", kept)
    assert wire.timeouts == [None, None, GRACE]
    assert stop(wire.replies[1]) == (1.0, "Ctrl-C")
    assert kept == [(BEGINS, b""), (NOTHING, wire.replies[1])]
    wire = Wire(KeyboardInterrupt("Ctrl-C"))
    with pytest.raises(KeyboardInterrupt):
        relay(wire, lambda request: b"", Kept())
    assert wire.timeouts == [None]


def test_an_interruption_while_the_decision_process_thinks_stops_batsim_at_once() -> None:
    """In the place of the reply."""
    wire = Wire(NOTHING)
    with pytest.raises(KeyboardInterrupt):
        relay(wire, fails(KeyboardInterrupt("Ctrl-C")), Kept())
    assert stop(wire.replies[0]) == (1.0, "Ctrl-C")


def test_a_decision_process_that_stops_batsim_ends_the_relay() -> None:
    """Its reply is passed on first, and its reason is told."""
    wire, kept = Wire(BEGINS), Kept()
    farewell = message(0.0, (STOP_EVENT, {"reason": "no luck"}))
    with pytest.raises(RemoteProtocolError, match="the decision process stopped: no luck"):
        relay(wire, lambda request: farewell, kept)
    assert wire.replies == [farewell]
    assert kept == [(BEGINS, farewell)]
