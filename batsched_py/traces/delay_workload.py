"""Workloads of jobs with known run times but unknown work, as in logs and models: delays, or computations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.model.demand_members import DEMAND, read_job_demand
from batsched_py.model.job import Job
from batsched_py.model.profile import Delay, ParallelHomogeneous, Profile
from batsched_py.model.workload import Workload

#: Default speed in flop/s of the hosts for which computations are sized.
USUAL_SPEED: Final = 1e9


class TimedWork(Struct, frozen=True):
    """The work of jobs with known run times: none, or a computation that takes that time on hosts of one speed.

    Attributes:
        speed: flop/s of these hosts; None for delays, which compute nothing.
    """

    speed: float | None = None

    def name_of(self, run: float) -> str:
        """Return the name of the profile of jobs with this run time in seconds."""
        return f"{'delay' if self.speed is None else 'compute'}_{run}"

    def profile(self, name: str, run: float) -> Profile:
        """Return the profile of jobs with this run time in seconds."""
        if self.speed is None:
            return Delay(name, "delay", {"type": "delay", "delay": run}, float(run))
        members = {"type": "parallel_homogeneous", "cpu": run * self.speed, "com": 0}
        return ParallelHomogeneous(name, "parallel_homogeneous", members, run * self.speed, 0.0)


#: Delays: jobs take the same time on hosts of any speed.
DELAYS: Final = TimedWork()


class DelayJob(NamedTuple):
    """A job that lasts `run` seconds; times in seconds. Jobs sort by submission time, then number: Batsim's order."""

    submit: float
    number: int
    run: float
    size: int
    walltime: float
    #: Further members of the job: its user, and others that are known.
    members: Mapping[str, Any] = MappingProxyType({})
    #: The id, if it is not the number.
    name: str = ""


def delay_workload(
    source: str, host_count: int, jobs: Sequence[DelayJob], log_start: datetime | None = None, work: TimedWork = DELAYS
) -> Workload:
    """Return a workload of these jobs, in their order; jobs with the same run time share a profile.

    Ids are the numbers, padded with zeros: Batsim submits jobs of one instant in the order of their ids as text, which
    then equals the order of the numbers. Jobs with names are sorted by name within each instant.
    """
    profiles: dict[str, Profile] = {}
    made = list(named_jobs(jobs, max((job.number for job in jobs), default=0), work, profiles))
    if any(job.name for job in jobs):
        made.sort(key=attrgetter("submit_time", "id"))
    return Workload(source, host_count, tuple(made), profiles, log_start=log_start)


def named_jobs(jobs: Iterable[DelayJob], largest: int, work: TimedWork, profiles: dict[str, Profile]) -> Iterator[Job]:
    """Yield these jobs in order, with ids padded for numbers up to `largest`; add their profiles to `profiles`."""
    width = len(str(largest))
    #: The names of the profiles of whole run times; 5 and 5.0 are equal, but have different names.
    known: dict[float, str] = {}
    for submit, number, run, size, walltime, further, text in jobs:
        name = text or str(number).zfill(width)
        profile = known.get(run) if type(run) is int else None
        if profile is None:
            profile = work.name_of(run)
            if profile not in profiles:
                profiles[profile] = work.profile(profile, run)
            if type(run) is int:
                known[run] = profile
        members: dict[str, Any] = {"id": name, "subtime": submit, "res": size, "walltime": walltime}
        members["profile"] = profile
        members.update(further)
        demand = read_job_demand(members, size) if DEMAND in further else None
        yield Job(name, submit, size, walltime, profile, members, demand)


def with_work(workload: Workload, work: TimedWork) -> Workload:
    """Return the workload with its delays replaced by this work, under the same names; other profiles are kept."""
    profiles = {
        name: work.profile(name, profile.delay) if isinstance(profile, Delay) else profile
        for name, profile in workload.profiles.items()
    }
    return replace(workload, profiles=profiles)
