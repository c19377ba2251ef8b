"""A reader of the rows of Slurm's accounting: finished jobs become the records of a log.

Rows come from a source with the columns of sacct, whatever the format of its file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.reading.limits import LONGEST, NAME_RULE, TOO_LONG, breaks_csv
from batsched_py.reading.notes import Notes
from batsched_py.text.display import displayed
from batsched_py.traces.column_use import ColumnUse
from batsched_py.traces.formats import ReadOptions, Unit
from batsched_py.traces.log_demands import check_tres
from batsched_py.traces.row_rules import RowTally
from batsched_py.traces.sacct_fields import (
    COLUMNS,
    DEPENDENCY,
    ENDED,
    JOB_ID,
    MEMBERS,
    WITHOUT,
    CellError,
    SacctRow,
    holds,
)
from batsched_py.traces.sacct_job import SacctJob, reason_to_drop, was_withdrawn
from batsched_py.traces.sacct_source import OpenRows, RowContext, RowSource
from batsched_py.traces.slurm_arrays import array_number, limit_in_command, pending_tasks, task_members
from batsched_py.traces.slurm_dependency import (
    NO_DEPENDENCY,
    SlurmDependency,
    dependency_in_command,
    read_dependency,
)
from batsched_py.traces.slurm_members import COLUMNS_OF_MEMBER, SLURM, kept_members, slurm_member
from batsched_py.traces.swf_log import UNKNOWN, SwfLog, SwfRecord
from batsched_py.traces.swf_remarks import report_records
from batsched_py.traces.time_zone import time_zone

# Accounting has rows where a workload has jobs. A job is a group of rows with one number on one cluster; sorted by
# time, a row is a duplicate of the one before it, its next attempt, or another job that uses the number again. The last
# question has no certain answer: a requeued job keeps its user and account, and is submitted again when the attempt
# before it ends, so an attempt within a day after an interruption counts as the same job. Only the last
# attempt is kept, as it is the one that shows the job's run time.
#
# All times are brought to the first submission, and records become those of `swf`, so that the same rules clean both.
# sacct prints different columns for each user and version: each quantity has a list of columns, of which the first with
# a value is used, and unknown columns are noted.
#
# Several files are one log, as accounting is written for each day or month: a job may have rows in two of them, and a
# row may be in both. The number of a row is that of its file times _MOST_ROWS plus its number there.

#: Unit -> column of the requested size, and columns of the allocated size, of which the first present one is read.
SIZES: Final[Mapping[Unit, tuple[str, tuple[str, ...]]]] = {
    "cpus": ("reqcpus", ("alloccpus", "ncpus")),
    "nodes": ("reqnodes", ("allocnodes", "nnodes")),
}
#: Columns that are always read -> their use.
_USES: Final[Mapping[str, str]] = {
    "jobid": "id",
    "cluster": "id, together with the number",
    "state": "state",
    "submit": "submission time",
    "start": "start",
    "end": "end",
    **dict.fromkeys(("elapsedraw", "elapsed"), "run time"),
    **dict.fromkeys(("timelimitraw", "timelimit"), "requested time"),
}
#: Columns of TRES, in the order in which they are read.
TRES: Final = ("reqtres", "alloctres")
#: More rows than any file has.
_MOST_ROWS: Final = 1 << 40


def read_rows(path: Path, open_rows: OpenRows, unit: Unit, options: ReadOptions) -> SwfLog:
    """Return the log of a file, and of further ones in the options; its clock starts at the first submission.

    A record is a finished job with its id; its user, account, partition, QOS and the fields `keep`, in lower case, are
    members; with `dependencies`, those on other jobs are read. These rows are left out and counted: job steps, jobs
    that have not ended or never ran, all but the last attempt of a requeued job, and unreadable rows, which are errors
    with `strict`. Jobs of other clusters, and later jobs with a number that is in use, get unique names.
    With `demands` the log has the TRES of jobs, with `slurm` their member `slurm`. WorkloadError names the file, the
    line, the column and the rule.
    """
    return _SacctReader(path, open_rows, unit, options).log()


class _SacctReader:
    """A reader of one log."""

    def __init__(self, path: Path, open_rows: OpenRows, unit: Unit, options: ReadOptions) -> None:
        fields = tuple(dict.fromkeys((*MEMBERS, *(field.lower() for field in options.keep))))
        self._dependencies, self._slurm = options.dependencies, options.slurm
        #: Columns of TRES, of which the first with a value is read.
        self._tres = TRES if options.demands else ()
        self._paths, self._fields = (path, *options.further), fields
        self._limits, self._strict = options.limits, options.strict
        self._by_cpu, (self._requested, self._used) = unit == "cpus", SIZES[unit]
        self._tally = RowTally()
        #: Cluster and number of an array -> the limit on its running tasks in a row of tasks that are not jobs.
        self._limits_of_arrays: dict[tuple[str, str], int] = {}
        #: Jobs that were cancelled before they started.
        self._cancelled: list[SacctJob] = []
        self._notes = Notes(str(path))
        #: The files that were opened.
        self._sources: list[RowSource] = []
        wanted = [*((name,) for name in fields[len(MEMBERS) :]), (self._requested, *self._used)]
        self._zone = time_zone(str(path), options.zone)
        for index, one in enumerate(self._paths):
            drop, note, count = (partial(call, index) for call in (self._drop_row, self._note_row, self._count))
            self._sources.append(open_rows(one, wanted, RowContext(drop, note, count, options.limits, self._zone)))
        self._assumes_zone = not options.zone and any(source.dated for source in self._sources)
        #: Columns that are obeyed by these options, beyond those that always are.
        self._obeyed = {*self._tres, *((SLURM, *COLUMNS_OF_MEMBER) if self._slurm else ())}
        self._obeyed |= {DEPENDENCY} if self._dependencies else set()
        for index, source in enumerate(self._sources):
            names = [name for name in source.header if name not in COLUMNS.explained and name not in fields]
            COLUMNS.check(names, self._notes, self._place(index * _MOST_ROWS + 1))

    def log(self) -> SwfLog:
        """Return the log. WorkloadError."""
        kept = [job for job in self._distinct() if not self._leave_out(job)]
        zero = min((job.submit for job in kept if job.submit is not None), default=0)
        records, names, members = list[SwfRecord](), dict[int, str](), dict[int, Mapping[str, Any]]()
        dependencies = dict[int, SlurmDependency]()
        tres = {number: job.tres for number, job in enumerate([*kept, *self._cancelled], 1)} if self._tres else None
        cancelled = list[SwfRecord]()
        for number, job in enumerate([*kept, *self._cancelled], 1):
            record = job.record._replace(number=number)
            if number > len(kept) and job.submit is not None and job.end is not None:
                record = record._replace(submit=job.submit - zero, wait=job.end - job.submit, run=-1)
            elif job.submit is not None:
                wait = -1 if job.start is None else max(job.start - job.submit, -1)
                record = record._replace(submit=job.submit - zero, wait=wait)
                if record.submit > LONGEST:
                    raise self._error(job.line, f"field submit: {TOO_LONG.rstrip(',')} after the first")
            (records if number <= len(kept) else cancelled).append(record)
            names[number] = job.name
            members[number] = self._members(job) if self._slurm else job.members
            if job.dependency is not NO_DEPENDENCY:
                dependencies[number] = job.dependency
        report_records(records, self._notes, most="most jobs got more than they asked for, such as whole nodes")
        return SwfLog(
            str(self._paths[0]),
            {"UnixStartTime": str(zero)},
            tuple(records),
            names=names,
            members=members,
            dependencies=dependencies,
            tres=tres,
            kept=self._fields,
            cancelled=tuple(cancelled),
            dropped=self._tally.counts,
            places=self._tally.places,
            columns=self._use(),
            assumed=(
                *((f"dates without an offset are in {self._zone}",) if self._assumes_zone else ()),
                f"a host stands for a {'CPU' if self._by_cpu else 'node'}",
            ),
            notes=self._notes.lines(),
        )

    def _members(self, job: SacctJob) -> Mapping[str, Any]:
        """Return the members of a job with its array, if it is a task of one."""
        limit = job.array_limit or self._limits_of_arrays.get((job.cluster, array_number(job.name) or ""))
        return task_members(job.name, limit, job.members)

    def _use(self) -> ColumnUse:
        """Return the use of the columns, under their names in lower case."""
        texts = ("submitline", "jobname") if self._dependencies or self._slurm else ()
        uses = dict.fromkeys((*self._obeyed, *texts), "as options choose")
        uses |= {name: f"member {name}" for name in self._fields}
        uses |= {self._requested: "requested size", **dict.fromkeys(self._used, "used size"), **_USES}
        names = dict.fromkeys(name for source in self._sources for name in source.names)
        return ColumnUse(
            {name: uses[name] for name in names if name in uses}, tuple(name for name in names if name not in uses)
        )

    def _error(self, number: int, rule: str, column: str = "") -> WorkloadError:
        index, row = divmod(number, _MOST_ROWS)
        place = self._sources[index].place(row)
        return WorkloadError(str(self._paths[index]), f"{place}, field {column}" if column else place, rule)

    def _place(self, number: int) -> str:
        """Return the place of a row in lines that begin with the name of the first file."""
        index, row = divmod(number, _MOST_ROWS)
        place = self._sources[index].place(row)
        return f"{displayed(self._paths[index].name)}, {place}" if index else place

    def _drop_row(self, index: int, row: int, rule: str) -> None:
        """Leave out an unreadable row of a file; WorkloadError if the rules are strict."""
        number = index * _MOST_ROWS + row
        if self._strict:
            raise self._error(number, rule)
        self._tally.add("dropped_row", f"{self._place(number)}: {rule}")
        self._notes.add(f"row dropped: {rule}", self._place(number))

    def _count(self, index: int, rule: str, row: int) -> None:
        self._tally.add(rule, self._place(index * _MOST_ROWS + row))

    def _note_row(self, index: int, row: int, what: str) -> None:
        self._notes.add(what, self._place(index * _MOST_ROWS + row))

    def _distinct(self) -> list[SacctJob]:
        """Return the jobs without duplicates, under unique names, in the order of the file."""
        groups: dict[tuple[str, str], list[SacctJob]] = {}
        for count, job in enumerate(self._jobs(), 1):
            groups.setdefault((job.cluster, job.name), []).append(job)
            if count > self._limits.jobs:
                raise self._error(job.line, self._limits.rule("jobs"))
        #: Names in use.
        taken: set[str] = set()
        found: list[SacctJob] = []
        for (cluster, name), rows in groups.items():
            own = name if name not in taken else f"{name}@{cluster}"
            taken.add(name)
            for number, job in enumerate(self._attempts(rows) if len(rows) > 1 else rows, 1):
                renamed = own if number == 1 else f"{own}.{number}"
                if renamed != name:
                    self._tally.add("kept_apart", self._place(job.line))
                found.append(job if renamed == name else job._replace(name=renamed))
        return sorted(found, key=lambda job: job.line)

    def _attempts(self, rows: Iterable[SacctJob]) -> list[SacctJob]:
        """Return the last attempt of each job with one number."""
        first, *others = sorted(rows, key=lambda job: job.order)
        found = [first]
        for job in others:
            if job.repeats(found[-1]):
                self._tally.add("dropped_duplicate", self._place(job.line))
            elif job.follows(found[-1]):
                self._tally.add("dropped_attempt", self._place(found[-1].line))
                found[-1] = job
            else:
                found.append(job)
        return found

    def _leave_out(self, job: SacctJob) -> bool:
        reason = reason_to_drop(job)
        if reason == "dropped_never_ran" and was_withdrawn(job):
            self._cancelled.append(job)
        elif reason:
            self._tally.add(reason, self._place(job.line))
        return bool(reason)

    def _jobs(self) -> Iterable[SacctJob]:
        """Parse and yield the rows of jobs."""
        obeyed = {*self._fields, *self._obeyed}
        for index, source in enumerate(self._sources):
            explained = [name for name in source.header if name in COLUMNS.explained and name not in obeyed]
            for row in source:
                numbered = row._replace(line=index * _MOST_ROWS + row.line) if index else row
                job = self._job_of(numbered, explained)
                if job is not None:
                    yield job

    def _job_of(self, row: SacctRow, explained: Iterable[str]) -> SacctJob | None:
        """Return the job of a row; None for a step, and for a row that cannot be read, which are counted."""
        identity = JOB_ID.fullmatch(row.text("jobid"))
        if identity is not None and identity[2]:
            self._tally.add("passed_over_steps", self._place(row.line))
            return None
        try:
            if identity is None:
                raise row.error("jobid", "must be the number of a job, like 12, 12_3, 12+1 or 12.batch")
            job = self._job(row, identity[1])
        except CellError as error:
            if self._strict:
                raise self._error(row.line, f"{error.rule}, not {error.value}", error.column) from None
            self._drop_row(*divmod(row.line, _MOST_ROWS), f"field {error.column} {error.rule}")
            return None
        for column in explained:
            if holds(row, column):
                self._notes.add(COLUMNS.report(column), self._place(row.line))
        tasks = pending_tasks(job.name)
        if tasks is not None and tasks.limit is not None:
            self._limits_of_arrays[job.cluster, tasks.array] = tasks.limit
        return job

    def _job(self, row: SacctRow, name: str) -> SacctJob:
        """Parse a row. CellError."""
        cluster = row.text("cluster")
        if breaks_csv(cluster) or "!" in cluster:
            raise row.error("cluster", f"{NAME_RULE}, and no '!'")
        submit, start, end = row.date("submit"), row.date("start"), row.date("end")
        run = _first(row, ("elapsedraw", 1), ("elapsed", 1))
        run = end - start if run is None and start is not None and end is not None else run
        limit = _first(row, ("timelimitraw", 60), ("timelimit", 60))
        state = row.state
        record = UNKNOWN._replace(
            run=-1 if run is None else max(run, -1),
            used_processors=row.size(*self._used),
            requested_processors=row.size(self._requested),
            requested_time=-1 if limit is None else limit,
            status=ENDED.get(state, -1),
        )
        members: dict[str, Any] = {field: text for field in self._fields if (text := row.text(field))}
        if self._slurm:
            members |= kept_members(
                slurm_member(row, lambda rule: self._notes.add(rule, self._place(row.line)), demands=bool(self._tres))
            )
        owner = row.text("user"), row.text("account")
        dependency = self._dependency(row)
        return SacctJob(
            row.line,
            name,
            cluster,
            owner,
            state,
            submit,
            start,
            end,
            record,
            members,
            dependency,
            self._tres_of(row),
            limit_in_command(row.text("submitline")) if self._slurm else None,
        )

    def _dependency(self, row: SacctRow) -> SlurmDependency:
        """Return the dependencies of a row, and note those that are not obeyed."""
        text = row.text(DEPENDENCY) or dependency_in_command(row.text("submitline"))
        if not text or text == "(null)":
            return NO_DEPENDENCY
        if not self._dependencies:
            if not row.text(DEPENDENCY):
                self._notes.add(f"--dependency in SubmitLine is not obeyed: {WITHOUT}", self._place(row.line))
            return NO_DEPENDENCY
        found = read_dependency(text)
        if found.other:
            self._notes.add(
                f"a list of dependencies with {displayed(found.other)} is not obeyed", self._place(row.line)
            )
        if not found.singleton:
            return found
        name = row.text("jobname")
        if not name or breaks_csv(name):
            self._notes.add(f"dependency singleton is not obeyed: JobName {NAME_RULE}", self._place(row.line))
            return replace(found, singleton=False)
        return replace(found, name=name)

    def _tres_of(self, row: SacctRow) -> str:
        """Return the TRES of a job, "" if they are unknown or not to be read. CellError."""
        for column in self._tres:
            text = row.text(column)
            if text:
                try:
                    check_tres(text)
                except ValueError as error:
                    raise row.error(column, str(error)) from None
                return text
        return ""


def _first(row: SacctRow, *columns: tuple[str, int]) -> int | None:
    """Return the duration from the first of these (column, unit) pairs that has a known one. CellError."""
    for column, unit in columns:
        time = row.duration(column, unit)
        if time is not None:
            if time > LONGEST:
                raise row.error(column, TOO_LONG.rstrip(","))
            return time
    return None
