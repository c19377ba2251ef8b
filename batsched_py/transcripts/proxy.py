"""The proxy between a Batsim and a decision process: passes every message on as it is, and keeps it."""

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

#: Bytes of the last request; others may hold them as a part of something.
_LAST: Final = b"SIMULATION_ENDS"


def relay(batsim: Connection, decide: Callable[[bytes], bytes], record: Keep, *, timeout: float | None = None) -> int:
    """Pass messages on until SIMULATION_ENDS was answered; how many exchanges there were.

    `decide` asks the decision process; it raises TransportError if that is gone or silent for too long. `timeout` is
    the longest silence of Batsim, in seconds. An exchange is recorded before its reply leaves.

    Whatever else ends the relay is raised to the caller, after Batsim was sent a reply that makes it stop, in the place
    of the one it waits for; after an interruption while it computes, in answer to its next request, if that comes
    within GRACE. A decision process that stops Batsim itself is RemoteProtocolError, with its reason.
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
        raise  # Batsim has the reply that stops it
    except BaseException as error:
        # Without a request there is nobody to stop if Batsim has not begun or has gone.
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
