"""The decision log: changes of holds and promises, one row each.

Starts and ends are in the jobs file, so one row is enough for a hold for lack of free hosts: the schedule shows how
many hosts were free later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from batsched_py.bits import size_of
from batsched_py.hostset import HostSet
from batsched_py.model.decision_row import Cause, DecisionRow, HoldKind
from batsched_py.model.job import Job
from batsched_py.planning.future.promises import Claim, RoomSlot, Shadow, Slot
from batsched_py.protocol.events import (
    MACHINE_AVAILABLE,
    MACHINE_UNAVAILABLE,
    Event,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    Notify,
    ResourceStateChanged,
)
from batsched_py.scheduling.arguments import Text, id_text, no_job
from batsched_py.scheduling.holds import Hold
from batsched_py.scheduling.plan import Plan
from batsched_py.state.state import State

# A row is written for each change of what an algorithm says, not for each time that it says it: `filler` and
# conservative backfilling hold the whole queue at each decision. KTH-SP2 with `easy` has 6 327 rows for 28 481 jobs,
# for 2 to 5 % of the CPU time (ADR 32, docs/explain.md).
#
# The verbs of the plan only note ids (`LoggedPlan.changed`); rows are made after the decision, so that a promise that
# is withdrawn and made again at the same start leaves none. Without a log the plain Plan is used, and its verbs contain
# no test for it. Between two messages `_held` and `_promised` are what the last rows say, for all jobs that wait; jobs
# that have left are dropped some at a time, when the tables have doubled.
#
# Whether hosts were lacking is not taken from the algorithm: the size of the job is compared with what is free after
# the decision.

#: A callback for batches of rows.
PassOn: TypeAlias = Callable[[Sequence[DecisionRow]], object]
#: Number of rows of a batch.
BATCH: Final = 512
#: Maximum number of jobs that a row names: the cause of a moved promise, or those for which a job is held.
MOST_NAMED: Final = 8
#: Number of jobs whose last rows are remembered even if they no longer wait.
_ROOM: Final = 1024
#: The cause of the first promise of a job.
_FIRST: Final[tuple[Cause, tuple[str, ...]]] = ("first", ())
#: Kinds of holds that apply however many hosts are free.
_FACTS: Final = ("instant", "condition")
#: Reasons that differ in numbers only are equal: free hosts and watts change with each decision.
_NUMBERS: Final = str.maketrans("", "", "0123456789.")


class LoggedPlan(Plan):
    """A Plan that remembers the jobs with holds, promises or rejections, until the log has read them."""

    __slots__ = ("changed", "refused")

    def __init__(self, state: State, warn_user: Callable[[str], None] | None = None) -> None:
        super().__init__(state, warn_user)
        #: Ids of these jobs, in the order in which they were first named.
        self.changed: dict[str, None] = {}
        #: Those of them that were rejected.
        self.refused: dict[str, Job] = {}

    def hold(self, job: Job, why: str, kind: HoldKind = "own") -> None:
        """Record why a job waits; a repeated lack of hosts is not a change."""
        try:
            before = self.holds.get(job.id)
        except AttributeError:
            raise no_job("hold", job) from None
        super().hold(job, why, kind)
        if kind != "hosts" or before is None or before.kind != "hosts":
            self.changed[job.id] = None

    def release(self, job: Job) -> None:
        """Forget why a job was held."""
        super().release(job)
        self.changed[job.id] = None

    def promise(self, job: Job, slot: Slot | Claim | Shadow | RoomSlot) -> None:
        """Record the latest start of a job; the same start again is not a change."""
        try:
            job_id, promises = job.id, self.promises
        except AttributeError:
            raise no_job("promise", job) from None
        before = promises.get(job_id)
        promises[job_id] = slot  # like Plan, without a second call for each promise
        if before is None or before.start != slot.start:
            self.changed[job_id] = None

    def withdraw_promise(self, job_id: Text) -> None:
        """Withdraw a promise."""
        super().withdraw_promise(job_id)
        self.changed[id_text("withdraw promise", job_id)] = None

    def reject(self, job: Job, why: str) -> None:
        """Refuse a waiting job."""
        super().reject(job, why)
        self.changed[job.id] = None
        self.refused[job.id] = job


class DecisionLog:
    """The rows of one run, passed on in batches to bound their memory."""

    def __init__(self, state: State, warn_user: Callable[[str], None] | None, pass_on: PassOn) -> None:
        #: The plan of the run.
        self.plan: Final = LoggedPlan(state, warn_user)
        self._state, self._pass_on = state, pass_on
        #: Rows that have not been passed on yet.
        self._rows: list[DecisionRow] = []
        #: Bits of the hosts that accepted no job after the last row about them; None before the first row.
        self._down: int | None = None
        #: Bits of the hosts that were unavailable after the last row about them.
        self._unavailable = 0
        #: Job id -> the hold in its last row, without numbers.
        self._held: dict[str, str] = {}
        #: Job id -> the start in its last row.
        self._promised: dict[str, float] = {}
        #: The number of remembered jobs at which those that have left the queue are forgotten.
        self._room = _ROOM

    def note(self, events: Sequence[Event], *, last: bool = False) -> None:
        """Add rows for the changes by the decision on these events; after the last decision, pass on all rows."""
        hosts = self._state.hosts
        if hosts.down != self._down or hosts.unavailable != self._unavailable:
            self._note_hosts()
        changed = self.plan.changed
        if changed:
            self._note_jobs(changed, events)
            changed.clear()
            self.plan.refused.clear()
        if last:
            self._note_unfinished()
        if last or len(self._rows) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        self._pass_on(self._rows)
        self._rows = []
        if len(self._held) + len(self._promised) > self._room:
            queue, held = self._state.queue, self._state.held
            self._held = {job: reason for job, reason in self._held.items() if job in queue or job in held}
            self._promised = {job_id: start for job_id, start in self._promised.items() if job_id in queue}
            self._room = max(_ROOM, 2 * (len(self._held) + len(self._promised)))

    def _note_unfinished(self) -> None:
        """Add rows for the jobs that run or wait when the run ends: the jobs file has only jobs that have ended."""
        now = self._state.now
        for run in self._state.running.values():
            self._rows.append(
                _with_terms(DecisionRow(now, "unfinished", run.job.id, run.start, hosts=run.hosts), run.job)
            )
        for job in [*self._state.queue, *self._state.held.jobs.values()]:
            self._rows.append(_with_terms(DecisionRow(now, "unfinished", job.id), job))

    def _note_hosts(self) -> None:
        state = self._state
        if self._down is None:
            shared = "shared" if state.compute_sharing else ""
            self._rows.append(DecisionRow(state.now, "hosts", reason=shared, hosts=HostSet(state.hosts.all)))
            self._down = 0
        if state.hosts.down != self._down:
            self._down = state.hosts.down
            self._rows.append(DecisionRow(state.now, "down", hosts=HostSet(self._down)))
        if state.hosts.unavailable != self._unavailable:
            self._unavailable = state.hosts.unavailable
            self._rows.append(DecisionRow(state.now, "unavailable", hosts=HostSet(self._unavailable)))

    def _note_jobs(self, changed: Iterable[str], events: Sequence[Event]) -> None:
        rows, promised, held, now = self._rows, self._promised, self._held, self._state.now
        promises, holds = self.plan.promises, self.plan.holds
        # free after the decision and until the next one
        free = math.inf if self._state.compute_sharing else size_of(self._state.hosts.free)
        happened: _Happened | None = None
        for job_id in changed:
            hold, promise = holds.get(job_id), promises.get(job_id)
            if hold is None and promise is None and job_id not in self._state.queue:  # it was rejected or has started
                self._note_rejection(job_id)
                continue
            start = None if promise is None or promise.start == math.inf else promise.start
            before = promised.get(job_id)
            if start != before:
                happened = happened or _what_happened(events)
                if start is None:
                    cause, jobs = happened.later
                    rows.append(DecisionRow(now, "withdrawn", job_id, None, cause, jobs))
                    del promised[job_id]
                else:
                    cause, jobs = _FIRST if before is None else happened.later if start > before else happened.sooner
                    rows.append(DecisionRow(now, "promised", job_id, start, cause, jobs))
                    promised[job_id] = start
            if hold is None:
                self._note_release(job_id)
            elif not (hold.kind == held.get(job_id) == "hosts"):
                self._note_hold(job_id, hold, free)

    def _note_rejection(self, job_id: str) -> None:
        """Add a row for a rejected job, unless it was started after all."""
        job = self.plan.refused.get(job_id)
        if job is not None:
            words = self.plan.rejections[job_id]
            self._rows.append(_with_terms(DecisionRow(self._state.now, "rejected", job_id, words=words), job))

    def _note_release(self, job_id: str) -> None:
        """Add a row if the job was held for its conditions until now."""
        if self._held.get(job_id, "").startswith("condition"):
            del self._held[job_id]
            self._rows.append(DecisionRow(self._state.now, "released", job_id))

    def _note_hold(self, job_id: str, hold: Hold, free: float) -> None:
        kind = hold.kind
        if kind == "constraint" and hold.job.demand is not None:
            kind = "resource"
        elif hold.job.size > free and kind not in _FACTS:
            kind = "hosts"
        if kind == "condition":  # its numbers are names of jobs
            reason = f"{kind} {hold.reason}"
        else:
            reason = kind if kind == "hosts" else f"{kind} {hold.reason.translate(_NUMBERS)}"
        if reason != self._held.get(job_id):
            self._held[job_id] = reason
            held, others = self._state.held, tuple[str, ...]()
            if kind == "condition" and job_id in held:
                others = tuple(islice(held.waits_for(job_id), MOST_NAMED))
            self._rows.append(DecisionRow(self._state.now, "held", job_id, None, kind, others, words=hold.reason))


def _with_terms(row: DecisionRow, job: Job) -> DecisionRow:
    """Return the row with the request of the job: the jobs file may have no row for it."""
    return replace(row, submitted=job.submit_time, size=job.size, walltime=job.walltime)


class _Happened(NamedTuple):
    """The events of a message, with ids of jobs, that may move promises to later or earlier times."""

    later: tuple[Cause, tuple[str, ...]]
    sooner: tuple[Cause, tuple[str, ...]]


def _what_happened(events: Iterable[Event]) -> _Happened:
    ended: dict[str, None] = {}
    arrived: list[str] = []
    failed = returned = False
    for event in events:
        if isinstance(event, JobCompleted):
            ended[event.job_id] = None
        elif isinstance(event, JobKilled):
            ended |= dict.fromkeys(event.killed_ids)
        elif isinstance(event, JobSubmitted):
            arrived.append(event.job_id)
        elif isinstance(event, ResourceStateChanged):
            returned = True
        elif isinstance(event, Notify):
            failed = failed or event.kind == MACHINE_UNAVAILABLE
            returned = returned or event.kind == MACHINE_AVAILABLE
    ends: tuple[Cause, tuple[str, ...]] = ("ends", tuple(islice(ended, MOST_NAMED))) if ended else ("other", ())
    later: tuple[Cause, tuple[str, ...]] = ("arrivals", tuple(arrived[:MOST_NAMED])) if arrived else ends
    return _Happened(("failure", ()) if failed else later, ("return", ()) if returned and not ended else ends)
