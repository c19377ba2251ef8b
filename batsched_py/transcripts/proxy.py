"""Between a Batsim and a decision process: every message is passed on as it is, and kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from batsched_py.errors import RemoteProtocolError, TranscriptError, TransportError
from batsched_py.protocol.codec import parse
from batsched_py.protocol.conversation import DecisionSide, check_stop
from batsched_py.transcripts.decisions import request_time

#: Keeps an exchange: a request and its reply.
Record = Callable[[bytes, bytes], None]

#: Seconds that an interrupted proxy waits for the next request, to refuse it: Batsim would wait for ever for a reply.
GRACE: Final = 1.0
#: What a request holds, perhaps as a part of something else, if it is the last one.
_LAST: Final = b"SIMULATION_ENDS"


class Batsim(Protocol):
    """The connection to Batsim; TransportError if it is gone or silent for too long."""

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for the next request."""

    def send(self, reply: bytes) -> None:
        """Answer it."""


def relay(batsim: Batsim, decide: Callable[[bytes], bytes], record: Record, *, timeout: float | None = None) -> int:
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
                _stop(batsim, request, error, record)
        raise


def _is_last(request: bytes) -> bool:
    if _LAST not in request:
        return False
    try:
        events = parse(request)["events"]
    except RemoteProtocolError:
        return False
    return any(isinstance(event, dict) and event.get("type") == _LAST.decode() for event in events)


def _stop(batsim: Batsim, request: bytes | None, error: BaseException, record: Record) -> None:
    if request is not None:
        refusal = _refusal(request, error)
        try:
            batsim.send(refusal)
        except TransportError:
            request = None  # its reply had just left when we were interrupted
    if request is None:
        request = batsim.receive(GRACE)
        refusal = _refusal(request, error)
        batsim.send(refusal)
    record(request, refusal)


def _refusal(request: bytes, error: BaseException) -> bytes:
    side = DecisionSide(lambda _: None)
    side.now = request_time(request) or 0.0
    return side.refusal(str(error))
