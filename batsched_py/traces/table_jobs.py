"""The jobs of a table, collected from batches of its rows; each row is kept or counted under a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from batsched_py.errors import WorkloadError
from batsched_py.reading.limits import NAME_RULE, breaks_csv
from batsched_py.reading.notes import Notes
from batsched_py.text.display import displayed, shown
from batsched_py.traces.formats import ReadOptions
from batsched_py.traces.requested_amounts import RequestedAmounts
from batsched_py.traces.row_rules import RowTally
from batsched_py.traces.swf_headers import EPOCH
from batsched_py.traces.swf_log import CANCELLED, SwfLog, SwfRecord
from batsched_py.traces.swf_remarks import report_records
from batsched_py.traces.table_batch import MOST_CACHED, TableBatch, whole_numbers
from batsched_py.traces.table_cells import GOING_ON
from batsched_py.traces.table_cells import UNKNOWN as UNKNOWN_TEXTS
from batsched_py.traces.table_columns import AMOUNTS, TOTAL
from batsched_py.traces.table_meaning import NUMBERS, TableMeaning, TablePlaces

#: Number of digits from which a number remains a text.
_DIGITS: Final = 16
#: Maximum number of names of columns in one line.
_MOST_NAMES: Final = 12
_RUN: Final = NUMBERS.index("run")
#: The state of the rows of a table without a column for it.
_NO_STATE: Final = -2


class _JobRow(NamedTuple):
    """The values of a kept row, for the fields of a record; -1 if unknown."""

    submit: float
    wait: float
    run: float
    used: float
    size: float
    request: float
    status: float


class _Withdrawn(NamedTuple):
    """A job that was cancelled before it started: its row, id, members and amounts, and its place in the table."""

    row: _JobRow
    name: str
    members: Mapping[str, Any]
    requested: RequestedAmounts | None
    place: str


class TableJobs:
    """A collector of the jobs of one log, which may have several files."""

    def __init__(self, path: Path, options: ReadOptions, meaning: TableMeaning, row: str) -> None:
        """Begin a log; `row` is the word before the number of a row in messages, such as "line"."""
        self._path, self._options, self._meaning, self._row = path, options, meaning, row
        self._notes, self._tally = Notes(str(path)), RowTally()
        #: The file that is read, and its prefix in places.
        self._file, self._prefix = path, ""
        self._places = TablePlaces({}, {}, None, 0, ())
        self._members: dict[tuple[str, ...], dict[str, Any]] = {}
        #: The kept rows, their ids, their members, and the amounts that they request.
        self._rows: list[_JobRow] = []
        self._names: dict[int, str] = {}
        self._seen: set[str] = set()
        self._members_of: dict[int, Mapping[str, Any]] = {}
        self._amounts: dict[int, RequestedAmounts] = {}
        #: Rows of jobs that were cancelled before they started.
        self._withdrawn: list[_Withdrawn] = []
        if meaning.ignored_amounts:
            named = ", ".join(map(displayed, meaning.ignored_amounts))
            self._notes.add(f"amounts are not obeyed without --demands: {named}")
        for sentence in meaning.columns.ignored:
            self._notes.add(sentence)

    @property
    def width(self) -> int:
        """The number of columns of the file that is read."""
        return self._places.width

    def read_names(self, header: Sequence[str]) -> list[str]:
        """Return the names of the columns whose cells are read, in the order of the file."""
        unread = set(self._places.unread)
        return [name for name in header if name not in unread]

    def begin(self, path: Path, header: Sequence[str], place: str) -> None:
        """Begin a file whose columns have these names. WorkloadError for columns that it lacks or has twice."""
        self._file, self._prefix = path, self._prefix_of(path)
        noted = self._places.unread
        self._places = self._meaning.places(path, header, place)
        unread = self._places.unread
        if unread and unread != noted:
            more = f" and {len(unread) - _MOST_NAMES} more" if len(unread) > _MOST_NAMES else ""
            self._notes.add(f"columns that are not read: {', '.join(map(displayed, unread[:_MOST_NAMES]))}{more}")

    def add(self, batch: TableBatch) -> None:
        """Add the jobs of some rows. WorkloadError for the limit of jobs, and with strict rules for a wrong row."""
        try:
            values, names = self._values(batch), self._names_in(batch)
        except ValueError as error:
            if len(batch.lines) == 1:
                self.drop(str(error), batch.lines[0])
            else:
                for half in batch.halves():
                    self.add(half)
            return
        count = len(batch.lines)
        nothing = [None] * count
        columns = [values.get(quantity, nothing) for quantity in NUMBERS]
        states = values.get("state", [_NO_STATE] * count)
        amounts = self._amounts_in(values, count)
        rows = zip(zip(*columns, strict=True), states, names or [""] * count, self._members_in(batch), strict=True)
        for at, (numbers, state, name, members) in enumerate(rows):
            if state is None or state == GOING_ON:
                self._count_state(batch, at, known=state is not None)
                continue
            row = _job_row(numbers, -1 if state == _NO_STATE else state)
            requested = amounts[at] if amounts else None
            if state == CANCELLED and (wait := self._patience(numbers)) is not None:
                row = row._replace(wait=wait, run=-1)
                self._withdrawn.append(_Withdrawn(row, name, members, requested, self.place(batch.lines[at])))
                continue
            if not self._is_kept(row, numbers, name, batch.lines[at]):
                continue
            self._rows.append(row)
            self._describe(len(self._rows), name, members, requested)
        if len(self._rows) + len(self._withdrawn) > self._options.limits.jobs:
            rule = self._options.limits.rule("jobs")
            raise WorkloadError(str(self._file), f"{self._row} {batch.lines[-1]}", rule)

    def _describe(self, number: int, name: str, members: Mapping[str, Any], requested: RequestedAmounts | None) -> None:
        """Keep the id, the members and the amounts of a job."""
        if name:
            self._seen.add(name)
            self._names[number] = name
        self._members_of[number] = members
        if requested is not None:
            self._amounts[number] = requested

    def place(self, number: int, path: Path | None = None) -> str:
        """Return the place of a row in lines that begin with the name of the first file; of a file if it is given."""
        prefix = self._prefix if path is None else self._prefix_of(path)
        return f"{prefix}{self._row} {number}"

    def note(self, text: str, number: int) -> None:
        """Note what a row says without effect."""
        self._notes.add(text, self.place(number))

    def count(self, rule: str, place: str) -> None:
        """Count a row that is no job under a rule of `row_rules`."""
        self._tally.add(rule, place)

    def drop(self, rule: str, number: int) -> None:
        """Leave out a row that cannot be read; WorkloadError if the rules are strict."""
        if self._options.strict:
            raise WorkloadError(str(self._file), f"{self._row} {number}", rule)
        self._tally.add("dropped_row", f"{self.place(number)}: {rule}")
        self._notes.add(f"row dropped: {rule}", self.place(number))

    def pass_over(self, number: int) -> None:
        """Count a row without a value."""
        self._tally.add("passed_over_blank", self.place(number))

    def log(self) -> SwfLog:
        """Return the log."""
        withdrawn = list[_JobRow]()
        for row, name, members, requested, place in self._withdrawn:
            if name in self._seen:
                if self._options.strict:
                    raise WorkloadError(str(self._path), place, f"job {displayed(name)} is there twice")
                self._tally.add("dropped_duplicate", place)
                continue
            withdrawn.append(row)
            self._describe(len(self._rows) + len(withdrawn), name, members, requested)
        first = min((row.submit for row in self._rows or withdrawn if row.submit >= 0), default=0)
        zero = int(first) if first >= EPOCH else 0
        records = _records(self._rows, zero, 1)
        report_records(records, self._notes, most="most jobs got more than they requested, such as whole nodes")
        return SwfLog(
            str(self._path),
            {"UnixStartTime": str(zero)} if zero else {},
            records,
            cancelled=_records(withdrawn, zero, len(records) + 1),
            names=self._names,
            members=self._members_of,
            amounts=self._amounts if self._options.demands else None,
            kept=tuple(name.lower() for name in self._options.keep),
            dropped=self._tally.counts,
            places=self._tally.places,
            columns=self._meaning.use(self._places.unread),
            assumed=self._meaning.assumed(),
            notes=self._notes.lines(),
        )

    def _prefix_of(self, path: Path) -> str:
        return "" if path == self._path else f"{displayed(path.name)}, "

    def _values(self, batch: TableBatch) -> dict[str, Sequence[float | None]]:
        """Return quantity -> values. ValueError names column and rule of a wrong cell."""
        found = dict[str, Sequence[float | None]]()
        for quantity, read in self._meaning.cells.items():
            cells, most = batch.columns[self._places.quantities[quantity]], self._meaning.largest.get(quantity)
            seconds = None if most is None else whole_numbers(cells, most)
            found[quantity] = list(map(read, cells)) if seconds is None else seconds
        return found

    def _amounts_in(self, values: Mapping[str, Sequence[float | None]], count: int) -> list[RequestedAmounts]:
        """Return the amounts that rows request; none if they are not to be read."""
        if not self._options.demands:
            return []
        columns = self._meaning.columns.columns
        total = frozenset(name for name in AMOUNTS if name in columns and columns[name].form == TOTAL)
        nothing = [None] * count
        found = zip(*(values.get(name, nothing) for name in AMOUNTS), strict=True)
        return [
            RequestedAmounts(cores or 0, memory or 0, gpus or 0, gpu_share or 0, total)
            for cores, memory, gpus, gpu_share in found
        ]

    def _patience(self, numbers: Sequence[float | None]) -> float | None:
        """Return the seconds from a cancelled job's submission to its end; None if it started, or they are unknown.

        A table without a column for starts does not say whether a job started.
        """
        submit, start, end = numbers[:3]
        has_started = numbers[_RUN] or start is not None or "start" not in self._places.quantities
        return None if has_started or submit is None or end is None else max(end - submit, 0)

    def _is_kept(self, row: _JobRow, numbers: Sequence[float | None], name: str, line: int) -> bool:
        """Return whether a row becomes a job, or is left to the rules of cleaning; count it otherwise."""
        if row.run < 0 <= row.submit and numbers[_RUN] is None:
            for quantity, rule in (("start", "dropped_never_ran"), ("end", "dropped_going_on")):
                if quantity in self._places.quantities and numbers[NUMBERS.index(quantity)] is None:
                    self._tally.add(rule, self.place(line))
                    return False
        if name in self._seen:
            self._count_twice(name, line)
            return False
        return True

    def _count_state(self, batch: TableBatch, at: int, *, known: bool) -> None:
        place = self.place(batch.lines[at])
        if known:
            self._tally.add("dropped_going_on", place)
            return
        text = batch.columns[self._places.quantities["state"]][at].strip()
        self._tally.add("dropped_state", f"{place}: {shown(text)}")
        self._notes.add("rows of a state that is unknown are left out", f"{place}, {shown(text)}")

    def _count_twice(self, name: str, number: int) -> None:
        if self._options.strict:
            raise WorkloadError(str(self._file), f"{self._row} {number}", f"job {displayed(name)} is there twice")
        self._tally.add("dropped_duplicate", self.place(number))

    def _names_in(self, batch: TableBatch) -> list[str]:
        """Return the ids of rows; none if the table has none. ValueError."""
        place, parent = self._places.quantities.get("id"), self._places.parent
        if place is None:
            return []
        names = [cell.strip() for cell in batch.columns[place]]
        if parent is not None:
            names = [f"{cell.strip()}.{name}" for cell, name in zip(batch.columns[parent], names, strict=True)]
        longest = self._options.limits.name_size
        for name in names:
            if not name.isalnum() or len(name) > longest:
                self._check_name(name)
        return names

    def _check_name(self, name: str) -> None:
        if not name or breaks_csv(name) or "!" in name or len(name) > self._options.limits.name_size:
            column = displayed(self._meaning.columns.columns["id"].name)
            raise ValueError(f"column {column} {NAME_RULE}, and no '!', not {shown(name)}")

    def _members_in(self, batch: TableBatch) -> list[Mapping[str, Any]]:
        """Return the members of the jobs of rows; rows with the same texts share them."""
        texts = self._places.texts
        if not texts:
            return [{}] * len(batch.lines)
        made, known = list[Mapping[str, Any]](), self._members
        for cells in zip(*(batch.columns[place] for place in texts.values()), strict=True):
            members = known.get(cells)
            if members is None:
                members = _members(texts, cells)
                if len(known) < MOST_CACHED:
                    known[cells] = members
            made.append(members)
        return made


def _records(rows: Sequence[_JobRow], zero: int, first: int) -> tuple[SwfRecord, ...]:
    """Return rows as records with numbers from `first`; submission times count from `zero`."""
    return tuple(
        tuple.__new__(
            SwfRecord,
            (number, submit - zero if submit >= 0 else submit, wait, run, used, -1, -1, size, request, -1, status)
            + (-1,) * 7,
        )
        for number, (submit, wait, run, used, size, request, status) in enumerate(rows, first)
    )


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


def _members(names: Mapping[str, int], cells: Sequence[str]) -> dict[str, Any]:
    """Return the members of a job: the texts of a row that are known."""
    found: dict[str, Any] = {}
    for name, cell in zip(names, cells, strict=True):
        text = cell.strip()
        if text.lower() not in UNKNOWN_TEXTS:
            found[name] = int(text) if text.isascii() and text.isdigit() and len(text) < _DIGITS else text
    return found
