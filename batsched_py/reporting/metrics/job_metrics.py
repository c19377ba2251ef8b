"""The metrics of each job, and the rows in which `metrics --per-job` writes them beside Batsim's columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from batsched_py.bits import count_runs
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND, bounded_slowdown
from batsched_py.reporting.schedules.members import due_time, is_met, user_of
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.simulator.outputs.result_files import JOBS_HEADER
from batsched_py.simulator.records import JobRecord

#: The columns of Batsim's jobs file, under its names, then those of our own metrics.
COLUMNS: Final = (
    *JOBS_HEADER.split(","),
    "allocated_number_of_resources",
    "bounded_slowdown",
    "per_processor_slowdown",
    "per_processor_bounded_slowdown",
    "pieces",
    "user",
    "deadline",
    "deadline_met",
    "contention_slowdown",
)


class JobMetrics(Struct, frozen=True):
    """The metrics of a job. docs/metrics.md defines each; those of a rejected job are None.

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
        user: its owner; None if that is not known.
        due: its deadline, or the instant of its reservation; None if it has neither.
        met: whether it was in time; None if it has no `due`. False if it was rejected.
        contention_slowdown: run / the time in which it would have done the same without others on its links and hosts;
            None if that is not known, or if it would have taken no time.
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
    contention_slowdown: float | None = None


def measure_jobs(schedule: Schedule, tau: float = SLOWDOWN_BOUND) -> list[JobMetrics]:
    """Return the metrics of each job, in the schedule's order; WorkloadError if a deadline breaks its rule."""
    return [_measure(schedule, record, tau) for record in schedule.jobs]


def job_rows(jobs: Iterable[JobMetrics]) -> Iterator[Sequence[str]]:
    """Yield the cells of each job, as many as COLUMNS; numbers are written as Batsim does, unknown ones are empty."""
    for metrics in jobs:
        yield (*_batsim_cells(metrics), *_own_cells(metrics))


def job_columns(jobs: Sequence[JobMetrics]) -> dict[str, list[Any]]:
    """Return COLUMNS as values of Python, for data frames: None where a value is unknown or has no meaning."""
    return {name: [value(job) for job in jobs] for name, value in _VALUES.items()}


def _measure(schedule: Schedule, record: JobRecord, tau: float) -> JobMetrics:
    job, size, user = record.job, schedule.size(record), user_of(record.job)
    due = due_time(job)
    met = None if due is None else is_met(record)
    if record.rejected:
        return JobMetrics(record, 0, user=user, due=due, met=met)
    stretch, wait, run = schedule.stretch(record), record.waiting, record.execution
    slowdown = stretch if math.isfinite(stretch) else None
    share = max(size, 1)
    hosts = record.hosts.bits
    return JobMetrics(
        record,
        size,
        wait=wait,
        turnaround=record.turnaround,
        slowdown=slowdown,
        bounded_slowdown=bounded_slowdown(wait, run, tau),
        per_processor_slowdown=None if slowdown is None else max(1.0, slowdown / share),
        per_processor_bounded_slowdown=max(1.0, (wait + run) / (share * max(run, tau))),
        pieces=count_runs(hosts & ((1 << schedule.hosts) - 1)) if hosts else None,
        user=user,
        due=due,
        met=met,
        contention_slowdown=_contention_slowdown(schedule, record),
    )


def _contention_slowdown(schedule: Schedule, record: JobRecord) -> float | None:
    if schedule.alone is None:
        return None
    alone = schedule.alone.get(record.job.id)
    if alone is None:
        return 1.0
    return record.execution / alone if alone > 0 else None


def _batsim_cells(metrics: JobMetrics) -> Sequence[str]:
    record, job = metrics.record, metrics.record.job
    walltime = -1.0 if job.walltime is None else job.walltime
    asked = (job.name, job.workload, job.profile, _real(job.submit_time), str(job.size), _real(walltime))
    state = (str(int(record.success)), record.state)
    if record.rejected:
        return (*asked, *state, *[""] * 8, record.metadata)
    times = (record.start, record.execution, record.finish, metrics.wait, metrics.turnaround, metrics.slowdown)
    return (*asked, *state, *map(_real, times), str(record.hosts), _real(record.energy), record.metadata)


def _own_cells(metrics: JobMetrics) -> Sequence[str]:
    return (
        "" if metrics.record.rejected else str(metrics.size),
        _real(metrics.bounded_slowdown),
        _real(metrics.per_processor_slowdown),
        _real(metrics.per_processor_bounded_slowdown),
        "" if metrics.pieces is None else str(metrics.pieces),
        metrics.user or "",
        _real(metrics.due),
        "" if metrics.met is None else str(int(metrics.met)),
        _real(metrics.contention_slowdown),
    )


def _of_run(value: Callable[[JobRecord], Any]) -> Callable[[JobMetrics], Any]:
    """Return what gives a value of jobs that ran, and None of rejected ones."""
    return lambda metrics: None if metrics.record.rejected else value(metrics.record)


#: Each of COLUMNS -> its value in a data frame.
_VALUES: Final[Mapping[str, Callable[[JobMetrics], Any]]] = {
    "job_id": lambda metrics: metrics.record.job.name,
    "workload_name": lambda metrics: metrics.record.job.workload,
    "profile": lambda metrics: metrics.record.job.profile,
    "submission_time": lambda metrics: metrics.record.job.submit_time,
    "requested_number_of_resources": lambda metrics: metrics.record.job.size,
    "requested_time": lambda metrics: metrics.record.job.walltime,
    "success": lambda metrics: metrics.record.success,
    "final_state": lambda metrics: metrics.record.state,
    "starting_time": _of_run(lambda record: record.start),
    "execution_time": _of_run(lambda record: record.execution),
    "finish_time": _of_run(lambda record: record.finish),
    "waiting_time": lambda metrics: metrics.wait,
    "turnaround_time": lambda metrics: metrics.turnaround,
    "stretch": lambda metrics: metrics.slowdown,
    "allocated_resources": _of_run(lambda record: str(record.hosts)),
    "consumed_energy": _of_run(lambda record: None if record.energy < 0 else record.energy),
    "metadata": lambda metrics: metrics.record.metadata,
    "allocated_number_of_resources": lambda metrics: None if metrics.record.rejected else metrics.size,
    "bounded_slowdown": lambda metrics: metrics.bounded_slowdown,
    "per_processor_slowdown": lambda metrics: metrics.per_processor_slowdown,
    "per_processor_bounded_slowdown": lambda metrics: metrics.per_processor_bounded_slowdown,
    "pieces": lambda metrics: metrics.pieces,
    "user": lambda metrics: metrics.user,
    "deadline": lambda metrics: metrics.due,
    "deadline_met": lambda metrics: metrics.met,
    "contention_slowdown": lambda metrics: metrics.contention_slowdown,
}


def _real(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"
