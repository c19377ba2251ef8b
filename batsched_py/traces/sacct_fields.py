"""The fields of Slurm's accounting: their names, and the formats of times, limits, sizes and states.

Source: Slurm's manual page sacct(1). Times without an offset are read in the zone of their row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple

from batsched_py.reading.members import Members, UnknownNames
from batsched_py.text.display import shown

# sacct's output is for human readers: one quantity has several spellings (days, clock times, bare minutes, 2K nodes,
# the numbers that stand for "unknown"), and columns differ between versions. Everything that depends on Slurm's manual
# is in this module, so that the reader deals with rows of known types.
#
# A known column is read, descriptive, or has an effect that is not simulated; the last kind is noted for rows that use
# it, and an unknown column is noted once. Patterns bound the number of digits, since `int` of a long text
# takes quadratic time and a date of the year 10^15 is no date. Texts of users may contain the delimiter: `is_sound`
# shows whether the cells of a row are in their columns.
#
# Logs repeat their durations, sizes and the minutes of their dates, so the values of texts that match a pattern, which
# are short, are kept. Since 1973, offsets of time zones change at whole minutes only, so one of a date is that of its
# minute.

#: Required columns; names are case-insensitive.
NEEDED: Final = ("jobid", "state", "submit", "start", "end")
#: Columns that become members of jobs, under these names.
MEMBERS: Final = ("user", "account", "partition", "qos")
#: Columns with texts of users, which may contain the delimiter.
FREE_TEXT: Final = ("jobname", "submitline", "comment", "admincomment", "systemcomment", "extra", "workdir", "reason")
_READ: Final = frozenset(
    {*NEEDED, *MEMBERS, "cluster", "elapsed", "elapsedraw", "timelimit", "timelimitraw"}
    | {"reqcpus", "alloccpus", "ncpus", "reqnodes", "allocnodes", "nnodes"}
)
#: Columns with measurements, or with the content of other columns in another form: they request nothing.
_DESCRIBE: Final = frozenset(
    {*FREE_TEXT, "associd", "avecpu", "avecpufreq", "avediskread", "avediskwrite", "avepages", "averss", "avevmsize"}
    | {"blockid", "consumedenergy", "consumedenergyraw", "container", "cputime", "cputimeraw", "dbindex", "exitcode"}
    | {"derivedexitcode", "failednode", "flags", "gid", "group", "jobidraw", "layout", "mcslabel", "nodelist", "ntasks"}
    | {"maxdiskread", "maxdiskwrite", "maxpages", "maxrss", "maxvmsize", "mincpu", "planned", "plannedcpu", "priority"}
    | {f"{name}{of}" for name in ("maxdiskread", "maxdiskwrite", "maxpages") for of in ("node", "task")}
    | {f"{name}{of}" for name in ("maxrss", "maxvmsize", "mincpu") for of in ("node", "task")}
    | {f"tresusage{way}{what}" for way in ("in", "out") for what in ("ave", "max", "min", "tot")}
    | {f"tresusage{way}{what}{of}" for way in ("in", "out") for what in ("max", "min") for of in ("node", "task")}
    | {"plannedcpuraw", "qosraw", "qosreq", "reqcpufreq", "reqcpufreqgov", "reqcpufreqmax", "reqcpufreqmin", "reqmem"}
    | {"reserved", "reservationid", "restarts", "resvcpu", "resvcpuraw", "sluid", "stderr", "stdin", "stdout"}
    | {"systemcpu", "totalcpu", "uid", "usercpu", "wckey", "wckeyid", ""}
)
#: The column with dependencies, which sites add, and the reason for a note without the option that obeys them.
DEPENDENCY: Final = "dependency"
WITHOUT: Final = "jobs wait for each other only with --dependencies"
_NO_GPUS: Final = "jobs request GPUs with --demands only"
COLUMNS: Final = Members(
    "sacct",
    _READ | _DESCRIBE,
    {
        "allocgres": _NO_GPUS,
        "alloctres": _NO_GPUS,
        "constraints": "any host may run any job",
        DEPENDENCY: WITHOUT,
        "eligible": "jobs may start from their submission on, also those that waited for a date or another job",
        "licenses": "licences are not counted",
        "reqgres": _NO_GPUS,
        "reqtres": _NO_GPUS,
        "reservation": "hosts are not reserved: jobs of a reservation are like others",
        "suspended": "a job runs in one piece, without its suspensions",
    },
    UnknownNames.REPORTED,
    "field",
)
#: Column -> pattern of texts that are worth a note.
_MATTERS: Final = {
    "alloctres": re.compile(r"gres/gpu"),
    "reqtres": re.compile(r"gres/gpu"),
    "allocgres": re.compile(r"gpu"),
    "reqgres": re.compile(r"gpu"),
    "suspended": re.compile(r"[1-9]"),
}

#: State of a job that completed, or was terminated while it ran -> the status of a log.
ENDED: Final[Mapping[str, int]] = {"COMPLETED": 1, "CANCELLED": 5} | dict.fromkeys(
    ("DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"), 0
)
#: States of jobs that have not ended.
GOING_ON: Final = frozenset(
    {"COMPLETING", "CONFIGURING", "PENDING", "RUNNING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED"}
)
#: States of rows for a part of a job, or for an attempt with a later row.
ATTEMPTS: Final = frozenset({"REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESIZING", "SPECIAL_EXIT"})
#: States of jobs that never ran.
NEVER_RAN: Final = frozenset({"BOOT_FAIL", "LAUNCH_FAILED", "RECONFIG_FAIL", "REVOKED"})
_STATES: Final = (*ENDED, *sorted(GOING_ON), *sorted(ATTEMPTS), *sorted(NEVER_RAN))
#: Abbreviation of a state, as in squeue and sacct --state.
_SHORT: Final = {
    "BF": "BOOT_FAIL",
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "DL": "DEADLINE",
    "F": "FAILED",
    "LF": "LAUNCH_FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PR": "PREEMPTED",
    "R": "RUNNING",
    "RD": "REQUEUE_HOLD",
    "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD",
    "RQ": "REQUEUED",
    "RS": "RESIZING",
    "RV": "REVOKED",
    "S": "SUSPENDED",
    "SE": "SPECIAL_EXIT",
    "SI": "SIGNALING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "TO": "TIMEOUT",
}

#: Texts in lower case for an unknown or unset time, limit or size. The numbers are Slurm's INFINITE and NO_VAL, of
#: 32 and of 64 bits.
_UNKNOWN: Final = frozenset(
    {"", "unknown", "none", "n/a", "(null)", "invalid", "unlimited", "infinite", "partition_limit", "not_set"}
    | {"4294967295", "4294967294", "18446744073709551615", "18446744073709551614"}
)
#: A job number, then the number of an array task or a list of pending tasks, of a component, and of a step.
JOB_ID: Final = re.compile(r"(\d{1,15}(?:_(?:\d{1,15}|\[[^|]*\]))?(?:\+\d{1,9})?)(\.\S+)?", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII)
#: A date without an offset, and its first year for which minutes are kept.
_USUAL: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:[0-5]\d", re.ASCII)
_EARLIEST: Final = "1973"
#: Number of characters of its minute, and of what is before its second.
_MINUTE: Final = 16
_SECOND: Final = 17
#: Number of texts whose values are kept.
_MOST_KEPT: Final = 65_536
#: days-hours[:minutes[:seconds]], or [hours:]minutes:seconds, with fractions of seconds.
_WITH_DAYS: Final = re.compile(r"(\d{1,7})-(\d{1,9})(?::(\d\d))?(?::(\d\d)(?:\.\d{1,9})?)?", re.ASCII)
_CLOCK: Final = re.compile(r"(?:(\d{1,9}):)?(\d{1,9}):(\d\d)(?:\.\d{1,9})?", re.ASCII)
_WHOLE: Final = re.compile(r"\d{1,15}", re.ASCII)
_DATE_RULE: Final = "must be a time like 2024-05-31T08:00:00, seconds since 1970, or Unknown"
#: An abbreviated number of CPUs or nodes: 2K, 1.50K.
_SHORTENED: Final = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([KMGT])", re.ASCII)
_FACTORS: Final = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class CellError(ValueError):
    """A cell that violates the rule of its column; `value` is its text as shown in messages."""

    def __init__(self, column: str, rule: str, value: str) -> None:
        self.column, self.rule, self.value = column, rule, value
        super().__init__(f"field {column}: {rule}, not {value}")


class SacctRow(NamedTuple):
    """A row of a job: its line, column -> text, and the time zone of dates without an offset."""

    line: int
    cells: Mapping[str, str]
    zone: tzinfo = UTC

    def text(self, *columns: str) -> str:
        """Return the text of the first of these columns that is present; "" if none is."""
        for column in columns:
            if column in self.cells:
                return self.cells[column]
        return ""

    def error(self, column: str, rule: str) -> CellError:
        """Return the error for a cell and a rule."""
        return CellError(column, rule, shown(self.text(column)))

    @property
    def state(self) -> str:
        """The state without its suffix, as in "CANCELLED by 1000" or the truncated "CANCELLED+"."""
        word = self.text("state").partition(" ")[0].upper()
        if word.endswith("+"):
            return next((state for state in _STATES if state.startswith(word[:-1])), word[:-1])
        return _SHORT.get(word, word)

    def date(self, column: str) -> int | None:
        """Return seconds since 1970; None for an unknown time. CellError."""
        text = self.text(column)
        if _USUAL.fullmatch(text) and text >= _EARLIEST:
            try:
                return _minute(text[:_MINUTE], self.zone) + int(text[_SECOND:])
            except (ValueError, OverflowError):  # no date of the calendar
                raise self.error(column, _DATE_RULE) from None
        if text.casefold() in _UNKNOWN or text == "0":
            return None
        if _WHOLE.fullmatch(text):
            return int(text)
        if _DATE.fullmatch(text):
            try:
                date = datetime.fromisoformat(text)
                return int((date if date.tzinfo is not None else date.replace(tzinfo=self.zone)).timestamp())
            except ValueError:
                pass
        raise self.error(column, _DATE_RULE)

    def duration(self, column: str, unit: int) -> int | None:
        """Return seconds; None for an unknown duration. A plain number counts units of `unit` seconds. CellError."""
        text = self.text(column)
        if text.casefold() in _UNKNOWN:
            return None
        try:
            return _duration(text, unit)
        except ValueError as error:
            raise self.error(column, str(error)) from None

    def size(self, *columns: str) -> int:
        """Return a number of CPUs or nodes from the first column that is present; -1 for an unknown one."""
        text = self.text(*columns)
        if text.casefold() in _UNKNOWN:
            return -1
        if _WHOLE.fullmatch(text):
            return int(text)
        if (found := _SHORTENED.fullmatch(text)) and (number := float(found[1]) * _FACTORS[found[2]]).is_integer():
            return int(number)
        column = next(column for column in columns if column in self.cells)
        raise self.error(column, "must be a whole number")

    def is_sound(self) -> bool:
        """Return whether the required cells are valid, which shows that each text is in its own column."""
        try:
            for column in ("submit", "start", "end"):
                self.date(column)
            for column, unit in (("elapsedraw", 1), ("elapsed", 1), ("timelimitraw", 60), ("timelimit", 60)):
                self.duration(column, unit)
            for column in ("reqcpus", "alloccpus", "ncpus", "reqnodes", "allocnodes", "nnodes"):
                self.size(column)
        except CellError:
            return False
        return JOB_ID.fullmatch(self.text("jobid")) is not None and self.state in _STATES


@lru_cache(_MOST_KEPT)
def _minute(text: str, zone: tzinfo) -> int:
    """Return seconds since 1970 of a minute like 2024-05-31T08:00. ValueError or OverflowError."""
    return int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp())


@lru_cache(_MOST_KEPT)
def _duration(text: str, unit: int) -> int:
    """Return the seconds of a known duration. ValueError."""
    if _WHOLE.fullmatch(text):
        return int(text) * unit
    if found := _WITH_DAYS.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    elif found := _CLOCK.fullmatch(text):
        days = 0
        hours, minutes, seconds = (int(part or 0) for part in found.groups())
    else:
        raise ValueError("must be [days-]hours:minutes:seconds or a whole number")
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def holds(row: SacctRow, column: str) -> bool:
    """Return whether the cell of a column without effect is worth a note."""
    text = row.text(column)
    if column == "eligible":
        return _is_later(row)
    matters = _MATTERS.get(column)
    return text.casefold() not in _UNKNOWN if matters is None else matters.search(text) is not None


def _is_later(row: SacctRow) -> bool:
    """Return whether a job became eligible only after its submission."""
    try:
        submitted, eligible = row.date("submit"), row.date("eligible")
    except CellError:
        return False
    return submitted is not None and eligible is not None and eligible > submitted + 1
