"""The run of a session against the embedded simulator: its exchange, and the result with the algorithm's tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec.structs import replace

from batsched_py.errors import BatschedError, DeadlockError, RefusedError, RemoteProtocolError
from batsched_py.results.records import Result
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.simulator.wire.scheduler_link import AnyExchange, DirectExchange, Exchange
from batsched_py.text.wording import seconds
from batsched_py.transcripts.recorder import Recorder

#: Maximum number of lines about waiting jobs in the error of a deadlock.
_MOST_WAITING: Final = 10


@contextmanager
def exchange_of(session: Session, recorder: Recorder | None = None) -> Iterator[AnyExchange]:
    """Yield the exchange of a session in this process; its messages are serialized only for a recording.

    The error of a deadlock includes the algorithm's reasons for waiting jobs.
    """
    try:
        if recorder is None:
            yield DirectExchange(session.answer, session.answer_unwritten)
        else:
            yield _recorded(session, recorder)
    except DeadlockError as error:
        raise DeadlockError(error.why, _waiting(session)) from error
    except RemoteProtocolError as error:  # both peers are in this process
        raise RefusedError(_dated(str(error), session.now)) from error


def complete_result(result: Result, simulation: Simulation, session: Session, *, tables: bool = True) -> Result:
    """Add the algorithm's part to the result of a run that has ended: its tables, if wanted, and its approximations.

    AlgorithmError if the algorithm fails.
    """
    if session.scheduler.reads_waits:
        result = simulation.with_latency_note(result)
    return replace(result, tables=session.tables()) if tables else result


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
