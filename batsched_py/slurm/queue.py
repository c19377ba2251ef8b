"""The queue of pending jobs: which of them may start, in the order in which passes test them.

Whether a job may start changes with a hold or release, at instants (begin, deadline) and with the states of jobs on
which it depends. A pass looks only at the jobs for which one of these has happened, so that its cost does not grow with
the jobs that wait for others; the order of tests is kept between passes.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from math import floor, inf

from batsched_py.slurm.configuration import SlurmPartition
from batsched_py.slurm.dependencies import MET, NEVER, depended_on, dependency_state
from batsched_py.slurm.jobs import PENDING, SlurmJob
from batsched_py.slurm.reservations import AdvanceReservation, AdvanceReservations


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A job in one of its partitions, and in a reservation that it enters."""

    job: SlurmJob
    partition: SlurmPartition
    reservation: AdvanceReservation | None

    def rank(self) -> tuple[float, ...]:
        """Return the key of the order in which candidates are tested."""
        job = self.job
        priority = job.priority_in(self.partition)
        return (self.reservation is None, -self.partition.tier, -priority, floor(job.submitted), job.sequence)


#: The place of a candidate without a reservation: tier, priority, second of submission, sequence, number of partition.
_Rank = tuple[int, int, int, int, int]
#: What becomes of a job that cannot start any more: the job, its state, and the instant.
_Stop = Callable[[SlurmJob, str, float], None]


class JobQueue:
    """The pending jobs of one cluster, in the order of submission; `stop` removes one that misses its deadline."""

    def __init__(self, *, stop: _Stop, kills_invalid: bool) -> None:
        self._stop, self._kills_invalid = stop, kills_invalid
        self.pending: list[SlurmJob] = []
        #: All jobs by id; the tasks of an array have one.
        self.jobs: dict[int, list[SlurmJob]] = {}
        #: Candidates without a reservation of jobs that may start, in the order of tests, and their places.
        self._open: list[Candidate] = []
        self._ranks: list[_Rank] = []
        #: Jobs that may start, with their candidates and places; and those of them that name a reservation.
        self._runnable: dict[SlurmJob, list[tuple[_Rank, Candidate]]] = {}
        self._reserving: dict[SlurmJob, None] = {}
        #: Jobs to check in the next pass; and those to check in each one.
        self._news: dict[SlurmJob, None] = {}
        self._always: dict[SlurmJob, None] = {}
        #: Instants at which jobs have to be checked again, with their sequence.
        self._instants: list[tuple[float, int, SlurmJob]] = []
        #: Id, or user and name, of jobs -> pending jobs that depend on them.
        self._dependents: dict[Hashable, dict[SlurmJob, None]] = {}

    def add(self, job: SlurmJob) -> None:
        """Add a new job, or one that pends again."""
        at = bisect_left(self.pending, job.sequence, key=_sequence)
        self.pending.insert(at, job)
        self._news[job] = None
        if job.request.dependency and job.is_dependency_open:
            for key in depended_on(job):
                self._dependents.setdefault(key, {})[job] = None

    def remove(self, job: SlurmJob) -> None:
        """Remove a job that starts or ends."""
        del self.pending[bisect_left(self.pending, job.sequence, key=_sequence)]
        self._news.pop(job, None)
        self._always.pop(job, None)
        self._close(job)
        if job.is_dependency_open:
            self._forget(job)

    def note_state(self, job: SlurmJob) -> None:
        """Note that the state of a job has changed: others may depend on it."""
        if self._dependents:
            for key in (job.id, (job.request.user, job.request.name)):
                self._news.update(self._dependents.get(key, ()))

    def note_changes(self) -> None:
        """Note that any job may have changed: its priority, limit, hold or dependency."""
        self._news.update(dict.fromkeys(self.pending))

    def reorder(self) -> bool:
        """Sort anew after a change of priorities; return whether the order is another one."""
        for job, entries in self._runnable.items():
            self._runnable[job] = _entries(job, [candidate for _, candidate in entries])
        before, every = self._open, [entry for entries in self._runnable.values() for entry in entries]
        every.sort(key=lambda entry: entry[0])
        self._ranks, self._open = [rank for rank, _ in every], [candidate for _, candidate in every]
        return any(a is not b for a, b in zip(before, self._open, strict=True))

    def next_instant(self) -> float:
        """Return the next instant at which other jobs may start, if nothing else happens; -infinite for now."""
        if self._news or self._always:
            return -inf
        return self._instants[0][0] if self._instants else inf

    def candidates(self, reservations: AdvanceReservations, now: float) -> list[Candidate]:
        """Return pending jobs that may start, in each of their partitions and reservations, in the order of tests."""
        self._look(now)
        is_attracted = any("magnetic" in one.flags for one in reservations.all)
        if not is_attracted and not self._reserving:
            return self._open.copy()
        jobs = self._runnable if is_attracted else self._reserving
        found = [
            Candidate(job, partition, reservation)
            for job in sorted(jobs, key=_sequence)
            for partition in job.partitions
            for reservation in reservations.of(job, now)
        ]
        found.sort(key=Candidate.rank)
        # Candidates in a reservation are before all others.
        return found if is_attracted else found + [one for one in self._open if one.job.request.reservation is None]

    def _look(self, now: float) -> None:
        """Find out which of the jobs with news may start, in the order of submission."""
        while self._instants and self._instants[0][0] <= now:
            job = heapq.heappop(self._instants)[2]
            if job.state == PENDING:
                self._news[job] = None
        self._news.update(self._always)
        if not self._news:
            return
        here = [(job.sequence, job) for job in self._news]
        heapq.heapify(here)
        self._news.clear()
        done = 0
        while here:
            done, job = heapq.heappop(here)
            if job.state == PENDING:
                self._set_open(job, self._is_runnable(job, now))
            for other in [other for other in self._news if other.sequence > done]:
                del self._news[other]
                if all(other is not one for _, one in here):
                    heapq.heappush(here, (other.sequence, other))

    def _set_open(self, job: SlurmJob, is_runnable: bool) -> None:
        self._close(job)
        if not is_runnable or job.state != PENDING:
            return
        entries = _entries(job, [Candidate(job, partition, None) for partition in job.partitions])
        self._runnable[job] = entries
        if job.request.reservation is not None:
            self._reserving[job] = None
        for rank, candidate in entries:
            at = bisect_left(self._ranks, rank)
            self._ranks.insert(at, rank)
            self._open.insert(at, candidate)

    def _close(self, job: SlurmJob) -> None:
        self._reserving.pop(job, None)
        for rank, _ in self._runnable.pop(job, ()):
            at = bisect_left(self._ranks, rank)
            del self._ranks[at], self._open[at]

    def _is_runnable(self, job: SlurmJob, now: float) -> bool:
        if job.is_held:
            return False
        if job.is_dependency_open:
            state = dependency_state(job, self.jobs, now)
            if state != MET:
                if "+" in job.request.dependency:
                    self._always[job] = None
                self._set_dependency_reason(job, state, now)
                return False
            job.is_dependency_open = False
            self._always.pop(job, None)
            self._forget(job)
        if job.begin is not None and now < job.begin:
            job.reason = "BeginTime"
            heapq.heappush(self._instants, (job.begin, job.sequence, job))
            return False
        if job.eligible is None:
            job.eligible = max(now if job.request.dependency else job.submitted, job.begin or 0)
        return not self._is_deadline_missed(job, now)

    def _forget(self, job: SlurmJob) -> None:
        """Forget on what a job depends: this is over."""
        for key in depended_on(job) if job.request.dependency else ():
            jobs = self._dependents.get(key, {})
            jobs.pop(job, None)
            if not jobs:
                self._dependents.pop(key, None)

    def _set_dependency_reason(self, job: SlurmJob, state: str, now: float) -> None:
        job.reason = "DependencyNeverSatisfied" if state == NEVER else "Dependency"
        kill = job.request.kill_on_invalid_dependency
        if state == NEVER and (self._kills_invalid if kill is None else kill):
            self._stop(job, "CANCELLED", now)

    def _is_deadline_missed(self, job: SlurmJob, now: float) -> bool:
        limit = job.request.time_min or job.limit
        if job.deadline is None:
            return False
        if now + limit * 60 <= job.deadline:
            heapq.heappush(self._instants, (job.deadline - limit * 60, job.sequence, job))
            return False
        self._stop(job, "DEADLINE", now)
        return True


def _sequence(job: SlurmJob) -> int:
    return job.sequence


def _entries(job: SlurmJob, candidates: Iterable[Candidate]) -> list[tuple[_Rank, Candidate]]:
    return [
        ((-one.partition.tier, -job.priority_in(one.partition), floor(job.submitted), job.sequence, at), one)
        for at, one in enumerate(candidates)
    ]
