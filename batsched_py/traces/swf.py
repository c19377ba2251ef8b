"""A reader of logs in the Standard Workload Format, version 2.2, as in the Parallel Workloads Archive."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from batsched_py.bounded_file import read_lines, reported
from batsched_py.errors import WorkloadError
from batsched_py.model.limits import LIMITS, LONGEST, TOO_LONG, Limits
from batsched_py.text.display import shown
from batsched_py.text.representation import Brief

#: A number at the beginning of a header, of at most eleven digits.
_WHOLE: Final = re.compile(r"[+-]?\d{1,11}(?![.,]?\d)", re.ASCII)
_DAY: Final = 86400
_HEADER = re.compile(r";\s*([A-Za-z]\w*)\s*:\s*(.*)")


class SwfRecord(NamedTuple):
    """One job of a log: the 18 fields of a line, in the format's order; -1 where the log does not know.

    Times are in seconds, memory in kilobytes for each processor; `submit` counts from the start of the log.
    """

    number: int
    submit: float
    wait: float
    run: float
    used_processors: int
    cpu_time: float
    used_memory: float
    requested_processors: int
    requested_time: float
    requested_memory: float
    status: int
    user: int
    group: int
    executable: int
    queue: int
    partition: int
    preceding_job: int
    think_time: float


#: A record of which nothing is known.
UNKNOWN: Final = SwfRecord(*[-1] * len(SwfRecord._fields))
#: Number of fields of a line; archives append fields of their own.
FIELDS: Final = len(SwfRecord._fields)
#: Positions of the times that become part of a workload: submit, run, requested_time.
_TIMES = (1, 3, 8)
#: Positions of the fields that archives also write as fractions; the others are whole numbers.
_FRACTIONS = frozenset({1, 2, 3, 5, 6, 8, 9, 17})


class SwfLog(Brief, frozen=True):
    """A log as it was read, without corrections.

    Attributes:
        source: its file, for messages.
        headers: the `; Key: value` comments; the lines of a key that comes again are joined by line ends.
        records: the jobs, in the order of the file.
        header_lines: key -> its first line, from 1.
        long_lines: the number of lines with more than 18 fields, of which the first 18 were read.
        names: number -> the id of a job whose number was given by the reader of another format.
        members: number -> members of such a job.
        dropped: rule of cleaning -> the number of rows that such a reader has left out.
    """

    source: str
    headers: Mapping[str, str]
    records: tuple[SwfRecord, ...]
    header_lines: Mapping[str, int] = MappingProxyType({})
    long_lines: int = 0
    names: Mapping[int, str] = MappingProxyType({})
    members: Mapping[int, Mapping[str, str]] = MappingProxyType({})
    dropped: Mapping[str, int] = MappingProxyType({})

    @property
    def machine_size(self) -> int:
        """Return the processors of the machine: the header MaxProcs, else MaxNodes; 0 if neither is above 0.

        WorkloadError if the one that decides does not begin with a number: jobs larger than the machine would stay.
        """
        for key in ("MaxProcs", "MaxNodes"):
            if size := self._header_size(key):
                return size
        return 0

    def members_of(self, record: SwfRecord, fields: Sequence[str] = ()) -> Mapping[str, str | int]:
        """Return what becomes a member of a job of a workload: whose it is, and these fields, where they are known."""
        if record.number in self.members:
            return self.members[record.number]
        return {name: value for name in ("user", *fields) if (value := getattr(record, name)) >= 0}

    @property
    def first(self) -> float:
        """Return the first submission that is known, 0 without one."""
        return min((record.submit for record in self.records if record.submit >= 0), default=0.0)

    @property
    def start(self) -> datetime | None:
        """The date at which the clock was at 0, by the headers UnixStartTime and TimeZone; None if they do not tell.

        The offset is that of TimeZone, in seconds; UTC without it. A start of 0 stands for an unknown one.
        """
        found = (_WHOLE.match(self.headers.get(key, "")) for key in ("UnixStartTime", "TimeZone"))
        second, offset = (0 if number is None else int(number[0]) for number in found)
        zone = UTC if abs(offset) >= _DAY else timezone(timedelta(seconds=offset))
        return datetime.fromtimestamp(second, zone) if 0 < second <= LONGEST else None

    def _header_size(self, key: str) -> int:
        """Return 0 for "unknown": an absent or empty header, 0 or a negative number."""
        text = self.headers.get(key, "")
        number = re.match(r"(-?\d{1,9})(?![.,]?\d)", text, re.ASCII)
        if number is None and text:
            rule = f"must begin with a whole number of processors, not {shown(text)}; --hosts says it instead"
            raise WorkloadError(self.source, f"line {self.header_lines.get(key, 0)}, header {key}", rule)
        return max(0, int(number[1])) if number else 0


def read_swf(path: Path, *, limits: Limits = LIMITS) -> SwfLog:
    """Read a log, plain or compressed by gzip; WorkloadError names the file, the line and the rule that is broken."""
    headers: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    records: list[SwfRecord] = []
    long_lines = 0
    for number, line in enumerate(_read_lines(path, limits), 1):
        text = line.strip()
        if text.startswith(";"):
            key = _keep_header(headers, text)
            lines.setdefault(key, number)
        elif text:
            pieces = text.split()
            long_lines += len(pieces) > FIELDS
            try:
                records.append(_record(pieces[:FIELDS]))
                limits.check("jobs", len(records))
            except ValueError as error:
                raise WorkloadError(str(path), f"line {number}", str(error)) from error
    joined = {key: "\n".join(values) for key, values in headers.items()}
    return SwfLog(str(path), joined, tuple(records), lines, long_lines)


def _read_lines(path: Path, limits: Limits) -> Iterator[str]:
    number = 0
    with reported(path, WorkloadError, lambda: f"line {number + 1}"):
        for content in read_lines(path, limits):
            # Headers of old logs are in any encoding, jobs are digits.
            for line in content.decode(errors="replace").splitlines():
                yield line
                number += 1


def _keep_header(headers: dict[str, list[str]], text: str) -> str:
    """Keep a header, and return its key; "" for another comment."""
    match = _HEADER.fullmatch(text)
    if match is None:
        return ""
    key, value = match[1], match[2].strip()
    headers.setdefault(key, []).append(value)
    return key


def _record(pieces: list[str]) -> SwfRecord:
    """Convert a line's fields to numbers; ValueError names the field and the rule that it breaks."""
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
