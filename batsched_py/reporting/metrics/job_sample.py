"""The waits of a run's jobs in columns, with their groups, small enough to be kept for each run of a study."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern

from batsched_py.errors import InputError
from batsched_py.model.workload import Workload
from batsched_py.reporting.metrics.breakdown import RUNTIME, SIZE, size_class
from batsched_py.reporting.metrics.job_metrics import measure_jobs
from batsched_py.reporting.schedules.members import IN_SLURM, group_name, group_value
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.text.display import displayed, shown
from batsched_py.text.representation import Brief
from batsched_py.text.wording import unknown


class JobSample(Brief, frozen=True):
    """The jobs of one run; the columns have an element for each job, numbers as C doubles.

    Attributes:
        ids: ids of the first attempts.
        waits: seconds; NaN for jobs that were rejected.
        slowdowns: bounded slowdowns; NaN for jobs that were rejected.
        held: allocated host seconds.
        groups: what jobs are grouped by -> the name of each job's group.
    """

    ids: tuple[str, ...]
    waits: bytes
    slowdowns: bytes
    held: bytes
    groups: Mapping[str, tuple[str, ...]]

    @property
    def times(self) -> Iterator[tuple[float, float]]:
        """Wait and bounded slowdown of each job."""
        return zip(_doubles(self.waits), _doubles(self.slowdowns), strict=True)

    @property
    def host_times(self) -> memoryview[float]:
        """Allocated host seconds of each job."""
        return _doubles(self.held)


def _doubles(content: bytes) -> memoryview[float]:
    return memoryview(content).cast("d")


def _packed(values: Iterable[float | None]) -> bytes:
    return array("d", (math.nan if value is None else value for value in values)).tobytes()


def sample_jobs(schedule: Schedule, by: Iterable[str]) -> JobSample:
    """Return the waits of the schedule's jobs, and their groups by SIZE or members. WorkloadError for a deadline."""
    jobs = measure_jobs(schedule)
    return JobSample(
        tuple(job.record.job.id for job in jobs),
        _packed(job.wait for job in jobs),
        _packed(job.bounded_slowdown for job in jobs),
        _packed(job.host_time for job in jobs),
        {
            name: tuple(
                size_class(job.record.job.size) if name == SIZE else intern(group_name(job.record.job.members, name))
                for job in jobs
            )
            for name in by
        },
    )


def check_groups(workload: Workload, by: Sequence[str]) -> None:
    """Check that the jobs of a workload can be grouped, before they run. InputError if none has the member."""
    for name in by:
        if name == SIZE:
            continue
        if name == RUNTIME:
            raise InputError(workload.source, "", "run times depend on the algorithm: group jobs by size or a member")
        if all(group_value(job.members, name) is None for job in workload.jobs):
            raise InputError(workload.source, "", _lacking(workload, name))


def _lacking(workload: Workload, name: str) -> str:
    """Return the rule for a workload whose jobs have no such member."""
    if name in IN_SLURM:
        return f"no job has {name}, also not in its member slurm: 'convert --slurm-members' keeps it of sacct's output"
    known = {key for job in workload.jobs for key in job.members}
    return f"no job has a member {shown(name)}: {unknown(name, [SIZE, *map(displayed, sorted(known))])}"
