"""A workload: the jobs that will be submitted and the profiles they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Final

from batsched_py.model.job import Job
from batsched_py.model.packed_jobs import PackedJobs
from batsched_py.model.profile import Profile
from batsched_py.text.representation import Brief

#: Much faster than a generator over the jobs, each of which is asked three times before a run.
_PROFILE_AND_SIZE: Final[Callable[[Job], tuple[str, int]]] = attrgetter("profile", "size")


class Workload(Brief, frozen=True):
    """Jobs in order of submission (then of name) and profiles by name.

    Attributes:
        source: where it was read from, or what made it; goes into messages.
        host_count: `nb_res` of the file, the hosts of the machine it was made for; 0 if unknown.
        jobs: with plain names as ids ("12", not "w0!12"): the simulator gives the workload its name.
        profiles: each one a job of this workload may name.
        description: of the file, if it has one: where the workload is from.
        log_start: the date, with an offset, at which the clock of its submission times was at 0; None if unknown.
        notes: lines on what the file says and is not obeyed.
        protocol: "v5" if the file is written for Batsim 5, whose profiles of one name may mean something else.
    """

    source: str
    host_count: int
    jobs: Sequence[Job]
    profiles: Mapping[str, Profile]
    description: str = ""
    log_start: datetime | None = None
    notes: tuple[str, ...] = ()
    protocol: str = "v4"

    def submissions(self) -> Sequence[float]:
        """Return when each job is submitted, in their order."""
        jobs = self.jobs
        return jobs.submit_times if isinstance(jobs, PackedJobs) else [job.submit_time for job in jobs]

    def requests(self) -> Iterator[tuple[str, int]]:
        """Iterate over (profile, size) of each job, in their order."""
        jobs = self.jobs
        if isinstance(jobs, PackedJobs):
            return zip(jobs.profiles, jobs.sizes, strict=True)
        return map(_PROFILE_AND_SIZE, jobs)
