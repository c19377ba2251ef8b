"""Submissions: the static jobs; jobs of one instant are submitted together in the order of their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import attrgetter
from typing import Any

from batsched_py.model.job import Job
from batsched_py.model.packed_jobs import PackedJobs
from batsched_py.model.profile import Profile
from batsched_py.model.workload import Workload
from batsched_py.protocol.events import NO_MORE_STATIC_JOB, Notify
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.feedback import FollowingJobs
from batsched_py.simulator.jobs.profiles import ProfileStore
from batsched_py.simulator.jobs.workflow_submitter import WorkflowSubmitter
from batsched_py.simulator.wire.rounding import wire_job

#: (submit time, number of the workload, sort key of the id, job); no two have equal keys, so jobs are not compared.
Entry = tuple[float, int, Any, Job]


class Submissions:
    """The jobs of all workloads, submitted at their times."""

    def __init__(
        self,
        context: Context,
        workloads: Sequence[Workload],
        profiles: ProfileStore,
        submit: Callable[[Job, Profile], None],
    ) -> None:
        self._context, self._workloads, self._profiles, self._submit = context, workloads, profiles, submit
        self.count = sum(len(workload.jobs) for workload in workloads)
        #: Jobs that follow others; None if all are submitted at their times.
        self.following: FollowingJobs | None = None
        if context.settings.feedback:
            self.following = FollowingJobs(context, profiles.names, workloads, self._submit_following)
        #: True after all of them have been submitted; of workflows, the number of those that are not over.
        self._over = False
        self._workflows = 0
        #: Joules of all hosts when the first job was submitted; -1 before, as in Batsim.
        self.joules_at_first: float = -1.0

    def in_order(self) -> Iterator[Entry]:
        """Return all jobs in order of time, then of workload, then of id."""
        key = self._context.generation.name_key
        found = [workload.jobs for workload in self._workloads] if self.following is None else self.following.others
        lines = [_in_order(jobs, number, key) for number, jobs in enumerate(found)]
        return merge(*lines) if len(lines) > 1 else iter(lines[0] if lines else ())

    def job_ids(self) -> set[str]:
        """Return the ids of all jobs."""
        names = self._profiles.names
        return {f"{names[number]}!{job.id}" for number, workload in enumerate(self._workloads) for job in workload.jobs}

    def submit(self, entries: Iterable[Entry]) -> None:
        """Submit jobs together."""
        context, names, submitted = self._context, self._profiles.names, list[tuple[Job, Profile]]()
        if context.settings.energy and context.meter is not None and self.joules_at_first < 0:
            self.joules_at_first = context.meter.settle_all(context.queue.now)
        for _, number, _, plain in entries:
            workload = names[number]
            job = wire_job(plain, f"{workload}!{plain.id}")
            profile = self._profiles.by_workload[workload].by_name[job.profile]
            self._submit(job, profile)
            if context.store is not None:
                submitted.append((job, profile))
            if self.following is not None:
                self.following.announce(job.id, "submission")
        if context.store is not None:
            context.store.write(submitted)

    @property
    def over(self) -> bool:
        """True after all jobs have been submitted."""
        following = 0 if self.following is None else self.following.left
        return self._over and not self._workflows and not following

    def _submit_following(self, number: int, job: Job) -> None:
        self.submit([(job.submit_time, number, job.id, job)])
        if self.over:
            self._announce_last()

    def make_workflows(self) -> list[WorkflowSubmitter]:
        """Return the submitters of the workflows, which have to be started."""
        context, profiles, submit, finish = self._context, self._profiles, self._submit, self._end_workflow
        made = [
            WorkflowSubmitter(context, name, workload, profiles, submit=submit, finish=finish)
            for name, workload in zip(profiles.names, self._workloads, strict=True)
            if workload.workflow is not None
        ]
        self._workflows = len(made)
        self.count += sum(one.count for one in made)
        return made

    def _end_workflow(self) -> None:
        self._workflows -= 1
        if self.over:
            self._announce_last()

    def finish(self) -> None:
        """Record that the last job with a submission time was submitted."""
        self._over = True
        if self.over:
            self._announce_last()

    def _announce_last(self) -> None:
        generation = self._context.generation
        if generation.announces_last_job and (self._workloads or generation.announces_without_workload):
            self._context.emit(Notify(self._context.queue.stamp, NO_MORE_STATIC_JOB))


def _in_order(jobs: Sequence[Job], number: int, key: Callable[[str], Any]) -> Iterable[Entry]:
    """Return the entries of a workload, ascending."""
    return _unpacked(jobs, number, key) if isinstance(jobs, PackedJobs) else _sorted(jobs, number, key)


def _unpacked(jobs: PackedJobs, number: int, key: Callable[[str], Any]) -> Iterator[Entry]:
    """Yield the entries of packed jobs in the same order; jobs are sorted by time and decoded one instant at a time."""
    for _, together in groupby(jobs, attrgetter("submit_time")):  # mypyc compiles a generator expression to a list
        yield from _sorted(together, number, key)


def _sorted(jobs: Iterable[Job], number: int, key: Callable[[str], Any]) -> list[Entry]:
    return sorted([(job.submit_time, number, key(job.id), job) for job in jobs])
