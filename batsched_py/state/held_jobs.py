"""The held jobs: those that were submitted and may not be started yet, because of their conditions on other jobs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import heappop, heappush
from operator import itemgetter
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from batsched_py.model.conditions import ArrayTask, Conditions, Dependency, When
from batsched_py.model.job import Job
from batsched_py.state.running import WIRE_RESOLUTION
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds

# The conditions of a job are fulfilled in three steps: the jobs on which it depends reach their states, the delays
# after them pass, and then its singleton and its array have room for it. A singleton is a row of jobs in the order of
# submission, of which only the first may be in the queue or run; an array is a number of places, taken in the order in
# which jobs become ready.
#
# What can no longer be fulfilled (success of a job that has failed, or the opposite) is collected in `impossible`, for
# the session to reject; a rejection is an end of that job, which may decide others in turn.
#
# Each event looks only at the jobs that wait for its job, so that a workflow costs its number of edges.

#: What is known of a job: it has not started, or it runs, or it has ended in one of two ways.
JobProgress: TypeAlias = Literal["pending", "started", "success", "failure"]
#: State of another job -> what its progress must be.
_FULFILLED: Final[Mapping[When, tuple[JobProgress, ...]]] = {
    "start": ("started", "success", "failure"),
    "end": ("success", "failure"),
    "success": ("success",),
    "failure": ("failure",),
}
#: State of another job -> the words for it, before and after the id of the job.
_WORDS: Final[Mapping[When, str]] = {
    "start": "the start of", "end": "the end of", "success": "the success of", "failure": "the failure of",
}  # fmt: skip
#: The end of a job, in words.
_ENDED: Final[Mapping[JobProgress, str]] = {"success": "has succeeded", "failure": "has not succeeded"}


class JobTimes(Struct, frozen=True):
    """The progress of another job, and its start and end in seconds where they are known."""

    progress: JobProgress
    start: float = 0.0
    end: float = 0.0


class _Held(Struct):
    """A held job.

    Attributes:
        number: its place in the order of submission.
        left: the dependencies that are not fulfilled.
        ready_at: when all delays are over, as far as they have begun.
        delayed: whether only a delay is left.
    """

    job: Job
    number: int
    conditions: Conditions
    left: dict[Dependency, None]
    ready_at: float = 0.0
    delayed: bool = False


class _Array(Struct):
    """An array: its limit, the jobs in the queue or running, and those that are ready (number, id)."""

    limit: int | None
    active: set[str]
    ready: list[tuple[int, str]]


class HeldJobs:
    """The held jobs of a run.

    Attributes:
        jobs: id -> job, in the order of submission; including those in `released` until they are taken.
        impossible: id -> why the job can never start.
        changed: ids of jobs for which `reason` has changed.
        used: whether any job was ever held.
        failures: ids of jobs that failed in this message, which may have another attempt of them, before others follow.
    """

    def __init__(self, look_up: Callable[[str], JobTimes]) -> None:
        """Take a function from the id of any job to its progress."""
        self._look_up = look_up
        self.used = False
        self.jobs: dict[str, Job] = {}
        self.impossible: dict[str, str] = {}
        self.changed: dict[str, None] = {}
        self.failures: dict[str, None] = {}
        self._records: dict[str, _Held] = {}
        #: Number of jobs ever held.
        self._count = 0
        #: Id of a job -> ids of the held jobs that depend on it.
        self._waiting: dict[str, dict[str, None]] = {}
        #: Held jobs whose delays are not over: (time, number, id).
        self._delayed: list[tuple[float, int, str]] = []
        #: Id of the first attempt of a job -> id of its last one, and the other way round; only for jobs with several.
        self._last_attempts: dict[str, str] = {}
        self._first_attempts: dict[str, str] = {}
        #: (user, name) -> the jobs of a singleton that have not ended, in the order of submission.
        self._singletons: dict[tuple[str | None, str], dict[str, None]] = {}
        self._arrays: dict[str, _Array] = {}
        #: Id of a job in a singleton or array -> its conditions, until it has ended.
        self._members: dict[str, tuple[Job, Conditions]] = {}
        self._released: list[tuple[int, Job]] = []

    def __len__(self) -> int:
        return len(self.jobs)

    def __contains__(self, job_id: object) -> bool:
        return job_id in self.jobs

    def add(self, job: Job, conditions: Conditions, now: float) -> None:
        """Hold a job; it is released at once if its conditions are fulfilled."""
        self.used = True
        self._count += 1
        record = _Held(job, self._count, conditions, {})
        self.jobs[job.id], self._records[job.id] = job, record
        self.changed[job.id] = None
        if conditions.singleton is not None:
            self._singletons.setdefault((job.user, conditions.singleton), {})[job.id] = None
        if conditions.array is not None:
            self._join(job, conditions.array)
        if conditions.singleton is not None or conditions.array is not None:
            self._members[job.id] = job, conditions
        for dependency in conditions.depends_on:
            other = dependency.id(job.workload)
            if not self._fulfil(record, dependency, self._look_up(other)):
                self._waiting.setdefault(other, {})[job.id] = None
        self._consider(record, now)

    def _join(self, job: Job, task: ArrayTask) -> None:
        array = self._arrays.setdefault(_array_id(job, task), _Array(task.limit, set(), []))
        if array.limit != task.limit:
            limits = f"{task.limit or 'none'}, and {array.limit or 'none'} that of its first job"
            self.impossible[job.id] = f"the limit of array {displayed(task.id)} is {limits}"

    def advance(self, now: float) -> None:
        """Look at the jobs whose delays are over now."""
        while self._delayed and self._delayed[0][0] <= now + WIRE_RESOLUTION:
            _, _, job_id = heappop(self._delayed)
            if job_id in self._records:
                self._consider(self._records[job_id], now)

    def look_at(self, job_id: str, now: float) -> None:
        """Look at the jobs that depend on a job which has just started or ended."""
        first_id = self._first_attempts.get(job_id, job_id)
        waiting = self._waiting.get(first_id)
        if waiting is not None:
            times = self._look_up(job_id)
            for name in list(waiting):
                record = self._records.get(name)
                if record is not None and self._progressed(record, first_id, times):
                    self._consider(record, now)
            if times.progress in _ENDED:
                del self._waiting[first_id]

    def last_attempt(self, job_id: str) -> str:
        """Return the id of the last attempt of a job; its own if there is one attempt."""
        return self._last_attempts.get(job_id, job_id)

    def attempt_again(self, earlier_id: str, job_id: str) -> None:
        """Let a job, which is added next, take the place of its earlier attempt, if that is one of the `failures`.

        Those that depend on the earlier one follow this one instead, and a singleton keeps its place in the row.
        """
        if earlier_id not in self.failures:
            return
        del self.failures[earlier_id]
        first_id = self._first_attempts.pop(earlier_id, earlier_id)
        self._last_attempts[first_id], self._first_attempts[job_id] = job_id, first_id
        member = self._members.pop(earlier_id, None)
        if member is None:
            return
        job, conditions = member
        if conditions.singleton is not None:
            key = job.user, conditions.singleton
            self._singletons[key] = {(job_id if one == earlier_id else one): None for one in self._singletons[key]}
        self._leave_array(earlier_id, job, conditions)

    def settle_failures(self, now: float) -> None:
        """Let others follow the ends of the `failures`, of which there is no other attempt."""
        failures, self.failures = self.failures, {}
        if self.used:
            for job_id in failures:
                self.end(job_id, now)

    def end(self, job_id: str, now: float) -> None:
        """Take an ended job, held or not, out of its singleton and its array, and look at those that follow."""
        self.look_at(job_id, now)
        member = self._members.pop(job_id, None)
        if member is None:
            return
        job, conditions = member
        if conditions.singleton is not None:
            key = job.user, conditions.singleton
            row = self._singletons[key]
            first = next(iter(row)) == job_id
            del row[job_id]
            if not row:
                del self._singletons[key]
            elif first and (following := self._records.get(next(iter(row)))) is not None:
                self._consider(following, now)
        self._leave_array(job_id, job, conditions)

    def _leave_array(self, job_id: str, job: Job, conditions: Conditions) -> None:
        if conditions.array is not None:
            array = self._arrays[_array_id(job, conditions.array)]
            array.active.discard(job_id)
            self._fill(array)

    def remove(self, job_id: str) -> Job:
        """Remove a job that is rejected; its `end` must follow."""
        del self._records[job_id]
        self.impossible.pop(job_id, None)
        self.changed.pop(job_id, None)
        self._released = [entry for entry in self._released if entry[1].id != job_id]
        return self.jobs.pop(job_id)

    def take_released(self) -> list[Job]:
        """Return the jobs whose conditions are fulfilled, which are no longer held, in the order of submission."""
        released = [job for _, job in sorted(self._released, key=itemgetter(0))]
        self._released = []
        for job in released:
            del self.jobs[job.id], self._records[job.id]
        return released

    @property
    def next_release(self) -> float:
        """The time at which the first delay is over; infinite if there is none."""
        while self._delayed and self._delayed[0][2] not in self._records:
            heappop(self._delayed)
        return self._delayed[0][0] if self._delayed else math.inf

    def reason(self, job_id: str) -> str:
        """Return why a job is held."""
        record = self._records[job_id]
        if record.left:
            more = f" and {len(record.left) - 1} more" if len(record.left) > 1 else ""
            first = next(iter(record.left))
            return f"waits for {_WORDS[first.when]} {displayed(first.id(record.job.workload))}{more}"
        if record.delayed:
            return f"waits until t={seconds(record.ready_at)}"
        singleton, array = record.conditions.singleton, record.conditions.array
        if singleton is not None and (first_id := next(iter(self._singletons[record.job.user, singleton]))) != job_id:
            return f"waits for the end of {displayed(first_id)}, a singleton {displayed(singleton)} as this job"
        limit = None if array is None else array.limit
        return f"waits for an end in array {displayed(array.id)}, of which {limit} may run" if array else "may start"

    def waits_for(self, job_id: str) -> Iterator[str]:
        """Yield the ids of the jobs for which a held job waits."""
        record = self._records[job_id]
        for dependency in record.left:
            yield dependency.id(record.job.workload)
        singleton = record.conditions.singleton
        if not record.left and singleton is not None:
            first_id = next(iter(self._singletons[record.job.user, singleton]))
            if first_id != job_id:
                yield first_id

    def unknown(self, known: Callable[[str], bool]) -> Iterable[tuple[str, str]]:
        """Yield held jobs that depend on a job that is not known, each with the id of one."""
        for job_id, record in self._records.items():
            others = [dependency.id(record.job.workload) for dependency in record.left]
            missing = next((other for other in others if not known(other)), None)
            if missing is not None:
                yield job_id, missing

    def _progressed(self, record: _Held, other: str, times: JobTimes) -> bool:
        """Remove the fulfilled dependencies of a job on another one; return whether the last one was among them."""
        found = [one for one in record.left if one.id(record.job.workload) == other]
        for dependency in found:
            del record.left[dependency]
        for dependency in found:
            self._fulfil(record, dependency, times)
        self.changed[record.job.id] = None
        return bool(found) and not record.left

    def _fulfil(self, record: _Held, dependency: Dependency, times: JobTimes) -> bool:
        """Return whether a dependency needs no more attention: it is fulfilled, or never will be."""
        if times.progress in _FULFILLED[dependency.when]:
            if dependency.delay:
                since = times.start if dependency.when == "start" else times.end
                record.ready_at = max(record.ready_at, since + dependency.delay)
            return True
        record.left[dependency] = None
        if times.progress in _ENDED:
            other = displayed(dependency.id(record.job.workload))
            why = f"it depends on {_WORDS[dependency.when]} {other}, which {_ENDED[times.progress]}"
            self.impossible.setdefault(record.job.id, why)
            return True
        return False

    def _consider(self, record: _Held, now: float) -> None:
        """Release a job whose dependencies are fulfilled, if nothing else is in its way."""
        job, conditions = record.job, record.conditions
        if record.left or job.id in self.impossible:
            return
        record.delayed = record.ready_at > now + WIRE_RESOLUTION
        if record.delayed:
            heappush(self._delayed, (record.ready_at, record.number, job.id))
            self.changed[job.id] = None
            return
        if conditions.singleton is not None and next(iter(self._singletons[job.user, conditions.singleton])) != job.id:
            self.changed[job.id] = None
            return
        if conditions.array is None:
            self._released.append((record.number, job))
            return
        array = self._arrays[_array_id(job, conditions.array)]
        heappush(array.ready, (record.number, job.id))
        self.changed[job.id] = None
        self._fill(array)

    def _fill(self, array: _Array) -> None:
        """Release the first ready jobs of an array as long as it has places."""
        while array.ready and (array.limit is None or len(array.active) < array.limit):
            number, job_id = heappop(array.ready)
            record = self._records.get(job_id)
            if record is not None and job_id not in self.impossible:
                array.active.add(job_id)
                self._released.append((number, record.job))


def _array_id(job: Job, task: ArrayTask) -> str:
    return f"{job.workload}!{task.id}"
