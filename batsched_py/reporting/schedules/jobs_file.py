"""The reader of Batsim's jobs file, in the versions of Batsim 1.4 to 5 and of batsched-py: a record of each job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.protocol.events import (
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    COMPLETED_WALLTIME_REACHED,
    FINAL_STATES,
    REJECTED,
)
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reading.notes import Notes
from batsched_py.reporting.schedules.contradictions import FIRST, ContradictionKind, Contradictions
from batsched_py.reporting.schedules.row_checks import DERIVED, RowChecks
from batsched_py.reporting.schedules.tabular import Tabular
from batsched_py.results.records import JobRecord
from batsched_py.text.display import shown
from batsched_py.text.representation import Brief

#: Property of a job -> the names of its column in all versions of Batsim, and in files of evalys.
_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "name": ("job_id", "jobID"),
    "workload": ("workload_name",),
    "submit": ("submission_time",),
    "size": ("requested_number_of_resources", "requested_number_of_processors"),
    "walltime": ("requested_time",),
    "success": ("success",),
    "start": ("starting_time",),
    "finish": ("finish_time",),
    "stretch": ("stretch",),
    "hosts": ("allocated_resources", "allocated_processors"),
}
#: Property -> its column, which some versions do not write.
_OPTIONAL: Final[Mapping[str, str]] = {
    "profile": "profile",
    "state": "final_state",
    "energy": "consumed_energy",
    "metadata": "metadata",
    **DERIVED,
}
#: Columns that `metrics --per-job` adds to Batsim's; they are not read, but computed again.
OWN_COLUMNS: Final = (
    "allocated_number_of_resources",
    "bounded_slowdown",
    "per_processor_slowdown",
    "per_processor_bounded_slowdown",
    "pieces",
    "user",
    "deadline",
    "deadline_met",
    "contention_slowdown",
    "first_job_id",
    "attempt",
)
#: Known columns of Batsim 1.4, of evalys and of `metrics --per-job` that are not needed.
_OTHERS: Final = frozenset({"hacky_job_id", "proc_alloc", *OWN_COLUMNS, "run", "window_begin", "window_end"})
#: The members of jobs, which a jobs file lacks.
_NO_MEMBERS: Final[Mapping[str, Any]] = MappingProxyType({})

#: A run closer to its walltime than this, in seconds, has reached it: times have six decimals.
_RESOLUTION: Final = 2e-6


class JobsFile(Brief, frozen=True):
    """The content of a jobs file.

    Attributes:
        jobs: the jobs in the order of the file.
        stretches: id -> stretch as in the file, for jobs that ran, if it is not exactly that of their times; rounded
            times cannot reproduce that of a job of microseconds.
        found: rows that contradict themselves.
        lines: id -> line, if all errors are collected; else empty.
        notes: a line for each unknown column.
    """

    jobs: tuple[JobRecord, ...]
    stretches: Mapping[str, float]
    found: Contradictions
    lines: Mapping[str, int] = MappingProxyType({})
    notes: tuple[str, ...] = ()


def read_jobs(path: Path, *, limits: Limits = LIMITS, every: bool = False) -> JobsFile:
    """Read a `_jobs.csv`, in Batsim 5 `jobs.csv`; InputError names the file, the line, the column and the rule.

    With `every`, invalid rows are skipped, and all errors are listed in `found`. Columns may be in any order; unknown
    ones are noted. Versions of Batsim without `final_state` write only success: a failed job that ran for its walltime
    has reached it, any other was killed. A row without a starting time is a rejected job. Batsim 5 prefixes profiles
    with the workload. The file has no `members`, which are empty, and no return codes, which are 0 or -1.
    """
    table, notes = Tabular(path, limits), Notes(path.name)
    found = Contradictions(None if every else FIRST)
    reader = _RowReader(table, found)
    table.report_unknown("jobs", notes, _OTHERS)
    if every:
        jobs = tuple(record for row in table.rows() if (record := reader.record_if_usable(row)) is not None)
        return JobsFile(jobs, reader.stretches, found, reader.lines, notes.lines())
    return JobsFile(tuple(map(reader.record, table.rows())), reader.stretches, found, notes=notes.lines())


class _EarlyEndError(InputError):
    """A job ends before it starts."""

    def __init__(self, table: Tabular, row: Sequence[str], at: Mapping[str, int]) -> None:
        self.times = row[at["start"]], row[at["finish"]]
        error = table.error(f"must not be before the start, as {shown(self.times[1])} is", column=at["finish"])
        super().__init__(error.file, error.field, error.rule)


class _RowReader:
    """A reader that converts rows to records."""

    def __init__(self, table: Tabular, found: Contradictions) -> None:
        self._table, self._found = table, found
        #: Property of a job -> index of its column; optional ones may be missing.
        self._at = {name: table.column(*columns) for name, columns in _COLUMNS.items()}
        self._at |= {name: table.column(column) for name, column in _OPTIONAL.items() if column in table.header}
        self._checks = RowChecks(self._at, found)
        #: Job id -> stretch, of jobs that ran, if it is not exactly that of their times.
        self.stretches: dict[str, float] = {}
        #: Job id -> line of its row.
        self.lines: dict[str, int] = {}

    def record_if_usable(self, row: list[str]) -> JobRecord | None:
        """Return the record of a row; None for an invalid one, which is listed."""
        at, line = self._at, self._table.line
        job_id = f"{row[at['workload']]}!{row[at['name']]}"
        self._check_count()
        if job_id in self.lines:
            self._found.add(ContradictionKind.REPEATED, job_id, line, "also line %d", self.lines[job_id])
            return None
        try:
            return self.record(row)
        except _EarlyEndError as error:
            self._found.add(ContradictionKind.EARLY_END, job_id, line, "starts at %s, ends at %s", *error.times)
        except InputError as error:
            self._found.add(ContradictionKind.CELL, job_id, line, f"{error.field.partition(', ')[2]} {error.rule}")
        return None

    def record(self, row: list[str]) -> JobRecord:
        """Return the record of a row. InputError."""
        table, at = self._table, self._at
        job = self._job(row)
        before = self.lines.setdefault(job.id, table.line)
        self._check_count()
        if before != table.line:
            raise table.error(f"repeats {shown(job.id)} of line {before}", column=at["name"])
        state, metadata = self._text(row, "state"), self._text(row, "metadata")
        if "state" in at and state not in FINAL_STATES:
            raise table.error(f"must be one of {', '.join(FINAL_STATES)}, not {shown(state)}", column=at["state"])
        if not row[at["start"]] or state == REJECTED:
            rejected = JobRecord(job, REJECTED, -1, 0.0, 0.0, HostSet(), metadata=metadata)
            self._checks.rejected(rejected, row, table.line)
            return rejected
        start, finish = table.number(row, at["start"]), table.number(row, at["finish"])
        if finish < start:
            raise _EarlyEndError(table, row, at)
        stretch = table.number_or_inf(row, at["stretch"])
        energy = table.number(row, at["energy"]) if "energy" in at else -1.0
        state = state or self._old_state(row, finish - start, job.walltime)
        code = 0 if state == COMPLETED_SUCCESSFULLY else -1
        record = JobRecord(job, state, code, start, finish, table.hosts(row, at["hosts"]), energy, metadata)
        if stretch != record.stretch:
            self.stretches[job.id] = stretch
        self._checks.ran(record, row, table.line)
        return record

    def _check_count(self) -> None:
        if len(self.lines) > self._table.limits.jobs:
            raise self._table.error(self._table.limits.rule("jobs"))

    def _text(self, row: list[str], name: str) -> str:
        """Return the text in an optional column; empty if it is missing."""
        return row[self._at[name]] if name in self._at else ""

    def _job(self, row: list[str]) -> Job:
        table, at = self._table, self._at
        walltime = table.number(row, at["walltime"])
        return Job(
            f"{row[at['workload']]}!{row[at['name']]}",
            table.number(row, at["submit"]),
            table.count(row, at["size"]),
            walltime if walltime >= 0 else None,
            self._text(row, "profile").removeprefix(f"{row[at['workload']]}!"),
            _NO_MEMBERS,
        )

    def _old_state(self, row: list[str], execution: float, walltime: float | None) -> str:
        """Return the state of a job in a file of Batsim 1.4, which lacks this column."""
        column = self._at["success"]
        if row[column] not in ("0", "1"):
            raise self._table.error(f"must be 0 or 1, not {shown(row[column])}", column=column)
        if row[column] == "1":
            return COMPLETED_SUCCESSFULLY
        reached = walltime is not None and execution >= walltime - _RESOLUTION
        return COMPLETED_WALLTIME_REACHED if reached else COMPLETED_KILLED
