"""A reader of tables of jobs: a line of names, and a line for each job, in CSV or with another delimiter.

The columns have any names: `TableColumns` says what they mean. Ended jobs become the records of a log, which the rules
of cleaning see as those of the Standard Workload Format. Each row is kept or counted under a rule; columns that are not
read are named in one line.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.reading.limits import NAME_RULE, Limits, breaks_csv
from batsched_py.reading.notes import Notes
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import unknown
from batsched_py.traces.column_use import ColumnUse
from batsched_py.traces.formats import ReadOptions
from batsched_py.traces.row_rules import RowTally
from batsched_py.traces.swf_headers import EPOCH
from batsched_py.traces.swf_log import SwfLog, SwfRecord
from batsched_py.traces.swf_remarks import report_records
from batsched_py.traces.table_cells import UNKNOWN as UNKNOWN_TEXTS
from batsched_py.traces.table_cells import duration_reader, instant_reader, read_size, read_state
from batsched_py.traces.table_columns import DELIMITERS, DURATIONS, INSTANTS, SIZES, TEXTS, TableColumns, column_names
from batsched_py.traces.table_presets import preset_of

#: Maximum number of characters of a state that are read, and number of digits from which a number remains a text.
_LONGEST_STATE: Final = 100
_DIGITS: Final = 16
#: Number of different cells of a column whose values are kept, as durations and sizes are the same in many rows.
_CACHED: Final = 4096
#: Maximum number of lines of one row, whose texts may contain line ends.
_MOST_LINES: Final = 100
#: Maximum number of names of columns in one line.
_MOST_NAMES: Final = 12


def read(path: Path, options: ReadOptions) -> SwfLog:
    """Read a table whose columns were named, or are those of a preset. WorkloadError names line, column and rule."""
    return _TableReader(path, options).log()


class _TableReader:
    """A reader of one file."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        #: The number of the last line that was read, and of the last one of the row before.
        self._path, self._options, self._line, self._begun = path, options, 0, 0
        self._notes, self._tally = Notes(str(path)), RowTally()
        self._lines = self._read(options.limits)
        header = next(self._lines, "").strip("\r\n")
        self._begun = self._line
        columns = TableColumns(options.columns) if options.columns else preset_of(header)
        if columns is None:
            rule = "has columns of unknown meaning: say it with --columns, like submit=QUEUED_AT,run=SECONDS,size=NODES"
            raise self._error(rule)
        self._columns = replace(columns, zone=options.zone or columns.zone)
        wanted = {column.name for column in columns.columns.values()} | set(options.keep)
        self._rows, self._header = self._split(header, wanted)
        self._check(wanted)
        self._cells = self._readers()
        places = {str(quantity): self._header.index(column.name) for quantity, column in columns.columns.items()}
        self._id, self._state = places.get("id"), places.get("state")
        #: Name of a member -> the place of its column.
        self._texts = {str(name): places[name] for name in TEXTS if name in places}
        self._texts |= {name.lower(): self._header.index(name) for name in options.keep}
        self._read_state = lru_cache(_CACHED)(read_state)

    def log(self) -> SwfLog:
        """Return the log. WorkloadError."""
        records, names, members = list[SwfRecord](), dict[int, str](), dict[int, dict[str, Any]]()
        seen = set[str]()
        for cells in self._sound_rows():
            if len(cells) != len(self._header):
                self._drop(f"must have {len(self._header)} cells as the first line, not {len(cells)}")
                continue
            number = len(records) + 1
            try:
                record = self._record(number, cells)
                name = self._name(cells)
            except ValueError as error:
                self._drop(str(error))
                continue
            if record is None:
                continue
            if name:
                if name in seen:
                    if self._options.strict:
                        raise self._error(f"job {displayed(name)} is there twice")
                    self._tally.add("dropped_duplicate", f"line {self._line}")
                    continue
                seen.add(name)
                names[number] = name
            records.append(record)
            members[number] = self._members(cells)
            if number > self._options.limits.jobs:
                raise self._error(self._options.limits.rule("jobs"))
        return self._made(records, names, members)

    def _sound_rows(self) -> Iterator[list[str]]:
        """Yield the rows that are not blank."""
        try:
            for cells in self._rows:
                if any(cells):
                    yield cells
                elif cells:
                    self._tally.add("passed_over_blank", f"line {self._line}")
                self._begun = self._line
        except csv.Error as error:
            raise self._error(f"cannot be read: {error}") from None

    def _made(self, records: list[SwfRecord], names: dict[int, str], members: dict[int, dict[str, Any]]) -> SwfLog:
        first = min((record.submit for record in records if record.submit >= 0), default=0)
        zero = int(first) if first >= EPOCH else 0
        if zero:
            records = [
                record._replace(submit=record.submit - zero) if record.submit >= 0 else record for record in records
            ]
        report_records(records, self._notes, most="most jobs got more than they requested, such as whole nodes")
        return SwfLog(
            str(self._path),
            {"UnixStartTime": str(zero)} if zero else {},
            tuple(records),
            names=names,
            members=members,
            kept=tuple(name.lower() for name in self._options.keep),
            dropped=self._tally.counts,
            places=self._tally.places,
            columns=self._use,
            assumed=self._assumed(),
            notes=self._notes.lines(),
        )

    def _read(self, limits: Limits) -> Iterator[str]:
        with reported(self._path, WorkloadError, lambda: f"line {self._line + 1}"):
            for content in read_lines(self._path, limits):
                self._line += 1
                if self._line - self._begun > _MOST_LINES:
                    rule = f"begins a row of over {_MOST_LINES} lines: a quote is not closed"
                    raise WorkloadError(str(self._path), f"line {self._begun + 1}", rule)
                yield content.decode(errors="replace")

    def _error(self, rule: str) -> WorkloadError:
        return WorkloadError(str(self._path), f"line {self._line}" if self._line else "", rule)

    def _drop(self, rule: str) -> None:
        """Leave out a row that cannot be read; WorkloadError if the rules are strict."""
        if self._options.strict:
            raise self._error(rule)
        self._tally.add("dropped_row", f"line {self._line}: {rule}")
        self._notes.add(f"row dropped: {rule}", f"line {self._line}")

    def _split(self, header: str, wanted: set[str]) -> tuple[Iterator[list[str]], list[str]]:
        """Return the rows below the header, and the names in it, with the delimiter that finds most of the wanted."""
        if not header.strip():
            raise self._error("is empty: a line with the names of the columns is missing")
        best = max(DELIMITERS, key=lambda one: len(wanted & set(column_names(header, one))))
        rows = csv.reader(self._lines, delimiter=best, skipinitialspace=True)
        return rows, column_names(header, best)

    def _check(self, wanted: set[str]) -> None:
        """Refuse columns that the table lacks or has twice, and note those that are not read."""
        lacking = self._columns.lacking()
        if lacking:
            raise WorkloadError(str(self._path), "--columns", f"lacks {lacking}")
        for name in sorted(wanted):
            if self._header.count(name) != 1:
                twice = name in self._header
                rule = f"has the column {shown(name)} twice" if twice else f"has no column {shown(name)}"
                raise self._error(rule if twice else f"{rule}: {unknown(name, self._header)}")
        others = [displayed(name) for name in self._header if name not in wanted]
        read = {column.name: quantity for quantity, column in self._columns.columns.items()}
        read |= {name: f"member {name.lower()}" for name in self._options.keep}
        unread = tuple(name for name in self._header if name not in wanted)
        self._use = ColumnUse(read, unread, self._columns.preset)
        if others:
            more = f" and {len(others) - _MOST_NAMES} more" if len(others) > _MOST_NAMES else ""
            self._notes.add(f"columns that are not read: {', '.join(others[:_MOST_NAMES])}{more}")

    def _assumed(self) -> tuple[str, ...]:
        """Return a sentence for each default of the columns."""
        columns = {column.name: quantity for quantity, column in self._columns.columns.items() if not column.form}
        found = [
            f"column {displayed(name)}: numbers are seconds"
            for name, quantity in columns.items()
            if quantity in (*INSTANTS, *DURATIONS)
        ]
        if not self._options.zone and any(quantity in INSTANTS for quantity in self._columns.columns):
            found.append(f"dates without an offset are in {self._columns.zone}")
        return tuple(found)

    def _readers(self) -> dict[str, tuple[int, Callable[[str], float | None]]]:
        """Return the place of each quantity with a value, and the reader of its cells."""
        try:
            zone = UTC if self._columns.zone == "UTC" else ZoneInfo(self._columns.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            rule = f"there is no time zone {shown(self._columns.zone)}"
            raise WorkloadError(str(self._path), "--zone", rule) from None
        found: dict[str, tuple[int, Callable[[str], float | None]]] = {}
        for quantity, column in self._columns.columns.items():
            place = self._header.index(column.name)
            if quantity in INSTANTS:
                found[quantity] = place, instant_reader(column, zone)
            elif quantity in DURATIONS:
                found[quantity] = place, lru_cache(_CACHED)(duration_reader(column))
            elif quantity in SIZES:
                found[quantity] = place, lru_cache(_CACHED)(read_size)
        return found

    def _record(self, number: int, cells: Sequence[str]) -> SwfRecord | None:
        """Return the record of a row; None if it is left out under a rule. ValueError names column and rule."""
        values: dict[str, float | None] = {}
        for quantity, (place, read_cell) in self._cells.items():
            try:
                values[quantity] = read_cell(cells[place].strip())
            except (ValueError, OverflowError) as error:
                column = displayed(self._header[place])
                raise ValueError(f"column {column} {error}, not {shown(cells[place].strip())}") from None
        submit, start, end, wait, run, request, size, used = map(
            values.get, ("submit", "start", "end", "wait", "run", "request", "size", "used")
        )
        status = self._status(cells)
        if status is None:
            return None
        if start is not None and submit is not None and wait is None:
            wait = start - submit
        if submit is None and start is not None and wait is not None:
            submit = start - wait
        if run is None and start is not None and end is not None:
            run = end - start
        if run is None and "start" in values and start is None:
            self._tally.add("dropped_never_ran", f"line {self._line}")
            return None
        if run is None and "end" in values and end is None:
            self._tally.add("dropped_going_on", f"line {self._line}")
            return None
        return SwfRecord(
            number,
            -1 if submit is None else submit,
            -1 if wait is None or wait < 0 else wait,
            -1 if run is None or run < 0 else run,
            -1 if used is None else int(used),
            -1,
            -1,
            -1 if size is None else int(size),
            -1 if request is None else request,
            -1,
            status,
            *(-1, -1, -1, -1, -1, -1, -1),
        )

    def _status(self, cells: Sequence[str]) -> int | None:
        """Return the status of the job of a row; None, and count it, if it has not ended or the word is unknown."""
        if self._state is None:
            return -1
        text = cells[self._state].strip()
        status = self._read_state(text[:_LONGEST_STATE])
        if status is None:
            self._tally.add("dropped_state", f"line {self._line}: {shown(text)}")
            self._notes.add("rows of a state that is unknown are left out", f"line {self._line}, {shown(text)}")
            return None
        if status < 0:
            self._tally.add("dropped_going_on", f"line {self._line}")
            return None
        return status

    def _name(self, cells: Sequence[str]) -> str:
        """Return the id of a row, "" if the table has none. ValueError."""
        if self._id is None:
            return ""
        name = cells[self._id].strip()
        if not name or breaks_csv(name) or "!" in name or len(name) > self._options.limits.name_size:
            column = displayed(self._header[self._id])
            raise ValueError(f"column {column} {NAME_RULE}, and no '!', not {shown(name)}")
        return name

    def _members(self, cells: Sequence[str]) -> dict[str, Any]:
        """Return the texts of a row that become members of the job."""
        found: dict[str, Any] = {}
        for name, place in self._texts.items():
            text = cells[place].strip()
            if text.lower() not in UNKNOWN_TEXTS:
                found[name] = int(text) if text.isascii() and text.isdigit() and len(text) < _DIGITS else text
        return found
