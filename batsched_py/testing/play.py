"""Playing a case: an algorithm against the simulator or against a late Batsim, watched after each message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from batsched_py.errors import ContractError, DeadlockError
from batsched_py.scheduling.base import Scheduler
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.testing.case import Case
from batsched_py.testing.ending import Ending
from batsched_py.testing.late_batsim import LATENESS, PROMPT, LateBatsim
from batsched_py.transcripts.decisions import dialect_of_run, number_text, reply_lines, request_line, request_time
from batsched_py.wording import counted

#: A run of a case that takes more messages than this, and so many for each job, does not end.
MESSAGES: Final = 2_000
MESSAGES_PER_JOB: Final = 200

#: Sees the session after each exchange.
Watch = Callable[[Session, bytes, bytes], None]


class Played(Struct, frozen=True):
    """What a run left behind.

    Attributes:
        endings: of the jobs, in Batsim's order.
        standstill: why the run could not go on; "" if it came to its end.
        exchanges: (request, reply) of each message.
    """

    endings: tuple[Ending, ...]
    standstill: str
    exchanges: tuple[tuple[bytes, bytes], ...]


def _look_away(session: Session, request: bytes, reply: bytes) -> None:
    """For those who only want what is left behind."""


class Player:
    """One run of an algorithm through a case; keeps what was said, for the report of an error too.

    `watch` sees the session after each exchange; `warn` receives what the algorithm and the session warn of.
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
        self.session = Session(scheduler, options, warn=warn)
        self.exchanges: list[tuple[bytes, bytes]] = []
        self._most = MESSAGES + MESSAGES_PER_JOB * len(case.jobs)

    def run(self) -> Played:
        """Play it to its end or to a standstill. Whatever the algorithm breaks is raised: an error of ours."""
        endings, standstill = self._run_late() if self._case.peer in ("torn", "late") else self._run_simulated()
        return Played(tuple(endings), standstill, tuple(self.exchanges))

    def answer(self, request: bytes) -> bytes:
        """The session's reply; its books are checked."""
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
        """The last exchanges in words."""
        if not self.exchanges:
            return ()
        dialect = dialect_of_run(self.exchanges[0][0])
        lines = []
        for request, reply in self.exchanges[-count:]:
            now = request_time(request) or 0.0
            answered = "; ".join(reply_lines(reply, dialect, None)) if reply else "(no answer)"
            lines.append(f"t={number_text(now)}: {request_line(request)} -> {answered or '(nothing)'}")
        return lines

    def _run_simulated(self) -> tuple[Sequence[Ending], str]:
        case = self._case
        simulation = Simulation(case.platform(), [case.workload()], case.settings())
        standstill = ""
        try:
            simulation.run(self.answer, clock=_no_clock)
        except DeadlockError as error:
            standstill = str(error)
        return [
            Ending(record.job, record.state, record.start, record.finish, record.hosts) for record in simulation.records
        ], standstill

    def _run_late(self) -> tuple[Sequence[Ending], str]:
        batsim = LateBatsim(self._case, PROMPT if self._case.peer == "torn" else LATENESS)
        standstill = ""
        try:
            batsim.run(self.answer)
        except DeadlockError as error:
            standstill = str(error)
        return batsim.endings, standstill


def play(scheduler: type[Scheduler[Any]], options: Mapping[str, Any], case: Case, watch: Watch = _look_away) -> Played:
    """One run of the case; `watch` sees the session after each exchange."""
    return Player(scheduler, options, case, watch).run()


def _no_clock() -> float:
    """How long a run takes is of no interest."""
    return 0.0
