"""The figures of each job."""

from __future__ import annotations

import math

from msgspec import Struct

from batsched_py.bits import bit_runs
from batsched_py.reporting.metrics.metrics import SLOWDOWN_BOUND, bounded_slowdown
from batsched_py.reporting.schedules.members import due_time, is_met, user_of
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.simulator.records import JobRecord


class JobFigures(Struct, frozen=True):
    """What a job was like. docs/metrics.md defines each figure; those of a job that was rejected are None.

    Attributes:
        record: how it ended.
        size: number of compute hosts it had.
        wait: start - submission.
        turnaround: finish - submission.
        slowdown: turnaround / run: Batsim's stretch. None if the run took no time.
        bounded_slowdown: with runs of less than tau counting as tau, and at least 1.
        per_processor_slowdown: turnaround / (size x run), and at least 1. None if the run took no time.
        per_processor_bounded_slowdown: the same with the bound.
        pieces: maximal runs of consecutive hosts; None if its hosts are not known.
        user: whose it is; None if nobody says.
        due: when it had to be done; None if it could wait.
        met: whether it was in time; None if it could wait. False if it was rejected.
    """

    record: JobRecord
    size: int
    wait: float | None = None
    turnaround: float | None = None
    slowdown: float | None = None
    bounded_slowdown: float | None = None
    per_processor_slowdown: float | None = None
    per_processor_bounded_slowdown: float | None = None
    pieces: int | None = None
    user: str | None = None
    due: float | None = None
    met: bool | None = None


def job_figures(schedule: Schedule, tau: float = SLOWDOWN_BOUND) -> list[JobFigures]:
    """The figures of each job, in the schedule's order; WorkloadError if a deadline breaks its rule."""
    return [_figures(schedule, record, tau) for record in schedule.jobs]


def _figures(schedule: Schedule, record: JobRecord, tau: float) -> JobFigures:
    job, size = record.job, schedule.size(record)
    due = due_time(job)
    met = None if due is None else is_met(record)
    if record.rejected:
        return JobFigures(record, 0, user=user_of(job), due=due, met=met)
    stretch, wait, run = schedule.stretch(record), record.waiting, record.execution
    slowdown = stretch if math.isfinite(stretch) else None
    bounded = bounded_slowdown(wait, run, tau)
    share = max(size, 1)
    compute = record.hosts.bits & ((1 << schedule.hosts) - 1)
    return JobFigures(
        record,
        size,
        wait=wait,
        turnaround=record.turnaround,
        slowdown=slowdown,
        bounded_slowdown=bounded,
        per_processor_slowdown=None if slowdown is None else max(1.0, slowdown / share),
        per_processor_bounded_slowdown=max(1.0, (wait + run) / (share * max(run, tau))),
        pieces=sum(1 for _ in bit_runs(compute)) if record.hosts else None,
        user=user_of(job),
        due=due,
        met=met,
    )
