"""The decision process of a simulation: an algorithm of ours in this process, or another program over ZeroMQ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from batsched_py.cli.shared.algorithm import Choice, recording
from batsched_py.cli.shared.parameters import told_limits
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import BatschedError, DeadlockError, RefusedError, RemoteProtocolError
from batsched_py.protocol.conversation import check_stop
from batsched_py.session.session import Session
from batsched_py.simulator.wire.scheduler_link import Exchange
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import Recorder
from batsched_py.transport.zmq_req import ReqSocket

#: Lines about waiting jobs that are told when the simulation stands still.
_TOLD: Final = 10


def _ignore(session: Session) -> None:
    """For those who do not look inside."""


@contextmanager
def our_decider(choice: Choice, record: Path | None, follow: Callable[[Session], None] = _ignore) -> Iterator[Exchange]:
    """An algorithm's session, which `follow` is given before the first request.

    If the simulation stands still, the error says what the algorithm is waiting for.
    """
    session = choice.session()
    follow(session)
    with recording(record, choice.header()) as recorder:
        try:
            yield session.answer if recorder is None else _recorded(session, recorder)
        except DeadlockError as error:
            raise DeadlockError(error.why, _waiting(session)) from error
        except RemoteProtocolError as error:  # both peers are ours
            raise RefusedError(_dated(str(error), session.now)) from error


@contextmanager
def their_decider(address: str, connect_timeout: float, record: Path | None) -> Iterator[Exchange]:
    """The decision process that listens on `address`, or will within `connect_timeout` seconds. TransportError."""
    with (
        ReqSocket(address, connect_timeout=connect_timeout, limits=told_limits()) as socket,
        recording(record, Header()) as recorder,
    ):
        say(f"asking the decision process on {address}", err=True)

        def exchange(request: bytes) -> bytes:
            reply = socket.exchange(request)
            if recorder is not None:
                recorder.record(request, reply)
            check_stop(reply)
            return reply

        yield exchange


def _recorded(session: Session, recorder: Recorder) -> Exchange:
    """The session's answers, kept; of a failure the refusal is kept, which a Batsim would have got."""
    answer, gather = session.answer, recorder.gather

    def exchange(request: bytes) -> bytes:
        try:
            reply = answer(request)
        except BatschedError as error:
            recorder.record(request, session.refusal(error))
            raise
        gather(request, reply)
        return reply

    return exchange


def _dated(text: str, now: float) -> str:
    return text if "t=" in text else f"t={now:g}: {text}"


def _waiting(session: Session) -> list[str]:
    lines = list(session.waiting())
    return lines if len(lines) <= _TOLD else [*lines[:_TOLD], f"and {len(lines) - _TOLD} more"]
