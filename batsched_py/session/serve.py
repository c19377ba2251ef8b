"""The loop around a session: receive, answer, record, send, until the simulation ends."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from batsched_py.errors import TranscriptError, TransportError
from batsched_py.session.session import Session
from batsched_py.transport.connection import Connection, stop_batsim


class RecordExchange(Protocol):
    """A callback that records exchanges."""

    def __call__(self, request: bytes, reply: bytes, *, is_json: bool = False) -> None:
        """Record an exchange; with `is_json`, both messages are known to be JSON."""


def serve(
    session: Session,
    connection: Connection,
    *,
    record: RecordExchange | None = None,
    timeout: float | None = None,
    finish: Callable[[], None] | None = None,
    accept_all: Callable[[], None] | None = None,
) -> None:
    """Answer requests until SIMULATION_ENDS was answered.

    An exchange is recorded before its reply is sent, so that Batsim never acts on an unrecorded decision. `timeout` is
    the maximum time to wait for a request, in seconds. `finish` is called before the last reply is sent, because the
    launcher of both processes may kill this one as soon as Batsim has ended. `accept_all` is called before the first
    reply to a peer that connects anew for each message: from then on all connections are the peer's.

    Any exception is raised to the caller, after a reply that makes Batsim stop: after an error, it replaces the awaited
    reply; after an interruption (such as KeyboardInterrupt) while Batsim computes, it answers Batsim's next request, if
    that arrives within GRACE. This refusal is recorded as the reply. For SIMULATION_ENDS it is empty, so that Batsim
    writes its files.
    """
    request: bytes | None = None
    try:
        while not session.over:
            request = None
            request = connection.receive(timeout)
            reply = session.answer(request)
            if record is not None:
                record(request, reply, is_json=True)
            if accept_all is not None and session.messages == 1 and session.dialect.is_wrench:
                accept_all()
            if session.over and finish is not None:
                record = None  # it was the last exchange, and the file may be closed now
                finish()
            connection.send(reply)
    except TransportError as error:
        why = session.deadlock()
        if why:
            raise TransportError(f"{error}; {why}") from error
        raise
    except BaseException as error:
        with suppress(TransportError, TranscriptError):
            refusal = session.refusal(error)
            stop_batsim(connection, request, lambda _: refusal, record, asks_again=session.messages > 0)
        raise
