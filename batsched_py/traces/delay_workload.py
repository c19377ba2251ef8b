"""Workloads of jobs whose run times are known, as in logs and models, but not their work: delays, or computations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.model.job import Job
from batsched_py.model.profile import Delay, ParallelHomogeneous, Profile
from batsched_py.model.workload import Workload

#: flop/s of the hosts for which jobs compute, unless something else is said.
USUAL_SPEED: Final = 1e9


class Work(Struct, frozen=True):
    """The work of jobs with known run times: none, or a computation that takes as long on hosts of one speed.

    Attributes:
        speed: flop/s of these hosts; None for delays, which compute nothing.
    """

    speed: float | None = None

    def name_of(self, run: float) -> str:
        """Return the name of the profile of jobs that run so many seconds."""
        return f"{'delay' if self.speed is None else 'compute'}_{run}"

    def profile(self, name: str, run: float) -> Profile:
        """Return the profile of jobs that run so many seconds."""
        if self.speed is None:
            return Delay(name, "delay", {"type": "delay", "delay": run}, float(run))
        members = {"type": "parallel_homogeneous", "cpu": run * self.speed, "com": 0}
        return ParallelHomogeneous(name, "parallel_homogeneous", members, run * self.speed, 0.0)


#: Jobs that wait, on hosts of any speed.
DELAYS: Final = Work()


class DelayJob(NamedTuple):
    """A job that lasts `run` seconds; times in seconds. Jobs sort by submission time, then number: Batsim's order."""

    submit: float
    number: int
    run: float
    size: int
    walltime: float
    #: Whose it is, and what else is known of it.
    members: Mapping[str, str | int] = MappingProxyType({})
    #: The id, if it is not the number.
    name: str = ""


def delay_workload(
    source: str, host_count: int, jobs: Sequence[DelayJob], log_start: datetime | None = None, work: Work = DELAYS
) -> Workload:
    """Return a workload of these jobs, in their order; those of one run time share one profile.

    Ids are the numbers, padded with zeros so that their order as texts, in which Batsim submits the jobs of one
    instant, is that of the numbers; jobs with names of their own are put in the order of these at each instant.
    """
    profiles: dict[str, Profile] = {}
    made = list(named_jobs(jobs, max((job.number for job in jobs), default=0), work, profiles))
    if any(job.name for job in jobs):
        made.sort(key=attrgetter("submit_time", "id"))
    return Workload(source, host_count, tuple(made), profiles, log_start=log_start)


def named_jobs(jobs: Iterable[DelayJob], largest: int, work: Work, profiles: dict[str, Profile]) -> Iterator[Job]:
    """Yield these jobs, in their order, with ids for numbers up to the largest; add what they use to the profiles."""
    width = len(str(largest))
    for job in jobs:
        profile, name = work.name_of(job.run), job.name or f"{job.number:0{width}d}"
        if profile not in profiles:
            profiles[profile] = work.profile(profile, job.run)
        members: dict[str, Any] = {"id": name, "subtime": job.submit, "res": job.size, "walltime": job.walltime}
        members |= {"profile": profile, **job.members}
        yield Job(name, job.submit, job.size, job.walltime, profile, members)


def with_work(workload: Workload, work: Work) -> Workload:
    """Return a workload whose delays are this work, under the names that they have; other profiles stay."""
    profiles = {
        name: work.profile(name, profile.delay) if isinstance(profile, Delay) else profile
        for name, profile in workload.profiles.items()
    }
    return replace(workload, profiles=profiles)
