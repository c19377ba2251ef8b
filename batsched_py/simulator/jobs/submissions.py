"""Submissions: the static jobs, sent when their time comes, those of one time together and in order of their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import merge
from itertools import groupby
from typing import Any

from batsched_py.model.job import Job
from batsched_py.model.packed_jobs import PackedJobs
from batsched_py.model.profile import Profile
from batsched_py.model.workload import Workload
from batsched_py.protocol.events import NO_MORE_STATIC_JOB, JobSubmitted, Notify
from batsched_py.simulator.context import Context
from batsched_py.simulator.generation import natural_key
from batsched_py.simulator.jobs.lifecycle import Jobs
from batsched_py.simulator.jobs.profiles import ProfileStore, wire_job, wire_members
from batsched_py.simulator.time.event_queue import RANK_SUBMISSION
from batsched_py.simulator.time.timed_source import TimedSource


class Submissions:
    """The jobs of all workloads, in order of time, then of workload, then of id."""

    def __init__(self, context: Context, workloads: Sequence[Workload], store: ProfileStore, jobs: Jobs) -> None:
        self._context, self._profiles, self._jobs, self._queue = context, store, jobs, context.queue
        self._workloads = workloads
        key = natural_key if context.is_v14 else None
        #: Those that are still to come but for `_next`: (submit time, workload number, place of the id, job).
        lines = [_in_order(workload.jobs, number, key) for number, workload in enumerate(workloads)]
        self._rest = merge(*lines) if len(lines) > 1 else iter(lines[0] if lines else ())
        #: The next one; None if there is none.
        self._next = next(self._rest, None)
        self.count = sum(len(workload.jobs) for workload in workloads)
        #: True until the first is submitted.
        self._untouched = True
        #: True when all of them were submitted.
        self.over = False
        #: Joules of all hosts when the first job was submitted; -1 before, as in Batsim.
        self.joules_at_first: float = -1.0
        self._stored = context.stored
        TimedSource(
            context.queue,
            context.mailbox,
            RANK_SUBMISSION,
            next_time=self._next_time,
            tell=self._submit,
            farewell=self._no_more,
        )

    def job_ids(self) -> set[str]:
        """Ids of all jobs."""
        names = self._profiles.names
        return {f"{names[number]}!{job.id}" for number, workload in enumerate(self._workloads) for job in workload.jobs}

    def announce(self, job: Job, profile: Profile) -> None:
        """Say JOB_SUBMITTED; of a stored job only its id."""
        if self._stored is not None:
            self._context.emit(JobSubmitted(self._queue.stamp, job.id, None))
            return
        forwarded = wire_members(profile.members) if self._context.settings.forward_profiles else None
        self._context.emit(JobSubmitted(self._queue.stamp, job.id, job, forwarded))

    def _next_time(self) -> float | None:
        return None if self._next is None else self._next[0]

    def _submit(self, until: float) -> None:
        """The next job, and all others whose time has come by then."""
        if self._untouched and self._context.meter is not None:
            self.joules_at_first = self._context.meter.settle_all(self._queue.now)
        self._untouched = False
        told, submitted = 0, list[tuple[Job, Profile]]()
        names = self._profiles.names
        while self._next is not None and (not told or self._next[0] <= until):
            told += 1
            _, number, _, plain = self._next
            self._next = next(self._rest, None)
            workload = names[number]
            job = wire_job(plain, f"{workload}!{plain.id}")
            profile = self._profiles.by_workload[workload].by_name[job.profile]
            self._jobs.submit(job, profile)
            self.announce(job, profile)
            if self._stored is not None:
                submitted.append((job, profile))
        if self._stored is not None and submitted:
            self._stored.write(submitted)

    def _no_more(self, _: None) -> None:
        self.over = True
        if not self._context.is_v14:
            self._context.emit(Notify(self._queue.stamp, NO_MORE_STATIC_JOB))


def _in_order(
    jobs: Sequence[Job], number: int, key: Callable[[str], Any] | None
) -> Iterable[tuple[float, int, Any, Job]]:
    """(submit time, number of the workload, place of the id, job) of each job, ascending; ids as text without `key`.

    No two have equal ids, so jobs themselves are never compared.
    """
    if isinstance(jobs, PackedJobs):
        return (entry for _, together in groupby(jobs, _submit_time) for entry in _sorted(together, number, key))
    return _sorted(jobs, number, key)


def _sorted(jobs: Iterable[Job], number: int, key: Callable[[str], Any] | None) -> list[tuple[float, int, Any, Job]]:
    return sorted([(job.submit_time, number, job.id if key is None else key(job.id), job) for job in jobs])


def _submit_time(job: Job) -> float:
    return job.submit_time
