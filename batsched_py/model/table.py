"""Tables of facts about a run, which an algorithm writes in addition to its decisions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from batsched_py.text.display import displayed, shown

#: The value of a cell: numbers, texts, truth values as 1 and 0, None for an empty cell.
Cell = str | int | float | None
#: Names of tables, which are parts of their files' names.
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
#: Reserved names: tables of Batsim, of decisions, of jobs slowed down by others, and of jobs that share hosts.
RESERVED: Final = frozenset(
    {"jobs", "schedule", "machine_states", "consumed_energy", "pstate_changes", "decisions", "contention"}
    | {"places", "capacities"}
)
#: Characters for which a field is quoted.
_QUOTED: Final = re.compile(r'[",\r\n]')
#: Classes of cells without invalid values.
_PLAIN: Final = frozenset({str, int, bool, type(None)})
#: Number of decimals, as in Batsim's files.
_DIGITS: Final = 6


class Table(NamedTuple):
    """A header and rows, written as PREFIX_NAME.csv.

    Attributes:
        name: lower-case letters, digits, - and _, beginning with a letter.
        header: names of the columns.
        rows: rows with one cell for each column.
    """

    name: str
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]


def checked_tables(tables: Iterable[Table]) -> tuple[Table, ...]:
    """Return the tables with their rows as sequences; ValueError with the rule that one of them violates."""
    found: dict[str, Table] = {}
    for table in tables:
        name, header, rows = table
        if not _NAME.fullmatch(name):
            raise ValueError(f"a table's name must match {_NAME.pattern}, not be {displayed(repr(name))}")
        if name in RESERVED or name in found:
            owner = "each run has" if name in RESERVED else "there already is"
            raise ValueError(f"table {name}: {owner} a table of this name")
        whole = tuple(tuple(row) for row in rows)
        _check_cells(name, tuple(header), whole)
        found[name] = Table(name, tuple(header), whole)
    return tuple(found.values())


def csv_text(table: Table) -> str:
    """Return a table as CSV; numbers have at most six decimals, without trailing zeros."""
    lines = (",".join(map(_field, cells)) for cells in (table.header, *table.rows))
    return "".join(f"{line}\n" for line in lines)


def cell_text(cell: Cell) -> str:
    """Return the text of a cell."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float) and not cell.is_integer():
        text = f"{cell:.{_DIGITS}f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return str(int(cell))


def _field(cell: Cell) -> str:
    if cell.__class__ is int:  # most are
        return str(cell)
    if not isinstance(cell, str):
        return cell_text(cell)  # numbers need no quotes
    return '"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell


def _check_cells(name: str, header: tuple[str, ...], rows: tuple[tuple[Any, ...], ...]) -> None:
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise ValueError(f"table {name}, row {number}: {len(row)} cells, where the header has {len(header)}")
        for column, cell in enumerate(row):
            if cell.__class__ in _PLAIN or isinstance(cell, (str, int)):
                continue
            if isinstance(cell, float) and math.isfinite(cell):
                continue
            raise ValueError(
                f"table {name}, row {number}, {header[column]}: must be a text or a number, not {shown(cell)}"
            )
