"""The player of cases: an algorithm with the simulator or a `LateBatsim`, checked after each message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from batsched_py.errors import ContractError, DeadlockError
from batsched_py.results.records import JobRecord
from batsched_py.scheduling.base import Scheduler
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.testing.case import Case
from batsched_py.testing.late_batsim import LATENESS, PROMPT, LateBatsim
from batsched_py.text.wording import counted
from batsched_py.transcripts.decisions import dialect_of_run, number_text, reply_lines, request_line, request_time

#: Maximum number of messages of a run, in total and for each job: a run with more counts as endless.
MESSAGES: Final = 2_000
MESSAGES_PER_JOB: Final = 200

#: Callback with the session, the request and the reply after each exchange.
Watch = Callable[[Session, bytes, bytes], None]


class Played(Struct, frozen=True):
    """The results of a run.

    Attributes:
        endings: records of the ended jobs, in Batsim's order.
        deadlock: reason of a deadlock; "" if the run ended normally.
        exchanges: (request, reply) of each message.
    """

    endings: tuple[JobRecord, ...]
    deadlock: str
    exchanges: tuple[tuple[bytes, bytes], ...]


def _look_away(session: Session, request: bytes, reply: bytes) -> None:
    """Do nothing: the default."""


class Player:
    """One run of an algorithm on a case, which keeps the messages, also for reports of errors.

    `watch` is called with the session after each exchange; `warn` with warnings of the algorithm and of the session.
    """

    def __init__(
        self,
        scheduler: type[Scheduler[Any]],
        options: Mapping[str, Any],
        case: Case,
        watch: Watch = _look_away,
        *,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        self._case, self._watch = case, watch
        settings = case.settings()
        self.session = Session(
            scheduler, options, warn=warn, features=settings.features, compute_sharing=settings.compute_sharing
        )
        self.exchanges: list[tuple[bytes, bytes]] = []
        self._most = MESSAGES + MESSAGES_PER_JOB * len(case.jobs)

    def run(self) -> Played:
        """Play the case to its end or to a deadlock. BatschedError if the algorithm breaks a rule of the protocol."""
        case, deadlock = self._case, ""
        peer: LateBatsim | Simulation
        try:
            if case.peer in ("torn", "late"):
                peer = LateBatsim(case, PROMPT if case.peer == "torn" else LATENESS)
                peer.run(self.answer)
            else:
                peer = Simulation(case.platform(), [case.workload()], case.settings())
                peer.run(self.answer, clock=lambda: 0.0)  # run times are not measured
        except DeadlockError as error:
            deadlock = str(error)
        return Played(tuple(peer.records), deadlock, tuple(self.exchanges))

    def answer(self, request: bytes) -> bytes:
        """Return the session's reply, after checking its state."""
        if len(self.exchanges) >= self._most:
            raise ContractError(
                f"the run does not end: {self._most} messages for {counted(len(self._case.jobs), 'job')}"
            )
        self.exchanges.append((request, b""))
        reply = self.session.answer(request)
        self.session.check()
        self.exchanges[-1] = request, reply
        self._watch(self.session, request, reply)
        return reply

    def last_lines(self, count: int) -> Sequence[str]:
        """Return the last exchanges as text."""
        if not self.exchanges:
            return ()
        dialect = dialect_of_run(self.exchanges[0][0])
        lines = []
        for request, reply in self.exchanges[-count:]:
            now = request_time(request) or 0.0
            answered = "; ".join(reply_lines(reply, dialect, None)) if reply else "(no answer)"
            lines.append(f"t={number_text(now)}: {request_line(request)} -> {answered or '(nothing)'}")
        return lines


def play(scheduler: type[Scheduler[Any]], options: Mapping[str, Any], case: Case, watch: Watch = _look_away) -> Played:
    """Play a case; `watch` is called with the session after each exchange."""
    return Player(scheduler, options, case, watch).run()
