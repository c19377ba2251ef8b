"""Detection of the format of a file of jobs from its first line, independent of its name."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Final

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.reading.limits import LIMITS, Limits

#: Delimiters in the output of sacct: that of --parsable2, and those of --delimiter and spreadsheets.
DELIMITERS: Final = "|;\t,"
#: Number of fields of a line of a log in the Standard Workload Format.
_FIELDS: Final = 18
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
#: Maximum number of characters of a line that are checked.
_MOST: Final = 10_000


class LogFormat(Enum):
    """The formats of files of jobs, with their descriptions for messages."""

    SWF = "a log in the Standard Workload Format"
    SACCT = "the output of sacct"
    JSON = "JSON"
    XML = "XML, as a lease workload"
    TABLE = "a table of Batsim's jobs"


def format_of_line(line: str) -> LogFormat | None:
    """Return the format of a file from its first line that is not blank; None if it is unknown."""
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
    """Return the format of a file; None if it is unknown. WorkloadError if it cannot be read."""
    with reported(path, WorkloadError, lambda: "line 1"):
        for line in read_lines(path, limits):
            if line.strip():
                return format_of_line(line.decode(errors="replace"))
    return None


def delimiter_of(line: str) -> str:
    """Return the delimiter of the field names in the first line of sacct's output; "" for any other line."""
    for delimiter in DELIMITERS:
        names = [name.strip().strip('"').casefold() for name in line.split(delimiter)]
        if len(names) > 1 and "jobid" in names and "job_id" not in names:
            return delimiter
    return ""


def looks_like(line: str, expected: LogFormat) -> str:
    """Return a suffix for the error about a line if it has another format than the expected one; "" otherwise."""
    found = format_of_line(line)
    return "" if found in (None, expected) else f"; the file looks like {found.value}"
