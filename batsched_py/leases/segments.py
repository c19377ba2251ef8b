"""Segments: Batsim runs no job twice, so that a restarted or resumed job is a new one: `base#1`, `base#2`...

Batsim 1 names jobs by whole numbers: there they are `segments!0`, `segments!1`... in a separate workload.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from batsched_py.model.cancellation import still_cancelled
from batsched_py.model.job import Job
from batsched_py.model.profile import (
    DataStaging,
    Delay,
    Parallel,
    ParallelHomogeneous,
    ParallelHomogeneousPfs,
    ParallelHomogeneousTotal,
    Profile,
    Receive,
    parse_profile,
)
from batsched_py.protocol.events import Members, Progress
from batsched_py.reading.limits import LONGEST
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.remainder import MOST_PARTS, NOT_BEGUN
from batsched_py.scheduling.view import View
from batsched_py.text.display import shown

#: The workload of all segments for Batsim 1, which names its own workloads by hexadecimal digits.
WORKLOAD: Final = "segments"
#: Profiles for which Batsim reports the progress of a killed job.
_MEASURED: Final = (
    *(Delay, Parallel, ParallelHomogeneous, ParallelHomogeneousTotal, ParallelHomogeneousPfs, DataStaging),
)


class Overhead(NamedTuple):
    """A suspension or resumption of machines: its use, its duration in seconds, and the number of hosts."""

    use: str
    seconds: float
    size: int


class Segments:
    """Segments by lease: the first is the job as submitted, each later one repeats or continues it after a kill."""

    def __init__(self) -> None:
        #: Id of a later segment -> the first one.
        self._first: dict[str, Job] = {}
        #: Id of the first segment -> the number of its last one.
        self._count: dict[str, int] = {}
        #: The number of the last job that shows an overhead.
        self._overheads = 0

    def meet(self, arrived: Iterable[Job]) -> bool:
        """Return whether a segment, announced by Batsim, is among submitted jobs."""
        return any(job.id in self._first for job in arrived)

    def first(self, job: Job) -> Job:
        """Return the first segment of a job's lease."""
        return self._first.get(job.id, job)

    def first_id(self, job_id: str) -> str:
        """Return the id of the first segment of a job's lease."""
        first = self._first.get(job_id)
        return job_id if first is None else first.id

    def __len__(self) -> int:
        """Return the number of segments without the first ones."""
        return len(self._first)

    def repeatable(self, job: Job, view: View) -> Members | None:
        """Return the profile with which a job can be submitted again after a kill; None if that is impossible.

        Batsim must have sent the profile. If Batsim drops profiles, or segments have a separate workload, the profile
        is registered again. That is impossible for unknown types, for composed profiles that are not one delay or one
        task, and for a recv that continues with profiles of its workload.
        """
        profile = view.profile(job)
        if profile is None or (job.walltime or 0.0) > LONGEST:
            return None
        if not (view.config.forgets_profiles or view.config.numbered_jobs):
            return profile.members
        parts = self._all(job, view)
        kept = not view.config.numbered_jobs or not isinstance(profile, Receive) or not profile.continuations
        readable = parts is not None and len(parts) == 1 and type(_typed(parts[0])) is not Profile
        return parts[0] if parts is not None and readable and kept else None

    def work(self, job: Job, view: View) -> tuple[Members, ...] | None:
        """Return the profiles of a job's work, in order, that can continue after a kill; None if there are none."""
        return None if self.obstacle(job, view) else self._all(job, view)

    def obstacle(self, job: Job, view: View) -> str:
        """Return the reason why a job cannot be killed and continued; empty if it can.

        Batsim must have sent its profile, and report its progress.
        """
        profile = view.profile(job)
        if profile is None:
            return "its profile is not known (Batsim: --forward-profiles-on-submission)"
        if (job.walltime or 0.0) > LONGEST:
            return f"its walltime is longer than {LONGEST} s"
        if isinstance(profile, _MEASURED):
            return ""
        parts = self._all(job, view)
        if parts is None:
            return f"its profile has steps that Batsim has not sent, or more than {MOST_PARTS} that are not delays"
        unlisted = next((one for one in map(_typed, parts) if not isinstance(one, _MEASURED)), None)
        return f"Batsim reports no progress of a profile of type {shown(unlisted.type)}" if unlisted is not None else ""

    @staticmethod
    def _all(job: Job, view: View) -> tuple[Members, ...] | None:
        return view.remainder(job.id, Progress(job.profile, None, NOT_BEGUN))

    def repeat(self, job: Job, profile: Mapping[str, Any], view: View, plan: Plan) -> Job:
        """Submit a job again from its begin, under the next id of its lease, with its walltime and members."""
        first = self.first(job)
        segment_id = self._next_id(first, view)
        name = self._profile_name(job, segment_id, view)
        segment = Job.create(
            segment_id,
            size=job.size,
            profile=name,
            walltime=job.walltime,
            extra=still_cancelled(job, job.extra, view.now),
            demand=job.demand,
        )
        self._submit(segment, first, profile, plan)
        return segment

    def go_on(self, job: Job, parts: Sequence[Members], walltime: float, view: View, plan: Plan) -> Job:
        """Submit the remaining work of a killed job, given as profiles in order, under the next id of its lease.

        If Batsim runs registered composed profiles (`joins`), all parts are one job; otherwise only the first part is
        submitted. Jobs of Batsim 4 get the id of their lease and their segment number as metadata.
        """
        first = self.first(job)
        segment_id = self._next_id(first, view)
        workload, _, name = segment_id.partition("!")
        fresh = self._fresh(f"{first.workload}!{name}" if workload == WORKLOAD else name, workload, view)
        profile = parts[0]
        if len(parts) > 1 and self.joins(plan):
            names = [f"{fresh}.{number}" for number in range(len(parts))]
            for part_name, part in zip(names, parts, strict=True):
                plan.register_profile(workload, part_name, part)
            profile = {"type": "composed", "repeat": 1, "seq": names}
        limit = walltime if job.walltime is not None else None
        segment = Job.create(
            segment_id,
            size=job.size,
            profile=fresh,
            walltime=limit,
            extra=still_cancelled(job, job.extra, view.now),
            demand=job.demand,
        )
        self._submit(segment, first, profile, plan)
        if plan.dialect.keeps_metadata:
            plan.set_metadata(segment, f"lease {first.id}, segment {self._count[first.id]}")
        return segment

    @staticmethod
    def joins(plan: Plan) -> bool:
        """Return whether Batsim can run several profiles as one job."""
        return plan.dialect.runs_registered_sequences

    def show_overhead(self, job: Job, overhead: Overhead, view: View, plan: Plan) -> Job:
        """Submit a delay job that shows the hosts and the duration of a suspension or resumption."""
        first = self.first(job)
        if view.config.numbered_jobs:
            job_id = self._workload_id(view)
        else:
            beginning = f"{first.id}#{overhead.use}"
            self._overheads = self._unused(beginning, self._overheads + 1, view)
            job_id = f"{beginning}{self._overheads}"
        workload, _, name = job_id.partition("!")
        profile = self._fresh(name, workload, view)
        shown = Job.create(job_id, size=overhead.size, profile=profile, walltime=None)
        self._submit(shown, first, {"type": "delay", "delay": overhead.seconds}, plan)
        return shown

    def _submit(self, segment: Job, first: Job, profile: Members, plan: Plan) -> None:
        self._first[segment.id] = first
        plan.submit(segment, dict(profile))

    def _next_id(self, first: Job, view: View) -> str:
        if view.config.numbered_jobs:
            return self._workload_id(view)
        beginning = f"{first.id}#"
        number = self._count[first.id] = self._unused(beginning, self._count.get(first.id, 0) + 1, view)
        return f"{beginning}{number}"

    def _workload_id(self, view: View) -> str:
        """Return the next id in the workload of segments."""
        return f"{WORKLOAD}!{self._unused(f'{WORKLOAD}!', len(self), view)}"

    def _unused(self, beginning: str, number: int, view: View) -> int:
        """Return the first number from this one with which no job has the id."""
        while view.has_id(job_id := f"{beginning}{number}") or job_id in self._first:
            number += 1
        return number

    def _profile_name(self, job: Job, segment_id: str, view: View) -> str:
        if view.config.numbered_jobs:  # in the workload of segments; names of workloads have no exclamation mark
            return job.profile if job.workload == WORKLOAD else f"{job.workload}!{job.profile}"
        if not view.config.forgets_profiles:
            return job.profile
        return self._fresh(segment_id.partition("!")[2], job.workload, view)

    @staticmethod
    def _fresh(name: str, workload: str, view: View) -> str:
        while view.has_profile(workload, name):
            name += "#"
        return name


def _typed(members: Members) -> Profile:
    return parse_profile("", members)
