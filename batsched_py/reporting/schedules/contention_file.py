"""The reader of `_contention.csv`: the jobs of a run that other jobs slowed down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reading.notes import Notes
from batsched_py.reporting.schedules.tabular import Tabular
from batsched_py.results.records import JobRecord, SlowedJob
from batsched_py.results.result_files import CONTENTION_HEADER

#: The rounding error of durations in seconds: times, starts and ends of jobs have six decimals.
_RESOLUTION: Final = 3e-6


def read_contention(path: Path, *, limits: Limits = LIMITS, notes: Notes | None = None) -> tuple[SlowedJob, ...] | None:
    """Read the file; None if columns are missing, because another program may use this file name. InputError.

    `notes` receives a line for each unknown column.
    """
    table = Tabular(path, limits)
    names = CONTENTION_HEADER.split(",")
    if not set(names) <= set(table.header):
        return None
    name, workload, execution, alone, _ = map(table.column, names)
    table.report_unknown("slowed jobs", notes)
    return tuple(
        SlowedJob(f"{row[workload]}!{row[name]}", table.number(row, execution), table.number(row, alone))
        for row in table.rows()
    )


def describes(slowed: Sequence[SlowedJob], jobs: Sequence[JobRecord]) -> bool:
    """Return whether all slowed jobs are among the jobs of a run, with the same run times."""
    executions = {record.job.id: record.execution for record in jobs}
    return all(
        abs(executions.get(job.job_id, -1.0) - job.execution) <= _RESOLUTION * max(1.0, job.execution) for job in slowed
    )
