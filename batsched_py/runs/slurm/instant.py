"""The algorithm `slurm` of a recorded run at an instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from batsched_py.errors import TranscriptError
from batsched_py.runs.recorded_run import play_recording
from batsched_py.schedulers.slurm.scheduler import Slurm
from batsched_py.session.session import Session
from batsched_py.text.wording import seconds
from batsched_py.transcripts.decisions import request_time
from batsched_py.transcripts.transcript import Exchange


def scheduler_of(session: Session) -> Slurm:
    """Return the algorithm of a session that was made for `slurm`, once Batsim has sent its first message."""
    scheduler = session.scheduler
    assert isinstance(scheduler, Slurm)  # noqa: S101
    return scheduler


def scheduler_at(
    exchanges: Iterable[Exchange], session: Session, recording: str, at: float | None, *, timed: bool = True
) -> Slurm:
    """Answer the recorded requests up to an instant, and return the algorithm as it is then, with its controller.

    Args:
        exchanges: those of the recording.
        session: a new session of `slurm` with the recorded options.
        recording: the name of the recording, for errors.
        at: the instant, in seconds since the start of the simulation; all messages of it are answered. None is that of
            the last message.
        timed: False if the times of decisions were measured.

    TranscriptError as of `play_recording`, and if the instant is before or after the recording, or after its failure.
    """
    within = _Within(exchanges, inf if at is None else at)
    if at is not None and within.first is not None and at < within.first:
        raise _outside(recording, at, f"at or after t={seconds(within.first)}, where the recording begins")
    played = play_recording(within, session, recording, timed=timed)
    if played.failed:
        raise _outside(recording, session.now, f"before the failure of the run, {played.partial}")
    if at is not None and not within.is_beyond and at > session.now:
        raise _outside(recording, at, f"at or before t={seconds(session.now)}, where the recording ends")
    scheduler = scheduler_of(session)
    scheduler.controller.advance(session.now if at is None else at)
    return scheduler


class _Within:
    """The exchanges up to an instant."""

    def __init__(self, exchanges: Iterable[Exchange], until: float) -> None:
        self._rest, self._until = iter(exchanges), until
        #: The first ones, up to that of the first message, whose time is `first`; None without one.
        self._head: list[Exchange] = []
        self.first: float | None = None
        #: Is there a message after the instant?
        self.is_beyond = False
        for exchange in self._rest:
            self._head.append(exchange)
            self.first = request_time(exchange.request)
            if self.first is not None:
                break

    def __iter__(self) -> Iterator[Exchange]:
        yield from self._head
        for exchange in self._rest:
            now = request_time(exchange.request)
            if now is not None and now > self._until:
                self.is_beyond = True
                return
            yield exchange


def _outside(recording: str, at: float, rule: str) -> TranscriptError:
    return TranscriptError(recording, f"t={seconds(at)}", f"must be {rule}")
