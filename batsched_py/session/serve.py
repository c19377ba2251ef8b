"""The loop around a session: receive, answer, record, send, until the simulation ends."""

from __future__ import annotations

from contextlib import suppress
from typing import Final, Protocol

from batsched_py.errors import TranscriptError, TransportError
from batsched_py.session.session import Session

#: Seconds that an interrupted process waits for the next request, to refuse it: Batsim would wait for ever for a reply.
GRACE: Final = 1.0


class Record(Protocol):
    """Keeps exchanges."""

    def __call__(self, request: bytes, reply: bytes, *, is_json: bool = False) -> None:
        """Keep one; with `is_json` both messages are known to be JSON."""


class Connection(Protocol):
    """What a transport does for us; TransportError if the peer is gone or silent for too long."""

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for the next request."""

    def send(self, reply: bytes) -> None:
        """Answer it."""


def serve(
    session: Session, connection: Connection, *, record: Record | None = None, timeout: float | None = None
) -> None:
    """Answer requests until SIMULATION_ENDS was answered.

    An exchange is recorded before its reply leaves, so that Batsim never acts on a decision that nobody can look up.
    `timeout` is the longest silence of Batsim, in seconds.

    Whatever else ends the loop is raised to the caller, after Batsim was sent a reply that makes it stop: for errors
    in the place of the reply it waits for, for an interruption (KeyboardInterrupt and the like) while Batsim computes
    in answer to its next request, if that comes within GRACE. This refusal is recorded as the reply.
    """
    request: bytes | None = None
    try:
        while not session.over:
            request = None
            request = connection.receive(timeout)
            reply = session.answer(request)
            if record is not None:
                record(request, reply, is_json=True)
            connection.send(reply)
    except TransportError as error:
        why = session.standstill()
        if why:
            raise TransportError(f"{error}; {why}") from error
        raise
    except BaseException as error:
        with suppress(TransportError, TranscriptError):
            _stop_batsim(session, connection, request, error, record)
        raise


def _stop_batsim(
    session: Session, connection: Connection, request: bytes | None, error: BaseException, record: Record | None
) -> None:
    refusal = session.refusal(error)
    if request is not None:
        try:
            connection.send(refusal)
        except TransportError:
            request = None  # its reply had just left when we were interrupted
    if request is None:
        if not session.messages:
            return
        request = connection.receive(GRACE)
        connection.send(refusal)
    if record is not None:
        record(request, refusal)
