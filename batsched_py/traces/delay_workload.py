"""Workloads of delay jobs: logs and models have run times, but not the work of the jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from types import MappingProxyType
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
    #: Whose it is, and what else is known of it.
    members: Mapping[str, str | int] = MappingProxyType({})
    #: The id, if it is not the number.
    name: str = ""


def delay_workload(
    source: str, host_count: int, jobs: Sequence[DelayJob], log_start: datetime | None = None
) -> Workload:
    """Return a workload of these jobs, in their order; those of one run time share one profile.

    Ids are the numbers, padded with zeros so that their order as texts, in which Batsim submits the jobs of one
    instant, is that of the numbers; jobs with names of their own are put in the order of these at each instant.
    """
    width = len(str(max((job.number for job in jobs), default=0)))
    profiles: dict[str, Profile] = {}
    made: list[Job] = []
    for job in jobs:
        profile, name = f"delay_{job.run}", job.name or f"{job.number:0{width}d}"
        if profile not in profiles:
            profiles[profile] = Delay(profile, "delay", {"type": "delay", "delay": job.run}, float(job.run))
        members: dict[str, Any] = {"id": name, "subtime": job.submit, "res": job.size, "walltime": job.walltime}
        members |= {"profile": profile, **job.members}
        made.append(Job(name, job.submit, job.size, job.walltime, profile, members))
    if any(job.name for job in jobs):
        made.sort(key=attrgetter("submit_time", "id"))
    return Workload(source, host_count, tuple(made), profiles, log_start=log_start)
