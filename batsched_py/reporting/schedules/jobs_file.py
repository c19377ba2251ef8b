"""Batsim's jobs file read back: a record of each job, from the columns of Batsim 1.4 to 4.2 and from our own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from reprlib import repr as shown
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from batsched_py.brief import Brief
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.limits import LIMITS, Limits
from batsched_py.protocol.events import COMPLETED_KILLED, COMPLETED_SUCCESSFULLY, COMPLETED_WALLTIME_REACHED, REJECTED
from batsched_py.reporting.formatting import FINAL_STATES
from batsched_py.reporting.schedules.tabular import Tabular
from batsched_py.simulator.records import JobRecord

#: A jobs file does not hold what else a workload said of a job.
_NO_MEMBERS: Final[Mapping[str, Any]] = MappingProxyType({})

#: Times have six digits after the point: what is closer to a walltime than this has reached it.
_RESOLUTION: Final = 2e-6


class JobsFile(Brief, frozen=True):
    """What a jobs file tells.

    Attributes:
        jobs: in the file's order.
        stretches: id -> stretch as it is written, of the jobs that ran: of a job that lasts microseconds, rounded times
            do not give it again. Infinite if the run took no time.
    """

    jobs: tuple[JobRecord, ...]
    stretches: Mapping[str, float]


class _Columns(Struct, frozen=True):
    """Where a file has what; None for columns that not all versions of Batsim write."""

    name: int
    workload: int
    profile: int | None
    submit: int
    size: int
    walltime: int
    success: int
    state: int | None
    start: int
    finish: int
    stretch: int
    hosts: int
    energy: int | None
    metadata: int | None


def read_jobs(path: Path, *, limits: Limits = LIMITS) -> JobsFile:
    """Read a `_jobs.csv`; InputError names the file, the line, the column and the rule.

    Columns may stand in any order, and others beside them. Versions of Batsim without `final_state` tell only of
    success: what failed has reached its walltime if it ran so long, and else was killed. A row without a starting time
    is a rejected job. What such a file does not hold is `members`, which is empty, and the return code, which is 0 or
    -1.
    """
    table = Tabular(path, limits)
    columns = _find_columns(table)
    reader = _RowReader(table, columns)
    jobs = tuple(reader.record(row) for row in table.rows())
    return JobsFile(jobs, reader.stretches)


def _find_columns(table: Tabular) -> _Columns:
    return _Columns(
        name=table.column("job_id"),
        workload=table.column("workload_name"),
        profile=table.optional_column("profile"),
        submit=table.column("submission_time"),
        size=table.column("requested_number_of_resources", "requested_number_of_processors"),
        walltime=table.column("requested_time"),
        success=table.column("success"),
        state=table.optional_column("final_state"),
        start=table.column("starting_time"),
        finish=table.column("finish_time"),
        stretch=table.column("stretch"),
        hosts=table.column("allocated_resources", "allocated_processors"),
        energy=table.optional_column("consumed_energy"),
        metadata=table.optional_column("metadata"),
    )


class _RowReader:
    """Makes records of rows."""

    def __init__(self, table: Tabular, columns: _Columns) -> None:
        self._table, self._columns = table, columns
        #: Job id -> stretch, of the jobs that ran.
        self.stretches: dict[str, float] = {}
        #: Job id -> the line that tells of it.
        self._lines: dict[str, int] = {}

    def record(self, row: list[str]) -> JobRecord:
        """What a row tells."""
        table, columns = self._table, self._columns
        job = self._job(row)
        before = self._lines.setdefault(job.id, table.line)
        if len(self._lines) > table.limits.jobs:
            raise table.error(table.limits.rule("jobs"))
        if before != table.line:
            raise table.error(f"tells of {shown(job.id)}, as line {before} does, too", column=columns.name)
        state = "" if columns.state is None else row[columns.state]
        if columns.state is not None and state not in FINAL_STATES:
            raise table.error(f"must be one of {', '.join(FINAL_STATES)}, not {shown(state)}", column=columns.state)
        metadata = "" if columns.metadata is None else row[columns.metadata]
        if not row[columns.start] or state == REJECTED:
            return JobRecord(job, REJECTED, -1, 0.0, 0.0, HostSet(), metadata=metadata)
        start, finish = table.number(row, columns.start), table.number(row, columns.finish)
        if finish < start:
            raise table.error(f"must not be before the start, as {row[columns.finish]} is", column=columns.finish)
        self.stretches[job.id] = table.number_or_inf(row, columns.stretch)
        energy = -1.0 if columns.energy is None else table.number(row, columns.energy)
        state = state or self._old_state(row, finish - start, job.walltime)
        code = 0 if state == COMPLETED_SUCCESSFULLY else -1
        return JobRecord(job, state, code, start, finish, table.hosts(row, columns.hosts), energy, metadata)

    def _job(self, row: list[str]) -> Job:
        table, columns = self._table, self._columns
        walltime = table.number(row, columns.walltime)
        return Job(
            f"{row[columns.workload]}!{row[columns.name]}",
            table.number(row, columns.submit),
            table.count(row, columns.size),
            walltime if walltime >= 0 else None,
            "" if columns.profile is None else row[columns.profile],
            _NO_MEMBERS,
        )

    def _old_state(self, row: list[str], execution: float, walltime: float | None) -> str:
        success = row[self._columns.success]
        if success not in ("0", "1"):
            raise self._table.error(f"must be 0 or 1, not {shown(success)}", column=self._columns.success)
        if success == "1":
            return COMPLETED_SUCCESSFULLY
        reached = walltime is not None and execution >= walltime - _RESOLUTION
        return COMPLETED_WALLTIME_REACHED if reached else COMPLETED_KILLED
