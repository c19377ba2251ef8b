"""The format of a file of jobs, told by its first line, whatever its name."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Final

from batsched_py.bounded_file import read_lines, reported
from batsched_py.errors import WorkloadError
from batsched_py.model.limits import LIMITS, Limits

#: Between the fields of sacct: of --parsable2, of --delimiter, of a spreadsheet.
DELIMITERS: Final = "|;\t,"
#: Fields of a line of a log in the Standard Workload Format.
_FIELDS: Final = 18
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
#: Characters of a line that are looked at.
_MOST: Final = 10_000


class LogFormat(Enum):
    """A format of files of jobs, in words."""

    SWF = "a log in the Standard Workload Format"
    SACCT = "the output of sacct"
    JSON = "JSON"
    XML = "XML, as a lease workload"
    TABLE = "a table of Batsim's jobs"


def format_of_line(line: str) -> LogFormat | None:
    """Return the format of a file whose first line with anything in it is this; None for another."""
    text = line.strip()[:_MOST]
    if text.startswith(("{", "[")):
        return LogFormat.JSON
    if text.startswith("<"):
        return LogFormat.XML
    if delimiter_of(text):
        return LogFormat.SACCT
    if "job_id" in text.split(","):
        return LogFormat.TABLE
    pieces = text.split()
    numbers = len(pieces) >= _FIELDS and all(map(_NUMBER.fullmatch, pieces[:_FIELDS]))
    return LogFormat.SWF if numbers or text.startswith(";") else None


def format_of(path: Path, limits: Limits = LIMITS) -> LogFormat | None:
    """Return the format of a file; None for another. WorkloadError if it cannot be read."""
    with reported(path, WorkloadError, lambda: "line 1"):
        for line in read_lines(path, limits):
            if line.strip():
                return format_of_line(line.decode(errors="replace"))
    return None


def delimiter_of(line: str) -> str:
    """Return what stands between the names of fields in the first line of sacct's output; "" if it is none."""
    for delimiter in DELIMITERS:
        names = [name.strip().strip('"').casefold() for name in line.split(delimiter)]
        if len(names) > 1 and "jobid" in names and "job_id" not in names:
            return delimiter
    return ""


def looks_like(line: str, expected: LogFormat) -> str:
    """Return the end of an error about a line that is of another format than the expected one; "" if it is not."""
    found = format_of_line(line)
    return "" if found in (None, expected) else f"; the file looks like {found.value}"
