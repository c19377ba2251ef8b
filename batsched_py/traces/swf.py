"""A reader of logs in the Standard Workload Format, version 2.2, as in the Parallel Workloads Archive."""

from __future__ import annotations

import math
from pathlib import Path

from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_batches, reported
from batsched_py.reading.limits import LIMITS, LONGEST, TOO_LONG, Limits
from batsched_py.reading.notes import Notes
from batsched_py.traces.formats import SWF, ReadOptions, looks_like
from batsched_py.traces.swf_blocks import plain_records, record_of
from batsched_py.traces.swf_headers import EPOCH, HeaderLines, epoch_text
from batsched_py.traces.swf_log import FIELDS, SwfLog, SwfRecord
from batsched_py.traces.swf_remarks import FurtherFields, report_records

# Reading and correcting are separate: a log has the content of its file, with -1 for unknown values, and `cleaning`
# applies explicit rules, whose effects are counted. Readers of other formats (Slurm) give the same records, so the
# rules exist once.
#
# Archives deviate from the format: more than 18 fields in a line, fractions in fields of whole numbers, submission
# times since 1970, headers in any encoding. These are accepted and noted. A line without numbers is an error with
# its place, and is not interpreted. Most lines are integers alone: `swf_blocks` reads them many at a time, and what it
# does not read is read here line by line. There `int` is tried for all fields at once, and each field by itself only if
# that fails.
#
# A clock that starts in 1970 is moved to the first submission, because a simulation would otherwise begin with decades
# of idle hosts, and times near 1e9 leave fewer digits for fractions.


#: Positions of the times used in a workload: submit, run, requested_time.
_TIMES = (1, 3, 8)
#: Positions of the fields in which archives also write fractions; the others contain whole numbers.
_FRACTIONS = frozenset({1, 2, 3, 5, 6, 8, 9, 17})


def read(path: Path, options: ReadOptions) -> SwfLog:
    """Read a log as `read_swf` does."""
    return read_swf(path, limits=options.limits, dependencies=options.dependencies)


def read_swf(path: Path, *, limits: Limits = LIMITS, dependencies: bool = False) -> SwfLog:
    """Read a log; WorkloadError names the file, the line and the broken rule.

    If the first submission is at EPOCH or later, the clock is moved: submission times are relative to the first one.
    The notes list the statements of the log that have no effect; with `dependencies`, preceding jobs have one.
    """
    lines = _LogLines(path, limits)
    lines.read()
    notes, read = lines.notes, lines.headers.headers(str(path))
    read.report(notes)
    log = SwfLog(str(path), read.values, tuple(lines.records), read.lines, lines.further.lines)
    if log.first >= EPOCH:
        log = _moved(log)
        notes.add(epoch_text(log.zero, log.start or read.at(int(log.zero))))
    report_records(log.records, notes, dependencies=dependencies)
    return replace(log, notes=notes.lines())


class _LogLines:
    """The lines of one file.

    Attributes:
        headers: the lines with headers.
        notes: notes on lines.
        records: the jobs.
        further: the count of lines with further fields.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits = path, limits
        self.headers, self.notes, self.records = HeaderLines(), Notes(str(path)), list[SwfRecord]()
        self.further = FurtherFields(self.notes)

    def read(self) -> None:
        """Read all lines. WorkloadError."""
        number = 0
        with reported(self._path, WorkloadError, lambda: f"line {number + 1}"):
            for lines in read_batches(self._path, self._limits):
                records = plain_records(lines)
                if records and len(self.records) + len(records) <= self._limits.jobs:
                    self.records += records
                    number += len(lines)
                    continue
                for content in lines:
                    # The encoding of headers is unknown, but lines of jobs contain only digits.
                    for line in content.decode(errors="replace").splitlines():
                        self._add(line.strip(), number + 1)
                        number += 1

    def _add(self, text: str, number: int) -> None:
        """Add one line. WorkloadError."""
        if text.startswith(";"):
            self.headers.add(text, number)
        elif text:
            pieces = text.split()
            if len(pieces) > FIELDS:
                self.further.add(pieces[FIELDS:], number)
            try:
                self.records.append(_record(pieces[:FIELDS]))
                self._limits.check("jobs", len(self.records))
            except ValueError as error:
                other = "" if self.records else looks_like(text, SWF)
                raise WorkloadError(str(self._path), f"line {number}", f"{error}{other}") from error


def _moved(log: SwfLog) -> SwfLog:
    """Return the log with a clock that starts at the first submission; unknown submission times remain unknown."""
    first = log.first
    records = tuple(
        record_of((record[0], record[1] - first, *record[2:])) if record[1] >= 0 else record for record in log.records
    )
    return replace(log, records=records, zero=first)


def _record(pieces: list[str]) -> SwfRecord:
    """Convert a line's fields to numbers; ValueError names the field and the broken rule."""
    if len(pieces) < FIELDS:
        raise ValueError(f"must have {FIELDS} fields, not {len(pieces)}")
    try:
        record = SwfRecord._make(map(int, pieces))
    except ValueError:
        record = SwfRecord._make([_number(position, piece) for position, piece in enumerate(pieces)])
    if record.number < 0:
        raise ValueError(f"field 1 (number) must not be negative, as {record.number} is")
    for field in _TIMES:
        if record[field] > LONGEST:
            raise ValueError(f"{_where(field)} {TOO_LONG} not {pieces[field]}")
    return record


def _where(position: int) -> str:
    return f"field {position + 1} ({SwfRecord._fields[position]})"


def _number(position: int, piece: str) -> float:
    where = _where(position)
    try:
        value = float(piece)
    except ValueError:
        raise ValueError(f"{where} must be a number, not {piece!r}") from None
    if not math.isfinite(value):
        raise ValueError(f"{where} must be finite, not {piece!r}")
    if value.is_integer():
        return int(value)
    if position not in _FRACTIONS:
        raise ValueError(f"{where} must be a whole number, not {piece!r}")
    return value
