"""Two plays of a site from its beginning over now to a horizon: without and with a change."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final, cast

from msgspec.structs import replace

from batsched_py.errors import BatschedError, OptionError
from batsched_py.hostset import HostSet
from batsched_py.leases.lifecycle import FINAL
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.workload import Workload
from batsched_py.protocol.events import FINAL_STATES
from batsched_py.results.lease_rows import LeaseRow
from batsched_py.runs.choice import make_session, settings_of
from batsched_py.session.handover import hand_over
from batsched_py.session.requests import SUBMIT_JOB
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.simulator.time.live_loop import LiveBatch
from batsched_py.site.batches import batches_of
from batsched_py.site.job_ids import job_id
from batsched_py.site.journal import JournalEntry, requests_until
from batsched_py.site.what_if.continuation import Continuation, HorizonReachedError
from batsched_py.site.what_if.future import LeaseFuture, LeaseOutcome, PlayedAhead, PlayFailure
from batsched_py.site.what_if.past import RecordedPast
from batsched_py.site.what_if.task import WhatIfTask
from batsched_py.text.display import displayed_line

# The state of a site is what its requests have made of it, in books of an algorithm, of leases and of the simulation
# that cannot be copied or described. So both plays begin at second 0 and repeat the requests, as the site itself does
# when it starts; there they are as the site is now (ADR 47). Without a change the play goes on as the site will, if
# nothing else is requested: that is what the change is compared with, and both have come about in the same way.
#
# The past must be that of the site, also if a file of an algorithm has changed since: each exchange is compared with
# the transcript as far as it is written. Nothing is written here.

#: The type of an event without a meaning: its message lets another algorithm decide now.
_NOTHING: Final = "what_if"
#: The largest number of messages after now: without a limit, calls at short intervals could fill the time.
MOST_MESSAGES: Final = 1_000_000
#: Labels of the final states of leases.
_FINAL: Final = frozenset(state.label for state in FINAL)


def play_ahead(task: WhatIfTask) -> PlayedAhead | PlayFailure:
    """Play a site ahead without and with a change."""
    plan = task.plan
    try:
        past = list(requests_until(task.setup.journal, plan.requests))
        kept = changed = Play(task, past, changes=False)
        kept.run()
    except BatschedError as error:
        return PlayFailure(refused=False, text=displayed_line(str(error)))
    if plan.change.changes:
        try:
            changed = Play(task, past, changes=True)
            changed.run()
        except BatschedError as error:
            return PlayFailure(refused=True, text=displayed_line(str(error)))
    numbers = [entry.number for entry in past if entry.kind == SUBMIT_JOB and not kept.begun[entry.number].final]
    futures = [LeaseFuture(one, kept.begun[one], kept.outcome(one), changed.outcome(one)) for one in numbers]
    added = next((entry.number for entry in plan.change.requests if entry.kind == SUBMIT_JOB), None)
    return PlayedAhead(futures, None if added is None else changed.outcome(added))


class Play:
    """One play; `changes` with the change.

    Attributes:
        begun: number of a lease or job -> how it is now, once the play has come there.
    """

    def __init__(self, task: WhatIfTask, past: Sequence[JournalEntry], *, changes: bool) -> None:
        self._plan, self._changes = task.plan, changes
        plan, setup = task.plan, task.setup
        choice = replace(setup.choice, requests=True)
        self._session: Session = make_session(choice, setup.scheduler)
        continuation = Continuation(batches_of(past), plan.now, plan.until, self._turn)
        workload, settings = Workload("site", 0, (), {}), settings_of(choice, setup.settings)
        self._simulation = Simulation(setup.platform, [workload], settings, live=continuation)
        self._numbers = [entry.number for entry in past if entry.kind == SUBMIT_JOB]
        self.begun: dict[int, LeaseOutcome] = {}
        self._ended: dict[int, LeaseOutcome] = {}
        #: Messages that may follow; None as long as the play has not come to now.
        self._left: int | None = None
        self._past = RecordedPast(setup.transcript)

    def run(self) -> None:
        """Play to the horizon. BatschedError."""
        with self._past, suppress(HorizonReachedError):
            self._simulation.run(self._exchange)
        requested = [entry.number for entry in self._plan.change.requests if entry.kind == SUBMIT_JOB]
        self._ended = self._outcomes([*self._numbers, *requested])

    def outcome(self, number: int) -> LeaseOutcome:
        """Return how a lease or job was at the horizon."""
        return self._ended[number]

    def _exchange(self, request: bytes) -> bytes:
        reply = self._session.answer(request)
        if self._left is None:
            self._past.check(request, reply)
            return reply
        self._left -= 1
        if self._left < 0:
            raise OptionError(f"more than {MOST_MESSAGES} messages are needed: choose a shorter horizon")
        return reply

    def _turn(self) -> Sequence[LiveBatch]:
        """Begin the future: return the requests of the change."""
        now, change = self._plan.now, self._plan.change
        self.begun = self._outcomes(self._numbers)
        self._left = MOST_MESSAGES
        if not self._changes:
            return ()
        if change.hands_over:
            hand_over(self._session, change.algorithm or type(self._session.scheduler), change.options)
        if change.requests:
            return batches_of(change.requests)
        return [LiveBatch(now, (ExternalEvent(now, _NOTHING, HostSet(), {"type": _NOTHING}),))]

    def _outcomes(self, numbers: Sequence[int]) -> dict[int, LeaseOutcome]:
        session, view = self._session, self._session.view
        tables = {table.name: table for table in session.live_tables()}
        rows = {
            row.lease: row
            for name in ("ended_leases", "leases")
            if name in tables
            for row in cast(Sequence[LeaseRow], tables[name].rows)
        }
        records = {record.job.id: record for record in self._simulation.records}
        running = {run.job.id: run for run in view.running}
        found = dict[int, LeaseOutcome]()
        for number in numbers:
            row, name = rows.get(number), job_id(number)
            why = session.rejections.get(name, "")
            if row is not None:
                found[number] = LeaseOutcome(row.state, row.state in _FINAL, row.start_time, row.end_time, why)
            elif (record := records.get(name)) is not None:
                start, end = (record.start, record.finish) if record.hosts else (None, None)
                found[number] = LeaseOutcome(record.state, record.state in FINAL_STATES, start, end, why)
            elif (run := running.get(name)) is not None:
                found[number] = LeaseOutcome("running", False, run.start)
            else:
                found[number] = LeaseOutcome("waiting", False)
        return found
