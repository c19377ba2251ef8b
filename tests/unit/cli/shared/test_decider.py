"""The blame for a conversation that fails."""

from __future__ import annotations

import json

import pytest

from batsched_py.cli.shared.decider import their_decider
from batsched_py.errors import RemoteProtocolError
from batsched_py.protocol.stopping import STOP_EVENT
from batsched_py.reading.limits import Limits
from batsched_py.transport import zmq_req


class FakeSocket:
    """Gives its address as the reply to everything."""

    def __init__(self, address: str, connect_timeout: float, limits: Limits) -> None:
        self.reply = address.encode()

    def __enter__(self) -> FakeSocket:
        return self

    def __exit__(self, *reason: object) -> None:
        """Do nothing: nothing is open."""

    def exchange(self, request: bytes) -> bytes:
        return self.reply


def reply(*events: object) -> str:
    return json.dumps({"now": 0, "events": events})


def test_the_reason_of_a_decision_process_that_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other side failed, and why is in the line."""
    monkeypatch.setattr(zmq_req, "ReqSocket", FakeSocket)
    event = {"timestamp": 0, "type": STOP_EVENT, "data": {"reason": "t=0: no luck"}}
    said = r"^the decision process stopped: t=0: no luck \(BATSCHED_PY_STOPPED\)$"
    with their_decider(reply(event), 1, None) as exchange, pytest.raises(RemoteProtocolError, match=said):
        exchange(b"")
    del event["data"]
    with their_decider(reply(event), 1, None) as exchange, pytest.raises(RemoteProtocolError, match="no reason"):
        exchange(b"")


@pytest.mark.parametrize(
    "odd",
    [
        STOP_EVENT,
        reply({"timestamp": 0, "type": "REJECT_JOB", "data": {"job_id": STOP_EVENT}}),
        reply({"type": STOP_EVENT, "data": 3}),
    ],
)
def test_the_name_of_the_event_alone_stops_nothing(monkeypatch: pytest.MonkeyPatch, odd: str) -> None:
    """The simulator judges the reply."""
    monkeypatch.setattr(zmq_req, "ReqSocket", FakeSocket)
    with their_decider(odd, 1, None) as exchange:
        assert exchange(b"") == odd.encode()
