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

from collections.abc import Iterator
from itertools import pairwise

from batsched_py.model.decision_row import DecisionRow
from batsched_py.reporting.waits.explanation import Explanation, Interval, Overtaker
from batsched_py.reporting.waits.history import RunHistory, Waiter
from batsched_py.reporting.waits.reasons import Reason
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


class MachineState:
    """The changing state of the hosts and the jobs on them."""

    def __init__(self, history: RunHistory) -> None:
        self._hosts, self._known, self._count = history.hosts, history.hosts_known, history.schedule.hosts
        #: Job id -> the job, in the order of starts.
        self.running: dict[str, JobRecord] = {}
        #: Bits of the hosts that cannot take jobs for another reason than work.
        self.down = 0
        self._busy = self._taken = 0
        #: True once two jobs have shared a host.
        self._shared = False

    def begin(self, record: JobRecord) -> None:
        """Start a job on its hosts."""
        hosts = record.hosts.bits
        self._shared = self._shared or bool(self._busy & hosts)
        self.running[record.job.id] = record
        self._busy |= hosts
        self._taken += record.size_on(self._count)

    def end(self, record: JobRecord) -> None:
        """End a job and free its hosts."""
        del self.running[record.job.id]
        self._taken -= record.size_on(self._count)
        if self._shared:
            self._busy = 0
            for other in self.running.values():
                self._busy |= other.hosts.bits
        else:
            self._busy ^= record.hosts.bits

    def idle(self) -> int:
        """Return the number of hosts without work."""
        return (self._hosts & ~self._busy).bit_count() if self._known else self._count - self._taken

    def free(self) -> int:
        """Return the number of hosts that can take a job."""
        return (self._hosts & ~self._busy & ~self.down).bit_count() if self._known else self.idle()

    def usable(self, record: JobRecord) -> int:
        """Return the number of a job's hosts that another job could use without it."""
        if not self._known:
            return record.size_on(self._count)
        return (record.hosts.bits & self._hosts & ~self.down).bit_count()


class Walk:
    """The analysis of one job's wait, from its submission to its start or rejection.

    Attributes:
        delays: id of an overtaking job -> the first time at which enough hosts would have been free without it, while
            the job was the next one in the queue; missing if there is none.
    """

    def __init__(self, history: RunHistory, job: Waiter) -> None:
        self._job, self._machine = job, MachineState(history)
        self._shared, self._delivery = history.decisions.shared, history.delivery
        begin, end = job.since, job.until
        others = [one for one in history.waiting(begin, end) if one.id != job.id]
        running = history.running(begin, end)
        self._running = [record for record in running if record.job.id != job.id and record.start < record.finish]
        self._rows = history.rows([job, *others], end)
        #: Job id -> a job that waits at any time during this wait.
        self._others = {one.id: one for one in others}
        #: The jobs submitted before it, ordered by submission.
        self._before = [one for one in others if one.since < begin]
        #: The time from which it is the next one by submission.
        self._next_from = max((one.until for one in self._before), default=begin)
        #: Job id -> its last row about a hold, and about a valid promise.
        self._held: dict[str, DecisionRow] = {}
        self._promised: dict[str, DecisionRow] = {}
        self.delays: dict[str, float] = {}

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
            if reason is Reason.HOSTS_BUSY:
                self._note_delays(begin)
        return found

    def _steps(self) -> Iterator[tuple[float, float]]:
        """Yield the intervals between two changes, after applying the changes at the begin of each."""
        begin, end = self._job.since, self._job.until
        changes: list[tuple[float, int, JobRecord | DecisionRow]] = [(row.time, 2, row) for row in self._rows]
        changes += [(record.finish, 0, record) for record in self._running if record.finish < end]
        changes += [(record.start, 1, record) for record in self._running]
        changes.sort(key=lambda change: change[:2])
        instants = sorted({begin, end, *(time for time, _, _ in changes if time > begin)})
        instants = sorted({*instants, *(one.until for one in self._others.values() if begin < one.until < end)})
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
    )
