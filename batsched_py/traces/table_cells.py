"""The cells of a table of jobs: dates, durations, sizes and states, in the forms that logs use.

Forms: ISO 8601 with or without an offset, clock times like 1-02:03:04 and 02:03:04, and numbers in the units of
`table_columns`. An empty cell, and words like NULL, are unknown values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from typing import Final

from batsched_py.reading.limits import LATEST, LONGEST, TOO_LATE, TOO_LONG
from batsched_py.text.display import shown
from batsched_py.traces.table_columns import FACTORS, UNITS, TableColumn

#: Texts in lower case for an unknown value.
UNKNOWN: Final = frozenset({"", "-", "null", "none", "nan", "nat", "na", "n/a", "unknown", "not set", "unlimited"})
_NUMBER: Final = re.compile(r"[+-]?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?", re.ASCII)
#: [days-]hours:minutes[:seconds], or "2 days, 03:04:05" as databases write it.
_CLOCK: Final = re.compile(r"(?:(\d{1,7})(?:-| days?,? ?))?(\d{1,9}):(\d{1,2})(?::(\d{1,2}(?:\.\d{1,9})?))?", re.ASCII)
#: Words in lower case, the end of a job -> the status of a log: 1 completed, 0 failed, 5 cancelled.
_ENDS: Final[Mapping[str, int]] = (
    dict.fromkeys(
        ["completed", "complete", "succeeded", "success", "successful", "finished", "done", "pass", "passed", "ok"], 1
    )
    | dict.fromkeys(
        ["failed", "fail", "failure", "error", "timeout", "node_fail", "out_of_memory", "oom", "preempted"], 0
    )
    | dict.fromkeys(["evicted", "lost", "deadline", "boot_fail", "aborted"], 0)
    | dict.fromkeys(["cancelled", "canceled", "killed", "terminated", "deleted"], 5)
)
#: Status of a job that has not ended.
GOING_ON: Final = -1
_GOING_ON_WORDS: Final = frozenset(
    {"pending", "queued", "running", "suspended", "requeued", "submitted", "scheduled", "waiting", "held", "completing"}
)
#: The beginning of a usual date, its numbers of characters up to the minute and to the second, and the texts after
#: these with their seconds.
_USUAL: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:", re.ASCII)
_AFTER_HOUR: Final = 14
_AFTER_MINUTE: Final = 17
_IN_MINUTE: Final = {f"{second:02d}": second for second in range(60)}
_IN_HOUR: Final = {f"{second // 60:02d}:{second % 60:02d}": second for second in range(3600)}
#: The largest amount of a demand.
_MOST_AMOUNT: Final = 1e9
#: Maximum number of hours or minutes that are kept.
_MOST_KNOWN: Final = 1_000_000
#: Reads a cell; None for an unknown value. ValueError with the rule.
Cell = Callable[[str], float | None]


def instant_reader(column: TableColumn, zone: tzinfo) -> Cell:
    """Return the reader of an instant: seconds since 1970, or since the start of a log that counts from there."""
    scale = UNITS.get(column.form)
    if scale is not None:
        return lambda text: _checked(_number(text, scale), LATEST, TOO_LATE)
    if column.form:
        pattern = column.form

        def read_pattern(text: str) -> float | None:
            if text.lower() in UNKNOWN:
                return None
            try:
                return _seconds(datetime.strptime(text, pattern), zone)  # the zone is added
            except ValueError:
                raise ValueError(f"must have the form {shown(pattern)}") from None

        return read_pattern

    def read(text: str) -> float | None:
        try:
            date = datetime.fromisoformat(text.removesuffix(" UTC")) if "-" in text[1:] else None
        except ValueError:
            date = None
        return _second(text) if date is None else _seconds(date, zone)

    return read


def usual_instant_reader(read: Cell, *, whole_hours: bool) -> Cell:
    """Return a reader of instants that knows dates like 2024-05-31 08:00:00, and leaves other cells to `read`.

    Each hour is converted once; each minute unless offsets change at `whole_hours` only.
    """
    cut, rest = (_AFTER_HOUR, _IN_HOUR) if whole_hours else (_AFTER_MINUTE, _IN_MINUTE)
    known: dict[str, float] = {}

    def read_usual(cell: str) -> float | None:
        try:
            return known[cell[:cut]] + rest[cell[cut:]]
        except KeyError:
            second = read(cell)
            if second is not None and cell[cut:] in rest and len(known) < _MOST_KNOWN and _USUAL.match(cell):
                known[cell[:cut]] = second - rest[cell[cut:]]
            return second

    return read_usual


def duration_reader(column: TableColumn) -> Cell:
    """Return the reader of a duration in seconds."""
    scale = UNITS[column.form or "s"]

    def read(text: str) -> float | None:
        clock = _CLOCK.fullmatch(text) if ":" in text else None
        if clock is None:
            return _checked(_number(text, scale), LONGEST, TOO_LONG)
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return _checked(_whole(days * 86_400 + hours * 3600 + minutes * 60 + seconds), LONGEST, TOO_LONG)

    return read


def read_size(text: str) -> int | None:
    """Return a number of hosts or processors; None for an unknown one. ValueError."""
    number = _number(text, 1)
    if number is not None and (number % 1 or number > 1e9):
        raise ValueError("must be a whole number up to 1e9")
    return None if number is None or number < 0 else int(number)


def amount_reader(quantity: str, column: TableColumn) -> Cell:
    """Return the reader of an amount of a demand: cores, MiB of memory, GPUs, or a share of each."""
    factor = FACTORS[quantity][column.form]

    def read(text: str) -> float | None:
        number = _number(text, factor)
        if number is None or number == -factor:
            return None
        if not 0 <= number <= _MOST_AMOUNT:
            raise ValueError(f"must be from 0 to {_MOST_AMOUNT:g}")
        if quantity == "gpus" and number > 1 and number % 1:
            raise ValueError("must be a part of a GPU, or a whole number of GPUs")
        if quantity == "gpu_share" and number > 1:
            raise ValueError("must be at most a whole GPU")
        return round(number, 3)

    return read


def read_state(text: str) -> int | None:
    """Return the status of a job that has ended; -1 if it has not; None for an unknown word.

    A number is an exit status: 0 means completed. A word may have a suffix, as in "CANCELLED by 1000" and "TIMEOUT+".
    """
    word = text.partition(" ")[0].rstrip("+").lower()
    if word in _GOING_ON_WORDS:
        return GOING_ON
    if word in _ENDS:
        return _ENDS[word]
    first = word.partition(":")[0]
    return int(not int(first)) if re.fullmatch(r"-?\d{1,9}", first, re.ASCII) else None


def _second(text: str) -> float | None:
    try:
        return _checked(_number(text, 1), LATEST, TOO_LATE)
    except ValueError as error:
        if str(error) in (TOO_LATE, "must not be negative"):
            raise
        raise ValueError("must be a date like 2024-05-31 08:00:00, or a number of seconds") from None


def _seconds(date: datetime, zone: tzinfo) -> float:
    return _whole((date if date.tzinfo is not None else date.replace(tzinfo=zone)).timestamp())


def _number(text: str, scale: float) -> float | None:
    if text.lower() in UNKNOWN:
        return None
    if not _NUMBER.fullmatch(text):
        raise ValueError("must be a number")
    value = float(text) * scale
    if not math.isfinite(value):
        raise ValueError("must be finite")
    return _whole(value if scale >= 1 else round(value, 6))


def _checked(value: float | None, most: float, rule: str) -> float | None:
    """Return a value within its limits, and None for -1, as logs write an unknown value."""
    if value is None or value == -1:
        return None
    if value < 0:
        raise ValueError("must not be negative")
    if value > most:
        raise ValueError(rule.rstrip(","))
    return value


def _whole(value: float) -> float:
    return int(value) if value.is_integer() else value
