"""A row for each job: Batsim's columns, then ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from batsched_py.reporting.metrics.job_figures import JobFigures
from batsched_py.simulator.outputs.result_files import JOBS_HEADER

#: The columns of Batsim's jobs file, by its names, and what is told beside them.
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
)


def job_rows(jobs: Iterable[JobFigures]) -> Iterator[Sequence[str]]:
    """The cells of each job's row, as many as COLUMNS; numbers are written as Batsim does, what is unknown is empty."""
    for figures in jobs:
        yield (*_batsims(figures), *_ours(figures))


def _batsims(figures: JobFigures) -> Sequence[str]:
    record, job = figures.record, figures.record.job
    walltime = -1.0 if job.walltime is None else job.walltime
    asked = (job.name, job.workload, job.profile, _real(job.submit_time), str(job.size), _real(walltime))
    state = (str(int(record.success)), record.state)
    if record.rejected:
        return (*asked, *state, *[""] * 8, record.metadata)
    times = (record.start, record.execution, record.finish, figures.wait, figures.turnaround, figures.slowdown)
    return (*asked, *state, *map(_real, times), str(record.hosts), _real(record.energy), record.metadata)


def _ours(figures: JobFigures) -> Sequence[str]:
    return (
        "" if figures.record.rejected else str(figures.size),
        _real(figures.bounded_slowdown),
        _real(figures.per_processor_slowdown),
        _real(figures.per_processor_bounded_slowdown),
        "" if figures.pieces is None else str(figures.pieces),
        figures.user or "",
        _real(figures.due),
        "" if figures.met is None else str(int(figures.met)),
    )


def _real(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"
