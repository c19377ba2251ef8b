"""The analysis of one job's wait in steps: between two changes of the state, one reason holds.

The state of each step is known: the running jobs and their hosts, the hosts that cannot take jobs, and the algorithm's
last decision about each waiting job. The reason is the first one that applies:

1. the job has conditions on other jobs that are not fulfilled, or a fixed start in the future;
2. too few hosts are free: the jobs on the hosts that it got later block it;
3. the algorithm held it for its own reason, or because the free hosts did not suit it;
4. jobs with a promised start before its end leave too few of the free hosts;
5. a job before it in the queue waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from batsched_py.model.decision_row import DecisionRow
from batsched_py.reporting.waits.blockers import BlockerTimes, Counterfactual
from batsched_py.reporting.waits.explanation import Explanation, Interval, Overtaker
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.machine_state import MachineState
from batsched_py.reporting.waits.reasons import Reason
from batsched_py.reporting.waits.waiter import Waiter
from batsched_py.results.records import JobRecord

# Reasons are found afterwards, from the schedule and the rows of decisions, and not written by algorithms: so there is
# a reason for algorithms that say nothing and for runs of real Batsim, and each is checked against the schedule (ADR
# 32). A wait is swept from change to change; during each step `_machine`, `_held` and `_promised` are what held at its
# beginning. At one instant ends come first, then starts, then rows, because a decision follows what happened, and its
# rows describe the outcome.
#
# The rules are ordered by certainty: an instant of its own is a fact, a lack of hosts follows from the schedule, a hold
# is the algorithm's word, a promise is compared with the free hosts, and the queue is what remains. The last word of an
# algorithm is believed until its next row, so that one that stops holding a job without saying so is misunderstood as
# long as enough hosts are free.
#
# Jobs in the way are those that ran on the hosts that the job finally got: naming all running jobs would be true, and
# useless with hundreds of them. If jobs share hosts, free hosts do not show whether a job would fit, and a lack of
# hosts is not given as a reason.
#
# `delivery` exists for real Batsim, where a start follows its cause by some milliseconds: without it nearly each wait
# would end with a step that nothing explains.
#
# Cost for one wait: O(c log c) to sort its c changes, and for each step the jobs that run, wait or hold a promise then.

#: Reasons that follow from the free hosts, and from promises.
_LACKS: Final = (Reason.HOSTS_BUSY, Reason.HOSTS_UNAVAILABLE)
_PROMISES: Final = (Reason.PROMISE, Reason.RESERVATION)


class Walk:
    """The analysis of one job's wait, from its submission to its start or rejection.

    Attributes:
        delays: id of an overtaking job -> the first time at which enough hosts would have been free without it, while
            the job was the next one in the queue; missing if there is none.
        blockers: the jobs in the way.
    """

    def __init__(self, history: RunHistory, job: Waiter) -> None:
        self._job, self._machine = job, MachineState(history.hosts, history.schedule.hosts, known=history.hosts_known)
        self._shared, self._delivery = history.decisions.shared, history.delivery
        begin, end = job.since, job.until
        others = [one for one in history.waiting(begin, end) if one.id != job.id]
        running = history.running(begin, end)
        self._running = [record for record in running if record.job.id != job.id and record.start < record.finish]
        self._rows = history.rows([job, *others], end)
        #: Job id -> a job that waits at any time during this wait.
        self._others = {one.id: one for one in others}
        #: The jobs before it by submission, in order; of equal ones, the one that waited for less time is first.
        self._before = [one for one in others if (one.since, one.until, one.id) < (begin, end, job.id)]
        #: The time from which it is the next one by submission.
        self._next_from = max((one.until for one in self._before), default=begin)
        #: Job id -> its last row about a hold, and about a valid promise.
        self._held: dict[str, DecisionRow] = {}
        self._promised: dict[str, DecisionRow] = {}
        self.delays: dict[str, float] = {}
        self.blockers = BlockerTimes()
        #: The first of the steps with the fewest missing hosts, and the first step with enough free hosts.
        self._fewest: Counterfactual | None = None
        self._enough: Counterfactual | None = None

    def intervals(self) -> list[Interval]:
        """Return the wait, split at each change of the reason, the blocking jobs or the promise."""
        found: list[Interval] = []
        for begin, end in self._steps():
            reason, blocked_by = self._reason(begin, end)
            promise = self._promised.get(self._job.id)
            step = Interval(begin, end, reason, blocked_by, None if promise is None else promise.start)
            if found and found[-1][2:] == step[2:]:
                step = step._replace(begin=found.pop().begin)
            found.append(step)
            promises = self._starts_of(blocked_by) if reason in _PROMISES else {}
            self.blockers.add(blocked_by, reason, end - begin, promises)
            self._note_counterfactual(begin, reason, blocked_by)
            if reason is Reason.HOSTS_BUSY:
                self._note_delays(begin)
        return found

    @property
    def counterfactuals(self) -> tuple[Counterfactual, ...]:
        """The changes that would have let the job start sooner, in order of time."""
        found = [one for one in (self._fewest, self._enough) if one is not None]
        return tuple(sorted(found, key=lambda one: one.at))

    def _steps(self) -> Iterator[tuple[float, float]]:
        """Yield the intervals between two changes, after applying the changes at the begin of each."""
        begin, end = self._job.since, self._job.until
        changes: list[tuple[float, int, JobRecord | DecisionRow]] = [(row.time, 2, row) for row in self._rows]
        changes += [(record.finish, 0, record) for record in self._running if record.finish < end]
        changes += [(record.start, 1, record) for record in self._running]
        changes.sort(key=lambda change: change[:2])
        instants = sorted({begin, end, *(time for time, _, _ in changes if time > begin)})
        others = (time for one in self._others.values() for time in (one.since, one.until))
        instants = sorted({*instants, *(time for time in others if begin < time < end)})
        next_change = 0
        for instant, following in pairwise(instants):
            while next_change < len(changes) and changes[next_change][0] <= instant:
                self._change(changes[next_change][1], changes[next_change][2])
                next_change += 1
            yield instant, following

    def _change(self, rank: int, change: JobRecord | DecisionRow) -> None:
        if isinstance(change, JobRecord):
            (self._machine.begin if rank else self._machine.end)(change)
        elif change.kind == "down":
            self._machine.down = change.hosts.bits
        elif change.kind == "held":
            self._held[change.job] = change
        elif change.kind == "released":
            self._held.pop(change.job, None)
        elif change.kind == "promised":
            self._promised[change.job] = change
        elif change.kind == "withdrawn":
            self._promised.pop(change.job, None)

    def _reason(self, begin: float, end: float) -> tuple[Reason, tuple[str, ...]]:
        size, machine = self._job.record.job.size, self._machine
        held = self._held.get(self._job.id)
        kind = "" if held is None else held.reason
        if held is not None and kind == "condition":
            return Reason.CONDITION, held.jobs
        if kind == "instant":
            return Reason.OWN_START, ()
        if kind == "resource":
            return Reason.RESOURCE, self._in_the_way()
        free = machine.free()
        if free < size and not self._shared:
            short = Reason.HOSTS_BUSY if machine.idle() < size else Reason.HOSTS_UNAVAILABLE
            return short, self._in_the_way()
        if kind == "constraint":
            return Reason.CONSTRAINT, self._in_the_way()
        if kind == "own":
            return Reason.ALGORITHM, ()
        promised = self._promised_before(begin, free, kind)
        if promised:
            fixed = any(self._held[job].reason == "instant" for job in promised if job in self._held)
            return Reason.RESERVATION if fixed else Reason.PROMISE, promised
        if end >= self._job.until and end - begin <= self._delivery:
            return Reason.DELIVERY, ()
        first = self._first_in_queue(begin)
        return (Reason.UNKNOWN, ()) if first is None else (Reason.QUEUE, (first,))

    def _in_the_way(self) -> tuple[str, ...]:
        """Return the jobs that run on the hosts that the job got later; all running jobs if there is none."""
        running, hosts = self._machine.running, self._job.record.hosts.bits
        return tuple(job for job, record in running.items() if record.hosts.bits & hosts) or tuple(running)

    def _promised_before(self, now: float, free: int, kind: str) -> tuple[str, ...]:
        """Return the first jobs with promised starts before the end of this one that leave it too few free hosts."""
        end = now + self._job.record.job.limit
        waiting = [
            (row.start, job)
            for job, row in self._promised.items()
            if job != self._job.id and row.start is not None and row.start < end and self._waits(job, now)
        ]
        room, found = free, list[str]()
        for _, job in sorted(waiting):
            room -= self._others[job].record.job.size
            found.append(job)
            if room < self._job.record.job.size:
                return tuple(found)
        return tuple(found) if kind == "promise" else ()

    def _waits(self, job: str, now: float) -> bool:
        one = self._others.get(job)
        return one is not None and one.since <= now < one.until

    def _first_in_queue(self, now: float) -> str | None:
        """Return the queued job with the algorithm's latest hold, else the first one submitted before this job."""
        others = {job: row for job, row in self._held.items() if job != self._job.id and self._waits(job, now)}
        outside = {job for job, row in others.items() if row.reason == "condition"}
        looked_at = [(row.time, job) for job, row in others.items() if job not in outside]
        if looked_at:
            return max(looked_at)[1]
        return next((one.id for one in self._before if now < one.until and one.id not in outside), None)

    def _starts_of(self, jobs: Iterable[str]) -> dict[str, float]:
        """Return the promised starts of jobs."""
        rows = {job: self._promised[job].start for job in jobs}
        return {job: start for job, start in rows.items() if start is not None}

    def _note_counterfactual(self, now: float, reason: Reason, blocked_by: tuple[str, ...]) -> None:
        """Note a step if fewer hosts are missing than before, or if it is the first one with enough free hosts."""
        size = self._job.record.job.size
        if reason in _LACKS:
            missing = size - self._machine.free()
            if self._fewest is None or missing < self._fewest.hosts:
                self._fewest = Counterfactual(now, reason, missing, None, self._promised_before(now, size, ""))
        elif self._enough is None and reason in (*_PROMISES, Reason.QUEUE, Reason.CONSTRAINT, Reason.ALGORITHM):
            walltime = None
            if reason in _PROMISES:
                # the last of them is the one for which too few hosts would be left, unless the algorithm says so
                starts = self._starts_of(blocked_by)
                walltime = (max if self._delays(now) else min)(starts.values()) - now
            self._enough = Counterfactual(now, reason, 0, walltime, blocked_by)

    def _delays(self, now: float) -> bool:
        """Return True if promises leave the job too few of the free hosts."""
        return bool(self._promised_before(now, self._machine.free(), ""))

    def _note_delays(self, now: float) -> None:
        """Record the overtaking jobs without which enough hosts would be free now."""
        if now < self._next_from:
            return
        free, size, machine = self._machine.free(), self._job.record.job.size, self._machine
        for job, record in machine.running.items():
            overtook = record.job.submit_time > self._job.since and job not in self.delays
            if overtook and free + machine.usable(record) >= size:
                self.delays[job] = now


def explain(history: RunHistory, record: JobRecord) -> Explanation:
    """Return the explanation of a job's wait."""
    job = history.waiter(record)
    walk = Walk(history, job)
    intervals = walk.intervals() if job.until > job.since else []
    later = [
        other
        for other in history.running(job.since, job.until)
        if other.job.submit_time > job.since and other.job.id != job.id
    ]
    return Explanation(
        record=record,
        until=job.until,
        intervals=tuple(intervals),
        rows=tuple(row for row in history.rows_of_job(job.id) if row.time <= job.until),
        overtakers=tuple(Overtaker(other, walk.delays.get(other.job.id)) for other in later),
        blockers=walk.blockers.ordered(history.records),
        counterfactuals=walk.counterfactuals,
    )
