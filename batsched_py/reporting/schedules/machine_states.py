"""The reader of Batsim's machine states, the longest file of a run: two rows for each job.

Rows are converted in pieces, column by column, which takes a fraction of the time of a conversion cell by cell. A piece
with anything but plain numbers is converted row by row, which finds what its numbers are, or which cell is wrong.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reading.notes import Notes
from batsched_py.reporting.schedules.tabular import LARGEST, Tabular
from batsched_py.results.trace_files import UNAVAILABLE_COLUMN
from batsched_py.results.tracing import HOST_STATES, StateRows

#: The largest number of hosts in a state: counts have 32 bits.
_MOST_COUNTED: Final = 2**32 - 1
#: Digits of a number that is surely too large for a count.
_DIGITS: Final = 16


def read_machine_states(path: Path, *, limits: Limits = LIMITS, notes: Notes | None = None) -> StateRows:
    """Read a `_machine_states.csv` of Batsim or batsched-py; `notes` receives a line for each unknown column.

    InputError if it is invalid.
    """
    table = Tabular(path, limits)
    reader = _StateReader(table)
    table.report_unknown("machine states", notes)
    for piece in table.pieces():
        if not reader.add_piece(piece):
            for row in table.rows_of(piece):
                reader.add_row(row)
    return reader.rows


class _StateReader:
    """A reader that converts rows to numbers."""

    def __init__(self, table: Tabular) -> None:
        self._table = table
        self._most = min(table.limits.hosts, _MOST_COUNTED)
        self._time, *self._states = [table.column(name) for name in ("time", *(f"nb_{state}" for state in HOST_STATES))]
        self._unavailable = table.optional_column(UNAVAILABLE_COLUMN)
        self.rows = StateRows()

    def add_piece(self, piece: Sequence[Sequence[str]]) -> bool:
        """Add rows column by column; False, without adding any, if they must be added one by one."""
        if self._unavailable is not None:
            return False
        columns = tuple(zip(*piece, strict=True))
        times = _numbers(columns[self._time])
        counts = _counts([columns[state] for state in self._states], self._most)
        if times is None or counts is None:
            return False
        self.rows.times.extend(times)
        self.rows.counts.extend(counts)
        return True

    def add_row(self, row: Sequence[str]) -> None:
        """Add a row cell by cell. InputError."""
        table, rows = self._table, self.rows
        rows.times.append(table.number(row, self._time))
        counts = [table.count(row, state) for state in self._states]
        out = 0 if self._unavailable is None else table.count(row, self._unavailable)
        if sum(counts) + out > self._most:
            raise table.error(table.limits.rule("hosts"))
        rows.counts.extend(counts)
        if self._unavailable is not None:
            rows.unavailable.append(out)


def _numbers(cells: Sequence[str]) -> array[float] | None:
    """Convert a piece of a column; None if a cell is not a number up to LARGEST."""
    try:
        values = array("d", map(float, cells))
    except ValueError:
        return None
    if any(map(math.isnan, values)) or max(map(abs, values)) > LARGEST:
        return None
    return values


def _counts(columns: Sequence[Sequence[str]], most: int) -> array[int] | None:
    """Convert pieces of columns to counts, row by row; None if a cell is not plain digits, or a row is above `most`."""
    values = []
    for cells in columns:
        digits = "".join(cells)
        if not (digits.isdecimal() and digits.isascii() and all(cells) and max(map(len, cells)) < _DIGITS):
            return None
        values.append(list(map(int, cells)))
    rows = list(zip(*values, strict=True))
    return array("I", chain.from_iterable(rows)) if max(map(sum, rows)) <= most else None
