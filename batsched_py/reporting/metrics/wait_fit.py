"""The fit of a replay to its log: replayed and recorded waits, and the classes of jobs that deviate most."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from batsched_py.errors import InputError, WorkloadError
from batsched_py.model.job import Job
from batsched_py.model.recorded_wait import RECORDED_WAIT, recorded_wait
from batsched_py.model.workload import Workload
from batsched_py.reading.faults import FieldError
from batsched_py.reporting.metrics.breakdown import RUNTIME, SIZE, group_of
from batsched_py.reporting.metrics.job_metrics import JobMetrics, measure_jobs
from batsched_py.reporting.metrics.statistics import mean, quantile
from batsched_py.reporting.schedules.members import USER, group_name, group_value
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.text.display import displayed

#: A replayed wait is near the recorded one if they differ by at most so many seconds, or this share of the recorded.
NEAR_SECONDS: Final = 2.0
NEAR_SHARE: Final = 0.05
#: Members by which jobs are classified if any job has them, besides sizes and run times.
_MEMBERS: Final = (USER, "account", "qos", "partition")


class WaitFigures(Struct, frozen=True):
    """Mean, quantiles and maximum of waits in seconds."""

    mean: float
    median: float
    p90: float
    p95: float
    max: float


class ClassFit(Struct, frozen=True):
    """The jobs of a class; times in seconds.

    Attributes:
        by, group: what the jobs have in common: ("partition", "long"), ("size", "3-4")...
        jobs: number of jobs.
        jobs_share: share of all jobs, from 0 to 1.
        recorded_mean_wait, replayed_mean_wait: means of the waits.
        mean_difference: mean of (replayed - recorded).
        deviation: sum of |replayed - recorded|.
        deviation_share: share of that of all jobs, from 0 to 1; 0 if no job deviates.
        within: number of jobs whose replayed wait is near the recorded one.
    """

    by: str
    group: str
    jobs: int
    jobs_share: float
    recorded_mean_wait: float
    replayed_mean_wait: float
    mean_difference: float
    deviation: float
    deviation_share: float
    within: int

    @property
    def excess(self) -> float:
        """Share of the deviation beyond the share of the jobs: large for a class with more than its part."""
        return self.deviation_share - self.jobs_share


class WaitFit(Struct, frozen=True):
    """The fit of a replay; times in seconds.

    Attributes:
        jobs: number of compared jobs.
        without_record: number of jobs without a recorded wait.
        did_not_run: number of jobs with one that did not run in the replay.
        recorded, replayed: figures of the waits of the compared jobs.
        mean_difference: mean of (replayed - recorded).
        mean_deviation: mean of |replayed - recorded|.
        within: number of jobs whose replayed wait is near the recorded one.
        within_share: the same as a share of the compared jobs.
        classes: all classes, the one with the largest excess first.
    """

    jobs: int
    without_record: int
    did_not_run: int
    recorded: WaitFigures
    replayed: WaitFigures
    mean_difference: float
    mean_deviation: float
    within: int
    within_share: float
    classes: tuple[ClassFit, ...]

    @property
    def deviating(self) -> list[ClassFit]:
        """The classes with more than their part of the deviation."""
        return [one for one in self.classes if one.excess > 0]


class _Pair(NamedTuple):
    job: JobMetrics
    recorded: float
    replayed: float

    @property
    def difference(self) -> float:
        return self.replayed - self.recorded

    @property
    def is_near(self) -> bool:
        return abs(self.difference) <= max(NEAR_SECONDS, NEAR_SHARE * self.recorded)


def fit_waits(schedule: Schedule) -> WaitFit:
    """Compare the waits of a replay with those in the member `recorded_wait` of its jobs.

    WorkloadError for a wrong member, InputError if no job that ran has one.
    """
    jobs = measure_jobs(schedule)
    known = [(job, wait) for job in jobs if (wait := _recorded(job.record.job, schedule.source)) is not None]
    pairs = [_Pair(job, wait, job.wait) for job, wait in known if job.wait is not None]
    if not pairs:
        raise InputError(schedule.source, "", "no job with a recorded wait ran")
    deviation = _deviation(pairs)
    classes = [
        _class_fit(by, group, members, len(pairs), deviation)
        for by in _classified_by(pairs)
        for group, members in _grouped(pairs, by).items()
    ]
    within = sum(pair.is_near for pair in pairs)
    return WaitFit(
        len(pairs),
        len(jobs) - len(known),
        len(known) - len(pairs),
        _figures([pair.recorded for pair in pairs]),
        _figures([pair.replayed for pair in pairs]),
        _mean(pair.difference for pair in pairs),
        deviation / len(pairs),
        within,
        within / len(pairs),
        tuple(sorted(classes, key=lambda one: (-one.excess, one.by, one.group))),
    )


def check_recorded(workload: Workload) -> None:
    """Check that jobs have recorded waits. InputError if none has one, WorkloadError for a wrong one."""
    waits = [_recorded(job, workload.source) for job in workload.jobs]
    if all(wait is None for wait in waits):
        why = f"'convert --recorded-waits' keeps it of a log as the member {RECORDED_WAIT}"
        raise InputError(workload.source, "", f"no job has a recorded wait: {why}")


def _recorded(job: Job, source: str) -> float | None:
    try:
        return recorded_wait(job.members)
    except FieldError as error:
        raise WorkloadError(source, f"job {displayed(job.id)}.{error.path}", error.rule) from None


def _classified_by(pairs: Sequence[_Pair]) -> list[str]:
    """Return what jobs are classified by: members that any of them has, sizes and run times."""
    members = [pair.job.record.job.members for pair in pairs]
    return [name for name in _MEMBERS if any(group_value(each, name) is not None for each in members)] + [SIZE, RUNTIME]


def _grouped(pairs: Iterable[_Pair], by: str) -> dict[str, list[_Pair]]:
    groups: dict[str, list[_Pair]] = {}
    for pair in pairs:
        job = pair.job
        name = group_name(job.record.job.members, by) if by in _MEMBERS else group_of(job, by)
        groups.setdefault(name, []).append(pair)
    return groups


def _class_fit(by: str, group: str, pairs: Sequence[_Pair], jobs: int, total: float) -> ClassFit:
    deviation = _deviation(pairs)
    return ClassFit(
        by,
        group,
        len(pairs),
        len(pairs) / jobs,
        _mean(pair.recorded for pair in pairs),
        _mean(pair.replayed for pair in pairs),
        _mean(pair.difference for pair in pairs),
        deviation,
        deviation / total if total else 0.0,
        sum(pair.is_near for pair in pairs),
    )


def _deviation(pairs: Iterable[_Pair]) -> float:
    return math.fsum(abs(pair.difference) for pair in pairs)


def _mean(values: Iterable[float]) -> float:
    """Return the mean of at least one value."""
    return mean(list(values)) or 0.0


def _figures(waits: Sequence[float]) -> WaitFigures:
    median, p90, p95 = (quantile(waits, share) or 0.0 for share in (0.5, 0.9, 0.95))
    return WaitFigures(_mean(waits), median, p90, p95, max(waits))
