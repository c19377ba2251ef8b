"""The metrics of each job, and the rows of `metrics --per-job`, with Batsim's columns first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.bits import count_runs
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND, bounded_slowdown
from batsched_py.reporting.schedules.attempts import JobAttempts
from batsched_py.reporting.schedules.jobs_file import OWN_COLUMNS
from batsched_py.reporting.schedules.members import due_time, is_met
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.records import JobRecord
from batsched_py.results.result_files import JOBS_HEADER

#: The columns of Batsim's jobs file, then those of batsched-py's metrics.
COLUMNS: Final = (*JOBS_HEADER.split(","), *OWN_COLUMNS)


class JobMetrics(Struct, frozen=True, gc=False):
    """The metrics of a job. docs/metrics.md defines each; those of a rejected job are None.

    Attributes:
        record: the record of the job.
        size: the number of its compute hosts.
        wait: start - submission.
        turnaround: finish - submission.
        slowdown: turnaround / run: Batsim's stretch. None if the run took no time.
        bounded_slowdown: the slowdown with runs shorter than tau counted as tau, at least 1.
        per_processor_slowdown: turnaround / (size x run), at least 1. None if the run took no time.
        per_processor_bounded_slowdown: the same with the bound.
        pieces: the number of maximal runs of consecutive hosts; None if its hosts are unknown.
        user: its owner; None if unknown.
        due: its deadline, or the start of its reservation; None if it has neither.
        met: whether it was in time, False if it was rejected; None if it has no `due`.
        attempts: how often it ran; 0 if it was rejected at once.
        contention_slowdown: run / the run time without other jobs on its links and hosts; None if unknown or undefined.
        kept: seconds of the attempts whose work was kept; None if it had only one attempt.
        held: host seconds of all attempts and overheads; None if it had only one attempt without overheads.
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
    attempts: int = 1
    kept: float | None = None
    held: float | None = None

    @property
    def run(self) -> float:
        """The run time in seconds, without lost attempts; 0 if it was rejected."""
        return self.record.execution if self.kept is None else self.kept

    @property
    def host_time(self) -> float:
        """The allocated host seconds, including those of lost attempts."""
        return self.size * self.record.execution if self.held is None else self.held


def measure_jobs(schedule: Schedule, tau: float = SLOWDOWN_BOUND) -> list[JobMetrics]:
    """Return the metrics of each job, in the order of the schedule; WorkloadError if a deadline is invalid.

    The record of a job with several attempts is the last one, with the first submission and the first start.
    """
    again = schedule.attempts
    if not again.firsts:
        return measure_attempts(schedule, tau)
    return [
        _whole(schedule, again.jobs[record.job.id], tau)
        if record.job.id in again.jobs
        else _measure(schedule, record, tau)
        for record in schedule.jobs
        if record.job.id not in again.firsts
    ]


def measure_attempts(schedule: Schedule, tau: float = SLOWDOWN_BOUND) -> list[JobMetrics]:
    """Return the metrics of each attempt as if it were a job, in the order of the schedule. WorkloadError."""
    return [_measure(schedule, record, tau) for record in schedule.jobs]


def job_rows(schedule: Schedule, tau: float = SLOWDOWN_BOUND) -> Iterator[Sequence[str]]:
    """Yield the cells of each attempt in the order of COLUMNS; numbers in Batsim's format, unknown ones empty.

    WorkloadError if a deadline is invalid.
    """
    numbers = _attempt_numbers(schedule)
    for record in schedule.jobs:
        metrics = _measure(schedule, record, tau)
        first, number = numbers.get(record.job.id, (record.job.id, 1))
        yield (*_batsim_cells(metrics), *_metric_cells(metrics), first.partition("!")[2], str(number))


def job_columns(schedule: Schedule, tau: float = SLOWDOWN_BOUND) -> dict[str, list[Any]]:
    """Return name -> values of each of COLUMNS, for data frames; None if a value is unknown or undefined.

    WorkloadError if a deadline is invalid.
    """
    jobs, numbers = measure_attempts(schedule, tau), _attempt_numbers(schedule)
    found = [numbers.get(record.job.id, (record.job.id, 1)) for record in schedule.jobs]
    return {
        **{name: [value(job) for job in jobs] for name, value in _VALUES.items()},
        "first_job_id": [first.partition("!")[2] for first, _ in found],
        "attempt": [number for _, number in found],
    }


def _attempt_numbers(schedule: Schedule) -> dict[str, tuple[str, int]]:
    """Return id -> id of the first attempt and number from 1 (0 for overheads), for jobs with several attempts."""
    jobs = schedule.attempts.jobs
    numbers = {one.job_id: (first, 0) for first, job in jobs.items() for one in job.overheads}
    for first, job in jobs.items():
        numbers |= {one.job_id: (first, number) for number, one in enumerate(job.attempts, 1)}
    return numbers


def _measure(schedule: Schedule, record: JobRecord, tau: float) -> JobMetrics:
    job, size, user = record.job, schedule.size(record), record.job.user
    due = due_time(job)
    met = None if due is None else is_met(record)
    if record.rejected:
        return JobMetrics(record, 0, user=user, due=due, met=met, attempts=0)
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


def _whole(schedule: Schedule, job: JobAttempts, tau: float) -> JobMetrics:
    """Return the metrics of a job with several attempts: those of the last one, but from the first submission on."""
    first, last = schedule.jobs[job.first.row], schedule.jobs[job.last.row]
    records = [schedule.jobs[one.row] for one in job.attempts]
    attempts = sum(not record.rejected for record in records)
    measured = _measure(schedule, replace(last, job=replace(last.job, members=first.job.members)), tau)
    if last.rejected:
        return replace(measured, record=replace(last, job=first.job), attempts=attempts, kept=0.0, held=job.host_time)
    if len(records) == 1:
        return replace(measured, held=job.host_time)
    energies = [record.energy for record in records if not record.rejected]
    energy = math.fsum(energies) if min(energies) >= 0 else -1.0
    whole = replace(last, job=first.job, start=first.start, energy=energy)
    wait, turnaround, run = whole.waiting, whole.turnaround, job.run
    slowdown, share = turnaround / run if run > 0 else None, max(measured.size, 1)
    return replace(
        measured,
        record=whole,
        wait=wait,
        turnaround=turnaround,
        slowdown=slowdown,
        bounded_slowdown=bounded_slowdown(turnaround - run, run, tau),
        per_processor_slowdown=None if slowdown is None else max(1.0, slowdown / share),
        per_processor_bounded_slowdown=max(1.0, turnaround / (share * max(run, tau))),
        due=due_time(first.job),
        met=None if due_time(first.job) is None else is_met(whole),
        attempts=attempts,
        kept=run,
        held=job.host_time,
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


def _metric_cells(metrics: JobMetrics) -> Sequence[str]:
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
    """Return a function that returns a value of jobs that ran, and None for rejected ones."""
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
