"""A reader of Slurm's accounting as `sacct --parsable2` prints it: the jobs that ended become the records of a log.

Fields and states are those of Slurm's manual page sacct(1). Times are taken as UTC if they are no seconds since 1970:
sacct prints those of the machine's zone, or of TZ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple

from batsched_py.bounded_file import read_lines, reported
from batsched_py.errors import WorkloadError
from batsched_py.model.limits import LIMITS, LONGEST, TOO_LONG, Limits
from batsched_py.text.display import shown
from batsched_py.traces.swf import UNKNOWN, SwfLog, SwfRecord

#: What a host of the workload stands for.
Unit = Literal["cpus", "nodes"]
#: Columns that must be there; names are compared without regard to case.
_NEEDED: Final = ("jobid", "state", "submit", "start", "end")
#: Unit -> columns of the size that was requested and, the first one there, of that which was given.
_SIZES: Final[Mapping[Unit, tuple[str, tuple[str, ...]]]] = {
    "cpus": ("reqcpus", ("alloccpus", "ncpus")),
    "nodes": ("reqnodes", ("allocnodes", "nnodes")),
}
#: Columns that become members of jobs, under these names.
_MEMBERS: Final = ("user", "account", "partition", "qos")
#: State of a job that ended by itself or was ended while it ran -> the status of a log.
_ENDED: Final[Mapping[str, int]] = {"COMPLETED": 1, "CANCELLED": 5} | dict.fromkeys(
    ("DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"), 0
)
#: States of jobs that have not ended.
_GOING_ON: Final = frozenset(
    {"COMPLETING", "CONFIGURING", "PENDING", "RUNNING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED"}
)
#: States of rows that tell of a part of a job, or of an attempt that another row followed.
_ATTEMPTS: Final = frozenset({"REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESIZING", "SPECIAL_EXIT"})
#: States of jobs that never ran.
_NEVER_RAN: Final = frozenset({"BOOT_FAIL", "LAUNCH_FAILED", "RECONFIG_FAIL", "REVOKED"})
#: Texts for a time, a limit or a size that is not known, or not set.
_UNKNOWN: Final = frozenset({"", "Unknown", "None", "N/A", "INVALID", "UNLIMITED", "Partition_Limit"})
#: A number, that of a task of an array or of those that wait, that of a component, and that of a step.
_JOB_ID: Final = re.compile(r"\d{1,15}(?:_(?:\d{1,15}|\[[^|]*\]))?(?:\+\d{1,9})?(\.\S+)?", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)
#: [days-][hours:]minutes:seconds, with microseconds.
_TIME: Final = re.compile(r"(?:(\d{1,7})-)?(?:(\d{1,9}):)?(\d{1,9}):(\d\d)(?:\.\d{1,9})?", re.ASCII)
_WHOLE: Final = re.compile(r"\d{1,15}", re.ASCII)


class _Row(NamedTuple):
    """A row of a job: its line, and column -> text."""

    line: int
    cells: Mapping[str, str]

    def text(self, *columns: str) -> str:
        """Return the text of the first of these columns that is there; "" if none is."""
        return next((self.cells[column] for column in columns if column in self.cells), "")


def read_sacct(path: Path, unit: Unit = "cpus", *, keep: Sequence[str] = (), limits: Limits = LIMITS) -> SwfLog:
    """Read a file of `sacct --parsable2`, plain or compressed by gzip; its clock starts at the first submission.

    A record is a job that ended, with its id, and its user, account, partition and QOS as members, as well as the
    fields `keep`, in small letters. Left out and counted are rows of job steps, of jobs that have not ended, of those
    that never ran, and all but the last row of a job that was requeued. WorkloadError names the file, the line, the
    column and the rule.
    """
    file = str(path)
    #: Rows that are left out, by the rule.
    dropped: Counter[str] = Counter()
    rows: dict[str, _Row] = {}
    kept = tuple(dict.fromkeys((*_MEMBERS, *(field.lower() for field in keep))))
    for row in _rows(path, unit, kept[len(_MEMBERS) :], limits):
        job = _JOB_ID.fullmatch(row.text("jobid"))
        if job is None:
            raise _error(file, row, "jobid", "must be the number of a job, like 12, 12_3, 12+1 or 12.batch")
        if job[1]:
            dropped["passed_over_steps"] += 1
            continue
        dropped["dropped_attempt"] += rows.pop(job[0], None) is not None
        rows[job[0]] = row
        if len(rows) > limits.jobs:
            raise WorkloadError(file, f"line {row.line}", limits.rule("jobs"))
    return _log(file, rows, unit, kept, dropped)


def sacct_unit(path: Path, limits: Limits = LIMITS) -> Unit | None:
    """Return what the sizes in a file of `sacct --parsable2` count: nodes if it has no CPUs; None for other files."""
    with reported(path, WorkloadError, lambda: "line 1"):
        first = next(read_lines(path, limits), b"")
    names = {cell.strip().lower() for cell in first.decode(errors="replace").split("|")}
    if len(names) == 1 or "jobid" not in names:
        return None
    sizes = {unit: {requested, *used} for unit, (requested, used) in _SIZES.items()}
    return "nodes" if names & sizes["nodes"] and not names & sizes["cpus"] else "cpus"


def _log(file: str, rows: Mapping[str, _Row], unit: Unit, fields: Sequence[str], dropped: Counter[str]) -> SwfLog:
    """Make a log of rows with different jobs, which have these fields as members."""
    reasons = {job: _reason_to_drop(file, row) for job, row in rows.items()}
    dropped.update(reason for reason in reasons.values() if reason)
    kept = {job: row for job, row in rows.items() if not reasons[job]}
    submissions = {job: _date(file, row, "submit") for job, row in kept.items()}
    zero = min((time for time in submissions.values() if time is not None), default=0)
    records, names, members = [], dict[int, str](), dict[int, Mapping[str, str]]()
    for number, (job, row) in enumerate(kept.items(), 1):
        submitted = submissions[job]
        record = _record(file, row, unit, number, -1 if submitted is None else submitted - zero)
        started = _date(file, row, "start")
        if submitted is not None and started is not None:
            record = record._replace(wait=max(started - submitted, -1))
        records.append(record)
        names[number] = job
        members[number] = {name: text for name in fields if (text := row.text(name))}
    headers = {"UnixStartTime": str(zero)}
    return SwfLog(file, headers, tuple(records), names=names, members=members, dropped=dict(dropped))


def _reason_to_drop(file: str, row: _Row) -> str:
    """Return the rule by which a job is left out; "" for one that ended."""
    state = _state(row)
    if state in _ATTEMPTS:
        return "dropped_attempt"
    if state in _NEVER_RAN:
        return "dropped_never_ran"
    if state in _GOING_ON:
        return "dropped_going_on"
    if state not in _ENDED:
        return "dropped_state"
    if "[" in row.text("jobid"):  # tasks of an array that were never split off
        return "dropped_never_ran"
    if _date(file, row, "start") is None or (state == "CANCELLED" and _run(file, row) == 0):
        return "dropped_never_ran"
    return "dropped_going_on" if _date(file, row, "end") is None else ""


def _state(row: _Row) -> str:
    """Return the first word of the state: "CANCELLED by 1000" is one, too."""
    return row.text("state").partition(" ")[0].rstrip("+")


def _run(file: str, row: _Row) -> int | None:
    """Return for how many seconds a job ran: its elapsed time, without suspensions, else its end - its start."""
    elapsed = _duration(file, row, "elapsedraw", 1)
    elapsed = _duration(file, row, "elapsed", 1) if elapsed is None else elapsed
    start, end = _date(file, row, "start"), _date(file, row, "end")
    return end - start if elapsed is None and start is not None and end is not None else elapsed


def _record(file: str, row: _Row, unit: Unit, number: int, submit: float) -> SwfRecord:
    requested, used = _SIZES[unit]
    run = _run(file, row)
    limit = _duration(file, row, "timelimitraw", 60)
    limit = _duration(file, row, "timelimit", 60) if limit is None else limit
    for column, time in (("submit", submit), ("elapsed", run or 0), ("timelimit", limit or 0)):
        if time > LONGEST:
            raise _error(file, row, column, TOO_LONG.rstrip(","))
    return UNKNOWN._replace(
        number=number,
        submit=submit,
        run=-1 if run is None else max(run, -1),
        used_processors=_size(file, row, *used),
        requested_processors=_size(file, row, requested),
        requested_time=-1 if limit is None else limit,
        status=_ENDED[_state(row)],
    )


def _rows(path: Path, unit: Unit, needed: Sequence[str], limits: Limits) -> Iterator[_Row]:
    """Yield the rows below the header, without empty lines; `needed` are fields that must be there as well."""
    line = 0
    with reported(path, WorkloadError, lambda: f"line {line + 1}"):
        header: Sequence[str] = ()
        for content in read_lines(path, limits):
            line += 1
            cells = content.decode(errors="replace").rstrip("\r\n").split("|")
            if not header:
                header = _header(str(path), [cell.strip().lower() for cell in cells], unit, needed)
            elif any(cells):
                if len(cells) != len(header):
                    rule = f"must have {len(header)} fields as the header, not {len(cells)}"
                    hint = ": a field such as JobName may hold a |" if len(cells) > len(header) else ""
                    raise WorkloadError(str(path), f"line {line}", rule + hint)
                yield _Row(line, {name: cell.strip() for name, cell in zip(header, cells, strict=True) if name})
        if not header:
            raise WorkloadError(str(path), "", "is empty: a line with the names of the fields is missing")


def _header(file: str, names: list[str], unit: Unit, needed: Sequence[str]) -> list[str]:
    """Check the names of the fields, of which one ends with a | if sacct was called with --parsable."""
    requested, used = _SIZES[unit]
    missing = [name for name in (*_NEEDED, *needed) if name not in names]
    if not missing and not {requested, *used} & set(names):
        missing = [f"{requested} or {used[0]}"]
    twice = next((name for name, times in Counter(names).items() if name and times > 1), "")
    if missing:
        fields = "JobID,User,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,ReqCPUS,AllocCPUS,ReqNodes,AllocNodes"
        rule = f"has no field {missing[0]}: call sacct --allusers --parsable2 --format={fields}"
        raise WorkloadError(file, "line 1", rule)
    if twice:
        raise WorkloadError(file, "line 1", f"has the field {shown(twice)} twice")
    return names


def _date(file: str, row: _Row, column: str) -> int | None:
    """Return seconds since 1970; None for a time that is not known."""
    text = row.text(column)
    if text in _UNKNOWN:
        return None
    if _WHOLE.fullmatch(text):
        return int(text)
    if _DATE.fullmatch(text):
        try:
            return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
        except ValueError:
            pass
    raise _error(file, row, column, "must be a time like 2024-05-31T08:00:00, seconds since 1970, or Unknown")


def _duration(file: str, row: _Row, column: str, unit: int) -> int | None:
    """Return seconds; None for one that is not known. A plain number counts units of so many seconds."""
    text = row.text(column)
    if text in _UNKNOWN:
        return None
    if _WHOLE.fullmatch(text):
        return int(text) * unit
    found = _TIME.fullmatch(text)
    if found is None:
        raise _error(file, row, column, "must be [days-]hours:minutes:seconds or a whole number")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def _size(file: str, row: _Row, *columns: str) -> int:
    """Return a number of CPUs or nodes; -1 for one that is not known."""
    text = row.text(*columns)
    if text in _UNKNOWN:
        return -1
    if _WHOLE.fullmatch(text):
        return int(text)
    column = next(column for column in columns if column in row.cells)
    raise _error(file, row, column, "must be a whole number")


def _error(file: str, row: _Row, column: str, rule: str) -> WorkloadError:
    return WorkloadError(file, f"line {row.line}, field {column}", f"{rule}, not {shown(row.text(column))}")
