"""The run of a session against the embedded simulator: its exchange, and the result with the algorithm's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from batsched_py.errors import BatschedError, DeadlockError, RefusedError, RemoteProtocolError
from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import AlgorithmLike, load_class
from batsched_py.results.records import Result
from batsched_py.runs.choice import Choice, make_session, settings_of
from batsched_py.runs.class_state import leaks_reported
from batsched_py.session.decision_log import PassOn
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.simulator.wire.scheduler_link import AnyExchange, DirectExchange, Exchange
from batsched_py.text.wording import seconds
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import Recorder, recording

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


def run_algorithm(
    machine: Platform,
    workloads: Sequence[Workload],
    algorithm: AlgorithmLike,
    choice: Choice,
    settings: Settings,
    *,
    trace: bool = False,
    warn: Callable[[str], None] | None = None,
    log: PassOn | None = None,
    record: Path | None = None,
) -> tuple[Result, Session]:
    """Simulate workloads with an algorithm, and return the complete result and the session that has ended.

    `choice` has the name of the algorithm, its options and its clock. The other arguments and the errors are those of
    `simulate`.
    """
    settings = settings_of(choice, settings)
    with leaks_reported(algorithm, warn):
        session = make_session(choice, load_class(algorithm), features=settings.features, warn=warn, log=log)
        simulation = Simulation(machine, workloads, settings, trace=trace, warn=warn)
        with recording(record, _header(choice, session)) as recorder, exchange_of(session, recorder) as exchange:
            result = simulation.run(exchange)
        return complete_result(result, simulation, session), session


def complete_result(result: Result, simulation: Simulation, session: Session, *, tables: bool = True) -> Result:
    """Add the algorithm's part to the result of a run that has ended: its tables, if wanted, and its approximations.

    AlgorithmError if the algorithm fails.
    """
    if session.scheduler.reads_waits:
        result = simulation.with_latency_note(result)
    return replace(result, tables=session.tables()) if tables else result


def _header(choice: Choice, session: Session) -> Header:
    """Return the header of a recording, with the given options as JSON values."""
    options = session.options
    return replace(choice, options={name: options[name] for name in session.explicit_options}).header()


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
