"""The meaning of the cells of a table of jobs: a reader for each quantity, and the place of its column in each file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.reading.limits import LATEST, LONGEST
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import unknown
from batsched_py.traces.column_use import ColumnUse
from batsched_py.traces.formats import ReadOptions
from batsched_py.traces.table_batch import CellValues
from batsched_py.traces.table_cells import (
    amount_reader,
    duration_reader,
    instant_reader,
    read_size,
    read_state,
    usual_instant_reader,
)
from batsched_py.traces.table_columns import (
    AMOUNTS,
    DURATIONS,
    FACTORS,
    INSTANTS,
    SIZES,
    TEXTS,
    UNITS,
    TableColumn,
    TableColumns,
)
from batsched_py.traces.time_zone import time_zone

#: Reads a cell as it is in the table. ValueError names the column, the rule and the text.
CellReader = Callable[[str], float | None]

#: The quantities with numbers, in the order of the fields of a row's values.
NUMBERS: Final[Sequence[str]] = (*INSTANTS, *DURATIONS, *SIZES)
_MEANING: Final = (
    "has columns of unknown meaning: say it with --columns, like submit=QUEUED_AT,run=SECONDS,size=NODES, or with the "
    "name of public data"
)
#: Maximum number of characters of a state that are read.
_LONGEST_STATE: Final = 100


class TablePlaces(Struct, frozen=True):
    """The places of columns in one file.

    Attributes:
        quantities: quantity with a column -> its place.
        texts: name of a member -> the place of its column.
        parent: the place of the column whose text precedes ids; None without one.
        width: number of columns.
        unread: the names of the columns that are not read.
    """

    quantities: Mapping[str, int]
    texts: Mapping[str, int]
    parent: int | None
    width: int
    unread: tuple[str, ...]


class TableMeaning:
    """The readers of the cells of a table.

    Attributes:
        columns: the columns, with the zone of the options.
        cells: quantity with a number or a state -> the reader of its cells.
        largest: quantity in whole seconds -> the largest one that means what its digits say.
    """

    def __init__(self, path: Path, options: ReadOptions, columns: TableColumns | None, place: str) -> None:
        """Check the columns; None are unknown ones. WorkloadError if no jobs can be made of them.

        Args:
            path: the first file of the log.
            options: choices for reading.
            columns: what is known of its columns.
            place: that of the names of its columns.
        """
        if columns is None:
            raise WorkloadError(str(path), place, _MEANING)
        lacking = columns.lacking()
        if lacking:
            raise WorkloadError(str(path), "--columns", f"lacks {lacking}")
        self._options = options
        self.columns = replace(columns, zone=options.zone or columns.zone)
        if options.demands and not set(AMOUNTS[:3]) & set(columns.columns):
            rule = f"lacks {', '.join(AMOUNTS[:2])} or {AMOUNTS[2]}, of which --demands makes demands"
            raise WorkloadError(str(path), "--columns", rule)
        wanted = (*NUMBERS, *(AMOUNTS if options.demands else ()), "state")
        zone = time_zone(str(path), self.columns.zone)
        self.cells: Mapping[str, CellReader] = {
            quantity: self._reader(quantity, columns.columns[quantity], zone)
            for quantity in wanted
            if quantity in columns.columns
        }
        self.largest: Mapping[str, int] = {
            quantity: LATEST if quantity in INSTANTS else LONGEST
            for quantity in self.cells
            if quantity in (*(() if columns.zero_is_unknown else INSTANTS), *DURATIONS)
            and UNITS.get(columns.columns[quantity].form or "s") == 1
        }

    @property
    def ignored_amounts(self) -> Sequence[str]:
        """The names of the columns with amounts that no job requests without `--demands`."""
        named = self.columns.columns
        return [] if self._options.demands else [named[name].name for name in AMOUNTS if name in named]

    def places(self, path: Path, header: Sequence[str], place: str) -> TablePlaces:
        """Return the places of the columns. WorkloadError for columns that a file lacks or has twice."""
        wanted = self.columns.names | set(self._options.keep)
        for name in sorted(wanted):
            if header.count(name) != 1:
                twice = name in header
                rule = f"has the column {shown(name)} twice" if twice else f"has no column {shown(name)}"
                raise WorkloadError(str(path), place, rule if twice else f"{rule}: {unknown(name, header)}")
        found = {quantity: header.index(column.name) for quantity, column in self.columns.columns.items()}
        texts = {str(name): found[name] for name in TEXTS if name in found}
        parent = self.columns.parent
        return TablePlaces(
            found,
            texts | {name.lower(): header.index(name) for name in self._options.keep},
            header.index(parent) if parent else None,
            len(header),
            tuple(name for name in header if name not in wanted),
        )

    def use(self, unread: tuple[str, ...]) -> ColumnUse:
        """Return the use of the columns, for reports."""
        read = {column.name: quantity for quantity, column in self.columns.columns.items()}
        read |= {self.columns.parent: "id"} if self.columns.parent else {}
        read |= {name: f"member {name.lower()}" for name in self._options.keep}
        return ColumnUse(read, unread, self.columns.preset)

    def assumed(self) -> tuple[str, ...]:
        """Return a sentence for each default of the columns."""
        columns = self.columns.columns
        found = [
            f"column {displayed(column.name)}: numbers are seconds"
            for quantity, column in columns.items()
            if quantity in (*INSTANTS, *DURATIONS) and not column.form
        ]
        if not self._options.zone and any(name in columns and columns[name].form not in UNITS for name in INSTANTS):
            found.append(f"dates without an offset are in {self.columns.zone}")
        return (*dict.fromkeys(found), *self.columns.assumed)

    def _reader(self, quantity: str, column: TableColumn, zone: tzinfo) -> CellReader:
        if quantity in INSTANTS:
            read = instant_reader(column, zone)
            cells = CellValues(column.name, _known(read) if self.columns.zero_is_unknown else read).parsed
            return usual_instant_reader(cells, whole_hours=zone is UTC) if not column.form else cells
        if quantity in DURATIONS:
            return CellValues(column.name, duration_reader(column)).__getitem__
        if quantity in SIZES:
            return CellValues(column.name, read_size).__getitem__
        if quantity in FACTORS:
            return CellValues(column.name, amount_reader(quantity, column)).__getitem__
        return CellValues(column.name, self._state).__getitem__

    def _state(self, text: str) -> float | None:
        own = self.columns.states.get(text.lower())
        return read_state(text[:_LONGEST_STATE]) if own is None else own


def _known(read: CellReader) -> CellReader:
    """Return a reader for which 0 is an unknown value."""
    return lambda text: read(text) or None
