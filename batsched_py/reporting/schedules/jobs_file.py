"""The reader of Batsim's jobs file: a record of each job, from the columns of Batsim 1.4 to 5 and from our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.limits import LIMITS, Limits
from batsched_py.protocol.events import COMPLETED_KILLED, COMPLETED_SUCCESSFULLY, COMPLETED_WALLTIME_REACHED, REJECTED
from batsched_py.reading.notes import Notes
from batsched_py.reporting.formatting import FINAL_STATES
from batsched_py.reporting.schedules.contradictions import FIRST, Contradictions, Kind
from batsched_py.reporting.schedules.row_checks import DERIVED, RowChecks
from batsched_py.reporting.schedules.tabular import Tabular
from batsched_py.results.records import JobRecord
from batsched_py.text.display import shown
from batsched_py.text.representation import Brief

#: Property of a job -> the names of its column in the versions of Batsim.
_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "name": ("job_id",),
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
#: Property -> its column, which not all versions write.
_OPTIONAL: Final[Mapping[str, str]] = {
    "profile": "profile",
    "state": "final_state",
    "energy": "consumed_energy",
    "metadata": "metadata",
    **DERIVED,
}
#: What `metrics --per-job` writes beside Batsim's columns, from which it computes the same again.
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
#: Columns of Batsim 1.4 and of `metrics --per-job` that say nothing else.
_OTHERS: Final = frozenset({"hacky_job_id", *OWN_COLUMNS, "run", "window_begin", "window_end"})
#: A jobs file has no other members of a job.
_NO_MEMBERS: Final[Mapping[str, Any]] = MappingProxyType({})

#: Times have six digits after the point: a run that is closer to its walltime than this has reached it.
_RESOLUTION: Final = 2e-6


class JobsFile(Brief, frozen=True):
    """The content of a jobs file.

    Attributes:
        jobs: in the file's order.
        stretches: id -> stretch as it is written, of the jobs that ran: rounded times cannot reproduce that of a job
            of microseconds. Infinite if the run took no time.
        found: rows that contradict themselves.
        lines: id -> line, if all that is wrong was wanted; empty otherwise.
        notes: a line for each column that is not known.
    """

    jobs: tuple[JobRecord, ...]
    stretches: Mapping[str, float]
    found: Contradictions
    lines: Mapping[str, int] = MappingProxyType({})
    notes: tuple[str, ...] = ()


def read_jobs(path: Path, *, limits: Limits = LIMITS, every: bool = False) -> JobsFile:
    """Read a `_jobs.csv`, in Batsim 5 `jobs.csv`; InputError names the file, the line, the column and the rule.

    With `every`, rows that cannot be used are left out, and all that is wrong is listed. Columns may stand in any
    order, and others beside them, which are told. Versions of Batsim without `final_state` write only
    success: a job that failed has reached its walltime if it ran so long, and else was killed. A row without a starting
    time is a rejected job. Batsim 5 writes the workload before the name of a profile. The file has neither `members`,
    which are empty, nor return codes, which are 0 or -1.
    """
    table, notes = Tabular(path, limits), Notes(path.name)
    found = Contradictions(None if every else FIRST)
    reader = _RowReader(table, found)
    table.tell_unknown("jobs", notes, _OTHERS)
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
    """A reader of rows, which become records."""

    def __init__(self, table: Tabular, found: Contradictions) -> None:
        self._table, self._found = table, found
        #: Property of a job -> position of its column; optional ones may be absent.
        self._at = {name: table.column(*columns) for name, columns in _COLUMNS.items()}
        self._at |= {name: table.column(column) for name, column in _OPTIONAL.items() if column in table.header}
        self._checks = RowChecks(self._at, found)
        #: Job id -> stretch, of the jobs that ran.
        self.stretches: dict[str, float] = {}
        #: Job id -> line of its row.
        self.lines: dict[str, int] = {}

    def record_if_usable(self, row: list[str]) -> JobRecord | None:
        """Return the record of a row; None for one that breaks a rule, which is listed."""
        at, line = self._at, self._table.line
        job_id = f"{row[at['workload']]}!{row[at['name']]}"
        self._check_count()
        if job_id in self.lines:
            self._found.add(Kind.REPEATED, job_id, line, "also line %d", self.lines[job_id])
            return None
        try:
            return self.record(row)
        except _EarlyEndError as error:
            self._found.add(Kind.EARLY_END, job_id, line, "starts at %s, ends at %s", *error.times)
        except InputError as error:
            self._found.add(Kind.CELL, job_id, line, f"{error.field.partition(', ')[2]} {error.rule}")
        return None

    def record(self, row: list[str]) -> JobRecord:
        """Return the record of a row."""
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
        self.stretches[job.id] = table.number_or_inf(row, at["stretch"])
        energy = table.number(row, at["energy"]) if "energy" in at else -1.0
        state = state or self._old_state(row, finish - start, job.walltime)
        code = 0 if state == COMPLETED_SUCCESSFULLY else -1
        record = JobRecord(job, state, code, start, finish, table.hosts(row, at["hosts"]), energy, metadata)
        self._checks.ran(record, row, table.line)
        return record

    def _check_count(self) -> None:
        if len(self.lines) > self._table.limits.jobs:
            raise self._table.error(self._table.limits.rule("jobs"))

    def _text(self, row: list[str], name: str) -> str:
        """Return the text of an optional column; empty if there is none."""
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
        """Return the state of a job in a file of Batsim 1.4, which has no column for it."""
        column = self._at["success"]
        if row[column] not in ("0", "1"):
            raise self._table.error(f"must be 0 or 1, not {shown(row[column])}", column=column)
        if row[column] == "1":
            return COMPLETED_SUCCESSFULLY
        reached = walltime is not None and execution >= walltime - _RESOLUTION
        return COMPLETED_WALLTIME_REACHED if reached else COMPLETED_KILLED
