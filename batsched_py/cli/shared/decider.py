"""The decision process of a simulation: an algorithm in this process, or another program over ZeroMQ."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from batsched_py.cli.shared.algorithm import AlgorithmChoice, recording
from batsched_py.cli.shared.command import current_limits
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import BatschedError, DeadlockError, RefusedError, RemoteProtocolError
from batsched_py.model.settings import Settings
from batsched_py.protocol.stopping import check_stop
from batsched_py.session.decision_log import PassOn
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import DEFAULTS
from batsched_py.simulator.wire.scheduler_link import AnyExchange, DirectExchange, Exchange
from batsched_py.text.wording import seconds
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import Recorder

#: Maximum number of lines about waiting jobs in the error of a deadlock.
_MOST_WAITING: Final = 10


def _ignore(session: Session) -> None:
    """Do nothing."""


@contextmanager
def our_decider(
    choice: AlgorithmChoice,
    record: Path | None,
    follow: Callable[[Session], None] = _ignore,
    log: PassOn | None = None,
    *,
    settings: Settings = DEFAULTS,
) -> Iterator[AnyExchange]:
    """Yield the exchange of an algorithm's session, which is passed to `follow` before the first request.

    `log`, if given, receives its holds and promises. Messages are serialized only for a recording.

    The error of a deadlock includes the algorithm's reasons for waiting jobs.
    """
    session = choice.session(log, features=settings.features)
    follow(session)
    with recording(record, choice.header()) as recorder:
        try:
            if recorder is None:
                yield DirectExchange(session.answer, session.answer_unwritten)
            else:
                yield _recorded(session, recorder)
        except DeadlockError as error:
            raise DeadlockError(error.why, _waiting(session)) from error
        except RemoteProtocolError as error:  # both peers are in this process
            raise RefusedError(_dated(str(error), session.now)) from error


@contextmanager
def their_decider(address: str, connect_timeout: float, record: Path | None) -> Iterator[Exchange]:
    """Yield the exchange with the process that listens on `address` within `connect_timeout` s. TransportError."""
    transport = importlib.import_module("batsched_py.transport.zmq_req")  # few simulations need ZeroMQ
    with (
        transport.ReqSocket(address, connect_timeout=connect_timeout, limits=current_limits()) as socket,
        recording(record, Header()) as recorder,
    ):
        say(f"asking the decision process on {address}", err=True)

        def exchange(request: bytes) -> bytes:
            reply: bytes = socket.exchange(request)
            if recorder is not None:
                recorder.record(request, reply)
            check_stop(reply)
            return reply

        yield exchange


def _recorded(session: Session, recorder: Recorder) -> Exchange:
    """Record the answers of a session; after a failure, the refusal that Batsim would have received."""
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
    return text if "t=" in text else f"t={seconds(now)}: {text}"


def _waiting(session: Session) -> list[str]:
    lines = list(session.waiting())
    more = len(lines) - _MOST_WAITING
    return lines if more <= 0 else [*lines[:_MOST_WAITING], f"and {more} more"]
