"""The analysis of all waits of a run in one pass over its changes.

The reasons are those of `walk`, which analyses one wait and also finds the jobs in the way. Here only the seconds by
reason are found, for all jobs together.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from itertools import groupby
from operator import itemgetter
from typing import Final, TypeAlias

from batsched_py.model.decision_row import DecisionRow
from batsched_py.reporting.waits.cohorts import Cohort, CohortKey, WaitingJob, microseconds
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.machine_state import MachineState
from batsched_py.reporting.waits.promised_starts import PromisedStart, PromisedStarts
from batsched_py.reporting.waits.reasons import Reason
from batsched_py.reporting.waits.waiting_by_reason import JobCauses
from batsched_py.results.records import JobRecord

# A walk for each job would take the square of the queue: with a thousand waiting jobs, each change of the machine is a
# step of a thousand walks. But the reason for most of them follows from a few numbers. A lack of hosts depends on the
# size only, a hold on its kind, and whether promises are in the way on the size and the walltime. Jobs with the same
# size and kind of hold form a cohort, which counts its time by reason once; a job notes what the cohort had counted
# when it joined, and takes the difference when it leaves. So a change costs as much as there are different sizes among
# the jobs for which enough hosts are free, and a job as much as its own changes.
#
# Members of a cohort differ in two cases, which are `_exceptions`: promises are in the way of those with long walltimes
# only, and the first job of the queue has none before it. The time of these is corrected job by job.
#
# At one instant jobs leave the queue first, then jobs end, then jobs start, then rows of decisions count, then jobs
# arrive, as in a walk.

#: The rank of each kind of change at one instant.
_LEAVE, _END, _START, _ROW, _ARRIVE = range(5)
#: Kinds of holds that apply however many hosts are free.
_FACTS: Final[Mapping[str, Reason]] = {
    "condition": Reason.CONDITION,
    "instant": Reason.OWN_START,
    "resource": Reason.RESOURCE,
}
#: Kinds of holds that apply if enough hosts are free.
_HOLDS: Final[Mapping[str, Reason]] = {"constraint": Reason.CONSTRAINT, "own": Reason.ALGORITHM}
_NUMBERS: Final = str.maketrans("", "", "0123456789.")


#: A change: its time, its rank, and the job, its record or the row; a plain tuple, as there are millions.
_Change: TypeAlias = tuple[float, int, JobRecord | DecisionRow | WaitingJob]


class StatedWords:
    """Words of the algorithm when first used, and microseconds and host microseconds of waiting because of them."""

    __slots__ = ("host_time", "text", "time")

    def __init__(self, text: str) -> None:
        self.text, self.time, self.host_time = text, 0, 0


class RunSweep:
    """The state of a run at an instant, and the jobs that wait then.

    Attributes:
        words: words of the algorithm without numbers -> their first text, and the waiting because of them.
    """

    def __init__(self, history: RunHistory) -> None:
        self._history = history
        self._machine = MachineState(history.hosts, history.schedule.hosts, known=history.hosts_known)
        self._shared, self._delivery = history.decisions.shared, history.delivery
        self._now, self._now_us = -math.inf, 0
        self._free, self._idle = self._machine.free(), self._machine.idle()
        #: Job id -> a job that waits; its last row about a hold, and its valid promise, if it has one.
        self._waiting: dict[str, WaitingJob] = {}
        self._held: dict[str, DecisionRow] = {}
        self._promised: dict[str, float] = {}
        #: The promises of jobs that wait, and the number of those with a fixed start.
        self._starts = PromisedStarts()
        self._entries: dict[str, PromisedStart] = {}
        self._fixed = 0
        #: The number of waiting jobs that are held, unless for conditions.
        self._looked_at = 0
        #: Jobs that wait, by submission; those that have left or have conditions are dropped when they are first.
        self._queue: list[tuple[tuple[float, float, str], str]] = []
        self._cohorts: dict[CohortKey, Cohort] = {}
        #: Cohorts whose reason depends on the machine, by size; and those that are new since the last instant.
        self._by_size: list[tuple[int, CohortKey]] = []
        self._fresh: list[Cohort] = []
        #: Job id -> the reason since the last instant, if it is another one than that of its cohort.
        self._exceptions: dict[str, Reason] = {}
        self.words: dict[str, StatedWords] = {}

    def causes(self) -> Iterator[JobCauses]:
        """Yield the jobs that waited, in order of the ends of their waits."""
        for time, changes in groupby(self._changes(), key=itemgetter(0)):
            yield from self._advance(time, changes)

    def _changes(self) -> list[_Change]:
        history = self._history
        found: list[_Change] = []
        for waiter in history.waiters():
            if waiter.until > waiter.since:
                job = WaitingJob(waiter)
                found += [(waiter.since, _ARRIVE, job), (waiter.until, _LEAVE, job)]
        for record in history.ran:
            if record.start < record.finish:
                found += [(record.start, _START, record), (record.finish, _END, record)]
        found += [(row.time, _ROW, row) for rows in history.decisions.of_jobs.values() for row in rows]
        found += [(row.time, _ROW, row) for row in history.decisions.down]
        found.sort(key=itemgetter(0, 1))
        return found

    def _advance(self, time: float, changes: Iterable[_Change]) -> Iterator[JobCauses]:
        """Apply the changes of one instant, and find the reasons from then on."""
        before, now = self._now_us, microseconds(time)
        step = time - self._now
        self._now, self._now_us = time, now
        exceptions, self._exceptions = self._exceptions, {}
        for job_id, reason in exceptions.items():
            job = self._waiting[job_id]
            if job.cohort is not None and job.cohort.state is not None and now > before:
                job.add(job.cohort.state, before - now)
                job.add(reason, now - before)
        machine_changed = False
        for _, rank, what in changes:
            if isinstance(what, WaitingJob):
                if rank == _ARRIVE:
                    self._arrive(what)
                else:
                    yield self._left(what, exceptions, now - before if step <= self._delivery else 0)
            elif isinstance(what, JobRecord):
                machine_changed = True
                (self._machine.begin if rank == _START else self._machine.end)(what)
            elif what.kind == "down":
                machine_changed = True
                self._machine.down = what.hosts.bits
            else:
                self._note(what)
        self._find_reasons(changed=machine_changed)

    def _arrive(self, job: WaitingJob) -> None:
        self._waiting[job.id] = job
        self._join(job)
        self._note_terms(job, 1)
        if self._kind(job.id) != "condition":
            heappush(self._queue, (job.order, job.id))

    def _left(self, job: WaitingJob, exceptions: Mapping[str, Reason], last: int) -> JobCauses:
        """Remove a job from the queue; its `last` microseconds were those of the delivery of a decision."""
        cohort = job.cohort
        if cohort is not None:
            reason = exceptions.get(job.id, cohort.state)
            self._take_out(job, cohort)
            if last and reason in (Reason.QUEUE, Reason.UNKNOWN):
                job.add(reason, -last)
                job.add(Reason.DELIVERY, last)
        self._note_terms(job, -1)
        del self._waiting[job.id]
        return JobCauses(job.waiter, {reason: time for reason, time in job.causes.items() if time})

    def _note(self, row: DecisionRow) -> None:
        """Apply a row about a job."""
        if row.kind not in ("held", "released", "promised", "withdrawn"):
            return
        job = self._waiting.get(row.job)
        if job is not None:
            self._note_terms(job, -1)
        outside = self._kind(row.job) == "condition"
        if row.kind == "held":
            self._held[row.job] = row
        elif row.kind == "released":
            self._held.pop(row.job, None)
        elif row.kind == "promised" and row.start is not None:
            self._promised[row.job] = row.start
        else:
            self._promised.pop(row.job, None)
        if job is not None:
            self._note_terms(job, 1)
            if outside and self._kind(row.job) != "condition":
                heappush(self._queue, (job.order, job.id))
            if job.cohort is None or job.cohort.key != self._key(job):
                self._move(job)

    def _note_terms(self, job: WaitingJob, count: int) -> None:
        """Count the hold and the promise of a waiting job, or discount them with `count` -1."""
        held = self._held.get(job.id)
        if held is not None and held.reason != "condition":
            self._looked_at += count
        start = self._promised.get(job.id)
        if start is None:
            return
        if held is not None and held.reason == "instant":
            self._fixed += count
        promise = PromisedStart(start, job.id, job.size)
        (self._starts.add if count > 0 else self._starts.remove)(promise)

    def _kind(self, job_id: str) -> str:
        held = self._held.get(job_id)
        return "" if held is None else held.reason

    def _key(self, job: WaitingJob) -> CohortKey:
        held = self._held.get(job.id)
        kind = "" if held is None or held.reason == "hosts" else held.reason
        words = ""
        if held is not None and kind == "own":
            words = held.words.translate(_NUMBERS)
            self.words.setdefault(words, StatedWords(held.words))
        return CohortKey(job.size, kind, words, job.id in self._promised)

    def _join(self, job: WaitingJob) -> None:
        key = self._key(job)
        cohort = self._cohorts.get(key)
        if cohort is None:
            cohort = self._cohorts[key] = Cohort(key, _FACTS.get(key.kind), self._now_us)
            if key.kind not in _FACTS:
                insort(self._by_size, (key.size, key))
                self._fresh.append(cohort)
        cohort.join(job, self._now_us)

    def _move(self, job: WaitingJob) -> None:
        """Move a job to the cohort of its hold and promise."""
        cohort = job.cohort
        if cohort is not None:
            self._take_out(job, cohort)
        self._join(job)

    def _take_out(self, job: WaitingJob, cohort: Cohort) -> None:
        """Remove a job from its cohort, and a cohort without jobs."""
        before = job.causes.get(Reason.ALGORITHM, 0)
        cohort.leave(job, self._now_us)
        if cohort.key.kind == "own":
            self._note_words(job, cohort.key.words, job.causes.get(Reason.ALGORITHM, 0) - before)
        if not cohort.members:
            del self._cohorts[cohort.key]
            if cohort.key.kind not in _FACTS:
                self._by_size.remove((cohort.key.size, cohort.key))

    def _note_words(self, job: WaitingJob, words: str, time: int) -> None:
        found = self.words[words]
        found.time += time
        found.host_time += time * job.size

    def _find_reasons(self, *, changed: bool) -> None:
        """Find the reason of each cohort from now on, and the exceptions."""
        before = (self._free, self._idle)
        if changed:
            self._free, self._idle = self._machine.free(), self._machine.idle()
        most = math.inf if self._shared else max(self._free, self._idle, *before)
        for _, key in self._by_size[: bisect_right(self._by_size, most, key=itemgetter(0))]:
            self._find_reason(self._cohorts[key])
        for cohort in self._fresh:
            if cohort.state is None and cohort.members:
                self._find_reason(cohort)
        self._fresh.clear()
        self._find_first()

    def _find_reason(self, cohort: Cohort) -> None:
        size, kind = cohort.key.size, cohort.key.kind
        if self._free < size and not self._shared:
            state = Reason.HOSTS_BUSY if self._idle < size else Reason.HOSTS_UNAVAILABLE
        elif kind in _HOLDS:
            state = _HOLDS[kind]
        elif not self._starts or self._none_delays(cohort):
            state = Reason.QUEUE
        elif not self._fixed and self._all_delay(cohort):
            state = Reason.PROMISE
        else:
            state = Reason.QUEUE
            for job in cohort.members.values():
                reason = self._promise_before(job, kind)
                if reason is not None:
                    self._exceptions[job.id] = reason
        cohort.enter(state, self._now_us)

    def _none_delays(self, cohort: Cohort) -> bool:
        """Return True if certainly no member would delay jobs with promises, if it started now."""
        end = self._now + cohort.limits[-1][0]
        if cohort.key.kind == "promise":
            return not self._starts.count_before(end)
        return self._starts.hosts_before(end) <= self._free - cohort.key.size

    def _all_delay(self, cohort: Cohort) -> bool:
        """Return True if certainly each member would delay jobs with promises; its own promise does not count."""
        end, own = self._now + cohort.limits[0][0], cohort.key.promised
        if cohort.key.kind == "promise" or self._free < cohort.key.size:  # if jobs share hosts
            return self._starts.count_before(end) > own
        room = self._free if own else self._free - cohort.key.size
        return self._starts.hosts_before(end) > room

    def _promise_before(self, job: WaitingJob, kind: str) -> Reason | None:
        """Return whether promises or reservations are in the way of a job; None if none is."""
        room, reason = self._free, Reason.PROMISE
        any_before = False
        for other in self._starts.before(self._now + job.limit, job.id):
            any_before = True
            room -= other.size
            if self._kind(other.job) == "instant":
                reason = Reason.RESERVATION
            if room < job.size:
                return reason
        return reason if kind == "promise" and any_before else None

    def _find_first(self) -> None:
        """Note the exception of the first job by submission, if none is before it and no other one is held."""
        queue = self._queue
        while queue and (queue[0][1] not in self._waiting or self._kind(queue[0][1]) == "condition"):
            heappop(queue)
        if not queue:
            return
        job = self._waiting[queue[0][1]]
        own = job.id in self._held
        if job.cohort is None or self._looked_at > own:
            return
        if job.cohort.state is Reason.QUEUE and job.id not in self._exceptions:
            self._exceptions[job.id] = Reason.UNKNOWN
