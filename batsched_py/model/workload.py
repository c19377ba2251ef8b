"""A workload: the jobs that will be submitted and the profiles they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Final

from batsched_py.model.feedback import SUBMITTED_AFTER
from batsched_py.model.job import Job
from batsched_py.model.packed_jobs import PackedJobs
from batsched_py.model.profile import ParallelHomogeneousTotal, Profile
from batsched_py.model.workflow import Workflow
from batsched_py.text.representation import Brief

#: Much faster than a generator over the jobs, which are iterated three times before a run.
_PROFILE_AND_SIZE: Final[Callable[[Job], tuple[str, int]]] = attrgetter("profile", "size")


class Workload(Brief, frozen=True):
    """The jobs in order of submission (then of name) and the profiles by name.

    Attributes:
        source: its file, or its generator; for messages.
        host_count: `nb_res` of the file, the number of hosts of its machine; 0 if unknown.
        jobs: jobs with plain names as ids ("12", not "w0!12"): the simulator adds the name of the workload.
        profiles: all profiles that jobs of this workload may name.
        description: description in the file, if any: the origin of the workload.
        log_start: date, with an offset, of second 0 of its submission times; None if unknown.
        notes: a line for each part of the file without effect.
        workflow: tasks that become jobs during a run; then there are no others.
        protocol: "v5" for a file of Batsim 5, in which the same profile may have another meaning.
    """

    source: str
    host_count: int
    jobs: Sequence[Job]
    profiles: Mapping[str, Profile]
    description: str = ""
    log_start: datetime | None = None
    notes: tuple[str, ...] = ()
    protocol: str = "v4"
    workflow: Workflow | None = None

    def submissions(self) -> Sequence[float]:
        """Return the submission time of each job, in order."""
        jobs = self.jobs
        return jobs.submit_times if isinstance(jobs, PackedJobs) else [job.submit_time for job in jobs]

    def requests(self) -> Iterator[tuple[str, int]]:
        """Iterate over (profile, size) of each job, in order."""
        jobs = self.jobs
        if isinstance(jobs, PackedJobs):
            return zip(jobs.profiles, jobs.sizes, strict=True)
        return map(_PROFILE_AND_SIZE, jobs)

    @property
    def has_demands(self) -> bool:
        """True if a job requests parts of hosts."""
        jobs = self.jobs
        return jobs.have_demands if isinstance(jobs, PackedJobs) else any(job.demand is not None for job in jobs)

    @property
    def has_followers(self) -> bool:
        """True if submissions of jobs may follow other jobs."""
        jobs = self.jobs
        if isinstance(jobs, PackedJobs):
            return jobs.mention(SUBMITTED_AFTER)
        return any(SUBMITTED_AFTER in job.members for job in jobs)

    def divided_otherwise(self, protocol: str) -> list[str]:
        """Return the profiles whose total of bytes is divided differently by the Batsim of a protocol.

        Batsim 4 assigns each pair of n hosts 1/n of the total, Batsim 5 1/(n * n - n): the same for up to two hosts.
        """
        if (self.protocol == "v5") == (protocol == "v5") or all(size <= 2 for _, size in self.requests()):
            return []
        totals = (one for one in self.profiles.values() if isinstance(one, ParallelHomogeneousTotal))
        return [profile.name for profile in totals if profile.com > 0]
