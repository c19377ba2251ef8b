"""The writer of tables: CSV files that are replaced completely or not at all; and rows of CSV with all digits."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

from batsched_py.files.atomic_file import write_atomically
from batsched_py.model.table import Table, csv_text
from batsched_py.text.display import spreadsheet_cell


def table_path(prefix: str, table: Table) -> Path:
    """Return the path of a table; the prefix may end with a slash, as in Batsim."""
    return Path(f"{prefix}_{table.name}.csv")


def write_table(path: Path, table: Table) -> None:
    """Write a table; the file is replaced completely or not at all. OSError."""
    write_atomically(path, csv_text(table).encode())


def csv_rows(rows: Iterable[Iterable[object]]) -> bytes:
    """Return rows as CSV: numbers with all their digits, nothing for None, and no text that is a formula."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [spreadsheet_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    return text.getvalue().encode()
