"""The jobs of a table, collected from batches of its rows; each row is kept or counted under a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.reading.limits import NAME_RULE, breaks_csv
from batsched_py.reading.notes import Notes
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import unknown
from batsched_py.traces.column_use import ColumnUse
from batsched_py.traces.formats import ReadOptions
from batsched_py.traces.row_rules import RowTally
from batsched_py.traces.swf_headers import EPOCH
from batsched_py.traces.swf_log import SwfLog, SwfRecord
from batsched_py.traces.swf_remarks import report_records
from batsched_py.traces.table_batch import MOST_CACHED, CellValues, TableBatch
from batsched_py.traces.table_cells import (
    GOING_ON,
    duration_reader,
    instant_reader,
    read_size,
    read_state,
    usual_instant_reader,
)
from batsched_py.traces.table_cells import UNKNOWN as UNKNOWN_TEXTS
from batsched_py.traces.table_columns import DURATIONS, INSTANTS, SIZES, TEXTS, TableColumns

#: Maximum number of characters of a state that are read, and number of digits from which a number remains a text.
_LONGEST_STATE: Final = 100
_DIGITS: Final = 16
#: Maximum number of names of columns in one line.
_MOST_NAMES: Final = 12
#: The quantities with numbers, in the order of the fields of a row's values.
_NUMBERS: Final[Sequence[str]] = (*INSTANTS, *DURATIONS, *SIZES)
_RUN: Final = _NUMBERS.index("run")
#: The state of the rows of a table without a column for it.
_NO_STATE: Final = -2
_MEANING: Final = "has columns of unknown meaning: say it with --columns, like submit=QUEUED_AT,run=SECONDS,size=NODES"


class _JobRow(NamedTuple):
    """The values of a kept row, for the fields of a record; -1 if unknown."""

    submit: float
    wait: float
    run: float
    used: float
    size: float
    request: float
    status: float


class TableJobs:
    """A collector of the jobs of one table.

    Attributes:
        width: number of columns.
    """

    def __init__(
        self, path: Path, options: ReadOptions, columns: TableColumns | None, header: Sequence[str], place: str
    ) -> None:
        """Check the columns; `place` is that of their names. WorkloadError for columns that are missing or twice."""
        self._path, self._options, self._header, self.width = path, options, header, len(header)
        self._notes, self._tally = Notes(str(path)), RowTally()
        if columns is None:
            raise WorkloadError(str(path), place, _MEANING)
        self._columns = replace(columns, zone=options.zone or columns.zone)
        self._check(place)
        places = {quantity: header.index(column.name) for quantity, column in columns.columns.items()}
        #: Place of a column with numbers or states -> its values; None for a quantity without a column.
        self._cells = {quantity: self._cells_of(quantity, places) for quantity in (*_NUMBERS, "state")}
        self._id = places.get("id")
        #: Name of a member -> the place of its column, and the members of rows by their cells.
        self._texts = {str(name): places[name] for name in TEXTS if name in places}
        self._texts |= {name.lower(): header.index(name) for name in options.keep}
        self._members: dict[tuple[str, ...], dict[str, Any]] = {}
        #: The kept rows, their ids, and their members.
        self._rows: list[_JobRow] = []
        self._names: dict[int, str] = {}
        self._seen: set[str] = set()
        self._members_of: dict[int, Mapping[str, Any]] = {}

    def add(self, batch: TableBatch) -> None:
        """Add the jobs of some rows. WorkloadError for the limit of jobs, and with strict rules for a wrong row."""
        try:
            values, names = self._values(batch), self._names_in(batch)
        except ValueError as error:
            if len(batch.lines) == 1:
                self.drop(str(error), f"line {batch.lines[0]}")
            else:
                for half in batch.halves():
                    self.add(half)
            return
        count = len(batch.lines)
        nothing = [None] * count
        columns = [values.get(quantity, nothing) for quantity in _NUMBERS]
        states = values.get("state", [_NO_STATE] * count)
        rows = zip(zip(*columns, strict=True), states, names or [""] * count, self._members_in(batch), strict=True)
        for at, (numbers, state, name, members) in enumerate(rows):
            if state is None or state == GOING_ON:
                self._count_state(batch, at, known=state is not None)
                continue
            row = _job_row(numbers, -1 if state == _NO_STATE else state)
            reason = self._reason_to_drop(row, numbers)
            if reason:
                self._tally.add(reason, f"line {batch.lines[at]}")
                continue
            if name in self._seen:
                self._count_twice(name, f"line {batch.lines[at]}")
                continue
            self._rows.append(row)
            number = len(self._rows)
            if name:
                self._seen.add(name)
                self._names[number] = name
            self._members_of[number] = members
        if len(self._rows) > self._options.limits.jobs:
            raise WorkloadError(str(self._path), f"line {batch.lines[-1]}", self._options.limits.rule("jobs"))

    def drop(self, rule: str, place: str) -> None:
        """Leave out a row that cannot be read; WorkloadError if the rules are strict."""
        if self._options.strict:
            raise WorkloadError(str(self._path), place, rule)
        self._tally.add("dropped_row", f"{place}: {rule}")
        self._notes.add(f"row dropped: {rule}", place)

    def pass_over(self, place: str) -> None:
        """Count a row without a value."""
        self._tally.add("passed_over_blank", place)

    def log(self) -> SwfLog:
        """Return the log."""
        first = min((row.submit for row in self._rows if row.submit >= 0), default=0)
        zero = int(first) if first >= EPOCH else 0
        records = tuple(
            tuple.__new__(
                SwfRecord,
                (number, submit - zero if submit >= 0 else submit, wait, run, used, -1, -1, size, request, -1, status)
                + (-1,) * 7,
            )
            for number, (submit, wait, run, used, size, request, status) in enumerate(self._rows, 1)
        )
        report_records(records, self._notes, most="most jobs got more than they requested, such as whole nodes")
        return SwfLog(
            str(self._path),
            {"UnixStartTime": str(zero)} if zero else {},
            records,
            names=self._names,
            members=self._members_of,
            kept=tuple(name.lower() for name in self._options.keep),
            dropped=self._tally.counts,
            places=self._tally.places,
            columns=self._use,
            assumed=self._assumed(),
            notes=self._notes.lines(),
        )

    def _values(self, batch: TableBatch) -> dict[str, list[float | None]]:
        """Return quantity -> values. ValueError names column and rule of a wrong cell."""
        return {
            quantity: list(map(found[1], batch.columns[found[0]]))
            for quantity, found in self._cells.items()
            if found is not None
        }

    def _reason_to_drop(self, row: _JobRow, numbers: Sequence[float | None]) -> str:
        """Return the rule that leaves out a row without a run time; "" for others, and if cleaning will say it."""
        if row.run < 0 and numbers[_RUN] is None:
            for quantity, rule in (("start", "dropped_never_ran"), ("end", "dropped_going_on")):
                if self._cells[quantity] is not None and numbers[_NUMBERS.index(quantity)] is None:
                    return rule
        return ""

    def _count_state(self, batch: TableBatch, at: int, *, known: bool) -> None:
        if known:
            self._tally.add("dropped_going_on", f"line {batch.lines[at]}")
            return
        found = self._cells["state"]
        assert found is not None  # noqa: S101 - the state was read from it
        text = batch.columns[found[0]][at].strip()
        self._tally.add("dropped_state", f"line {batch.lines[at]}: {shown(text)}")
        self._notes.add("rows of a state that is unknown are left out", f"line {batch.lines[at]}, {shown(text)}")

    def _count_twice(self, name: str, place: str) -> None:
        if self._options.strict:
            raise WorkloadError(str(self._path), place, f"job {displayed(name)} is there twice")
        self._tally.add("dropped_duplicate", place)

    def _names_in(self, batch: TableBatch) -> list[str]:
        """Return the ids of rows; none if the table has none. ValueError."""
        if self._id is None:
            return []
        names = [cell.strip() for cell in batch.columns[self._id]]
        longest = self._options.limits.name_size
        for name in names:
            if not name.isalnum() or len(name) > longest:
                self._check_name(name)
        return names

    def _check_name(self, name: str) -> None:
        if not name or breaks_csv(name) or "!" in name or len(name) > self._options.limits.name_size:
            column = displayed(self._header[self._id or 0])
            raise ValueError(f"column {column} {NAME_RULE}, and no '!', not {shown(name)}")

    def _members_in(self, batch: TableBatch) -> list[Mapping[str, Any]]:
        """Return the members of the jobs of rows; rows with the same texts share them."""
        if not self._texts:
            return [{}] * len(batch.lines)
        made, known = list[Mapping[str, Any]](), self._members
        for cells in zip(*(batch.columns[place] for place in self._texts.values()), strict=True):
            members = known.get(cells)
            if members is None:
                members = _members(self._texts, cells)
                if len(known) < MOST_CACHED:
                    known[cells] = members
            made.append(members)
        return made

    def _check(self, place: str) -> None:
        """Refuse columns that the table lacks or has twice, and note those that are not read."""
        lacking = self._columns.lacking()
        if lacking:
            raise WorkloadError(str(self._path), "--columns", f"lacks {lacking}")
        read = {column.name: quantity for quantity, column in self._columns.columns.items()}
        read |= {name: f"member {name.lower()}" for name in self._options.keep}
        for name in sorted(read):
            if self._header.count(name) != 1:
                twice = name in self._header
                rule = f"has the column {shown(name)} twice" if twice else f"has no column {shown(name)}"
                raise WorkloadError(str(self._path), place, rule if twice else f"{rule}: {unknown(name, self._header)}")
        unread = tuple(name for name in self._header if name not in read)
        self._use = ColumnUse(read, unread, self._columns.preset)
        if unread:
            more = f" and {len(unread) - _MOST_NAMES} more" if len(unread) > _MOST_NAMES else ""
            self._notes.add(f"columns that are not read: {', '.join(map(displayed, unread[:_MOST_NAMES]))}{more}")

    def _assumed(self) -> tuple[str, ...]:
        """Return a sentence for each default of the columns."""
        found = [
            f"column {displayed(column.name)}: numbers are seconds"
            for quantity, column in self._columns.columns.items()
            if quantity in (*INSTANTS, *DURATIONS) and not column.form
        ]
        if not self._options.zone and any(quantity in INSTANTS for quantity in self._columns.columns):
            found.append(f"dates without an offset are in {self._columns.zone}")
        return tuple(found)

    def _cells_of(self, quantity: str, places: Mapping[str, int]) -> tuple[int, Callable[[str], float | None]] | None:
        """Return the place of the column of a quantity, and the reader of its cells."""
        if quantity not in places:
            return None
        column = self._columns.columns[quantity]
        if quantity in INSTANTS:
            zone = self._zone()
            cells = CellValues(column.name, instant_reader(column, zone)).parsed
            return places[quantity], usual_instant_reader(cells, whole_hours=zone is UTC) if not column.form else cells
        other = read_size if quantity in SIZES else _read_state
        parse = duration_reader(column) if quantity in DURATIONS else other
        return places[quantity], CellValues(column.name, parse).__getitem__

    def _zone(self) -> tzinfo:
        try:
            return UTC if self._columns.zone == "UTC" else ZoneInfo(self._columns.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            rule = f"there is no time zone {shown(self._columns.zone)}"
            raise WorkloadError(str(self._path), "--zone", rule) from None


def _job_row(numbers: Sequence[float | None], status: float) -> _JobRow:
    """Return the values of a row, with those that follow from others."""
    submit, start, end, wait, run, request, size, used = numbers
    if start is not None:
        if submit is None and wait is not None:
            submit = start - wait
        elif wait is None and submit is not None:
            wait = start - submit
        if run is None and end is not None:
            run = end - start
    return _JobRow(
        -1 if submit is None else submit,
        -1 if wait is None or wait < 0 else wait,
        -1 if run is None or run < 0 else run,
        -1 if used is None else used,
        -1 if size is None else size,
        -1 if request is None else request,
        status,
    )


def _read_state(text: str) -> float | None:
    return read_state(text[:_LONGEST_STATE])


def _members(names: Mapping[str, int], cells: Sequence[str]) -> dict[str, Any]:
    """Return the members of a job: the texts of a row that are known."""
    found: dict[str, Any] = {}
    for name, cell in zip(names, cells, strict=True):
        text = cell.strip()
        if text.lower() not in UNKNOWN_TEXTS:
            found[name] = int(text) if text.isascii() and text.isdigit() and len(text) < _DIGITS else text
    return found
