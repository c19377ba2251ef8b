"""Jobs that a scheduler of pybatsim's object layer describes and submits, and their profiles."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from batsched_py.pybatsim.objects.lists import check


class ObjectProfile:
    """A profile with its members (`batsim.sched.Profile`); equal if all members are."""

    type: ClassVar[str] = ""
    #: The names of the members, which are its arguments in order -> their values if they are not given.
    members: ClassVar[dict[str, Any]] = {}

    def __init__(self, *values: Any, name: str | None = None, ret: int = 0, **named: Any) -> None:
        self.name = name
        self.ret = ret
        given = {**dict(zip(self.members, values, strict=False)), **named}
        check(given.keys() <= self.members.keys(), f"the profile {self.type} has no {sorted(given)}")
        for member, value in {**self.members, **given}.items():
            setattr(self, member, value)

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as Batsim has it."""
        return {"type": self.type, **{name: getattr(self, name) for name in self.members}, "ret": self.ret}

    def key(self) -> str:
        """Return a text that is equal for equal profiles."""
        return json.dumps(self.to_dict(), sort_keys=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectProfile) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


class DelayProfile(ObjectProfile):
    """Wait."""

    type = "delay"
    members: ClassVar[dict[str, Any]] = {"delay": 0}


class HostwiseProfile(ObjectProfile):
    """Compute and communicate, host by host."""

    type = "parallel"
    members: ClassVar[dict[str, Any]] = {"cpu": (), "com": ()}

    def __init__(self, nbres: int = 0, *values: Any, **named: Any) -> None:
        super().__init__(*values, **named)


class AlikeProfile(ObjectProfile):
    """Compute and communicate alike on all hosts."""

    type = "parallel_homogeneous"
    members: ClassVar[dict[str, Any]] = {"cpu": 0, "com": 0}


class SharedProfile(AlikeProfile):
    """Share an amount of work among the hosts."""

    type = "parallel_homogeneous_total"


class ObjectProfiles:
    """The classes of profiles (`batsim.sched.Profiles`)."""

    Delay = DelayProfile
    Parallel = HostwiseProfile
    ParallelHomogeneous = AlikeProfile
    ParallelHomogeneousTotal = SharedProfile


class DescribedJob:
    """A job to submit (`batsim.sched.JobDescription`)."""

    def __init__(
        self,
        res: int,
        walltime: float,
        profile: ObjectProfile,
        subtime: float | None = None,
        id: int | None = None,
    ) -> None:
        self.res = res
        self.walltime = walltime
        self.profile = profile
        self.subtime = subtime
        #: A number; once it is in a workload, the id of the job.
        self.id: Any = id
        self.workload: Any = None
        self.submitted = False
        #: The job, once Batsim has submitted it.
        self.job: Any = None

    def submit(self, scheduler: Any) -> None:
        """Register the job, and its profile unless it is registered."""
        check(not self.submitted, f"{self.id} was submitted")
        check(self.workload is not None and self.workload.name, "a job needs a workload with a name")
        name, profile = self.workload.name, self.profile.to_dict()
        batsim = scheduler._batsim
        if batsim.profiles.get(name, {}).get(self.profile.name) != profile:
            batsim.register_profiles(name, {self.profile.name: profile})
        batsim.register_job(str(self.id), self.res, self.walltime, self.profile.name, self.subtime)
        self.submitted = True
        scheduler.workload_map.setdefault(name, self.workload)


class DescribedWorkload:
    """Jobs to submit (`batsim.sched.WorkloadDescription`)."""

    def __init__(self, name: str | None = None, **members: Any) -> None:
        self.name = name
        self.jobs: list[DescribedJob] = []
        self._next = 0
        self._ids: dict[str, DescribedJob] = {}
        vars(self).update(members)

    def new_job(self, *args: Any, **kwargs: Any) -> DescribedJob:
        """Describe one more job: the arguments of `DescribedJob`."""
        job = DescribedJob(*args, **kwargs)
        self.add_job(job)
        return job

    def add_job(self, job: DescribedJob) -> None:
        """Add a job; its number is the next one unless it has one."""
        check(job.workload is None, "the job has a workload")
        if job.id is None or job.id < self._next:
            job.id = self._next
            self._next += 1
        elif job.id > self._next:
            self._next = job.id + 1
        job.workload, job.id = self, f"{self.name}!{job.id}"
        self.jobs.append(job)
        self._ids[job.id] = job

    @property
    def unsubmitted_jobs(self) -> list[DescribedJob]:
        """Jobs that were not submitted."""
        return [job for job in self.jobs if not job.submitted]

    @property
    def submitted_jobs(self) -> list[DescribedJob]:
        """Jobs that were submitted."""
        return [job for job in self.jobs if job.submitted]

    @property
    def acknowledged_jobs(self) -> list[DescribedJob]:
        """Jobs that Batsim has submitted to the scheduler."""
        return [job for job in self.jobs if job.job is not None]

    def prepare(self) -> None:
        """Let equal profiles be one, and name those without a name after their type."""
        known = {profile: profile for profile in reversed([job.profile for job in self.jobs])}
        names, number = {profile.name for profile in known}, 0
        for job in self.unsubmitted_jobs:
            job.profile = known[job.profile]
            while job.profile.name is None:
                name = f"{job.profile.type}_profile_{number}"
                number += 1
                if name not in names:
                    names.add(name)
                    job.profile.name = name

    def submit(self, scheduler: Any, prepare: bool = True) -> None:
        """Register all jobs that were not."""
        if prepare:
            self.prepare()
        for job in self.unsubmitted_jobs:
            job.submit(scheduler)

    def __getitem__(self, job_id: str) -> DescribedJob:
        return self._ids[job_id]
