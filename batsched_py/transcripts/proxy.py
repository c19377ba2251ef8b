"""The proxy between a Batsim and a decision process: forwards every message unchanged, and records it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from batsched_py.errors import RemoteProtocolError, TranscriptError, TransportError
from batsched_py.protocol.codec import parse
from batsched_py.protocol.conversation import DecisionSide
from batsched_py.protocol.stopping import check_stop
from batsched_py.transcripts.decisions import request_time
from batsched_py.transport.connection import Connection, Keep, stop_batsim

#: Bytes that the last request contains; other requests may also contain them.
_LAST: Final = b"SIMULATION_ENDS"


def relay(batsim: Connection, decide: Callable[[bytes], bytes], record: Keep, *, timeout: float | None = None) -> int:
    """Forward messages until SIMULATION_ENDS was answered; return the number of exchanges.

    `decide` sends a request to the decision process; it raises TransportError if that is gone or silent for too long.
    `timeout` is the maximum time to wait for a request, in seconds. An exchange is recorded before its reply is sent.

    Any exception is raised to the caller, after a reply that makes Batsim stop: it replaces the awaited reply, or,
    after an interruption while Batsim computes, answers its next request, if that arrives within GRACE.
    RemoteProtocolError, with the reason, if the decision process stops Batsim itself.
    """
    exchanges = 0
    request: bytes | None = None
    try:
        while True:
            request = None
            request = batsim.receive(timeout)
            reply = decide(request)
            record(request, reply)
            exchanges += 1
            batsim.send(reply)
            if _is_last(request):
                return exchanges
            check_stop(reply)
    except RemoteProtocolError:
        raise  # Batsim has received the reply that stops it
    except BaseException as error:
        # Without a request there is no Batsim to stop: it has not begun or has gone.
        if request is not None or (exchanges and not isinstance(error, TransportError)):
            with suppress(TransportError, TranscriptError):
                stop_batsim(batsim, request, partial(_refusal, error), record, asks_again=True)
        raise


def _is_last(request: bytes) -> bool:
    if _LAST not in request:
        return False
    try:
        events = parse(request)["events"]
    except RemoteProtocolError:
        return False
    return any(isinstance(event, dict) and event.get("type") == _LAST.decode() for event in events)


def _refusal(error: BaseException, request: bytes) -> bytes:
    side = DecisionSide()
    side.now = request_time(request) or 0.0
    return side.refusal(str(error))
