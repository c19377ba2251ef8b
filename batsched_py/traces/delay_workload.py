"""Workloads of delay jobs: logs and models have run times, but not the work of the jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from batsched_py.model.job import Job
from batsched_py.model.profile import Delay, Profile
from batsched_py.model.workload import Workload


class DelayJob(NamedTuple):
    """A job that lasts `run` seconds; times in seconds. Jobs sort by submission time, then number: Batsim's order."""

    submit: float
    number: int
    run: float
    size: int
    walltime: float
    #: -1 if unknown.
    user: int = -1


def delay_workload(source: str, host_count: int, jobs: Sequence[DelayJob]) -> Workload:
    """Return a workload of these jobs, in their order; those of one run time share one profile.

    Ids are the numbers, padded with zeros so that their order as texts, in which Batsim submits the jobs of one
    instant, is that of the numbers. A known `user` is a member of the job.
    """
    width = len(str(max((job.number for job in jobs), default=0)))
    profiles: dict[str, Profile] = {}
    made: list[Job] = []
    for job in jobs:
        profile, name = f"delay_{job.run}", f"{job.number:0{width}d}"
        if profile not in profiles:
            profiles[profile] = Delay(profile, "delay", {"type": "delay", "delay": job.run}, float(job.run))
        members: dict[str, Any] = {"id": name, "subtime": job.submit, "res": job.size, "walltime": job.walltime}
        members["profile"] = profile
        if job.user >= 0:
            members["user"] = job.user
        made.append(Job(name, job.submit, job.size, job.walltime, profile, members))
    return Workload(source, host_count, tuple(made), profiles)
