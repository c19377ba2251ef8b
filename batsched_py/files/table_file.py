"""The writer of tables: CSV files that are replaced completely or not at all."""

from __future__ import annotations

from pathlib import Path

from batsched_py.files.atomic_file import write_atomically
from batsched_py.model.table import Table, csv_text


def table_path(prefix: str, table: Table) -> Path:
    """Return the path of a table; the prefix may end with a slash, as in Batsim."""
    return Path(f"{prefix}_{table.name}.csv")


def write_table(path: Path, table: Table) -> None:
    """Write a table; the file is replaced completely or not at all. OSError."""
    write_atomically(path, csv_text(table).encode())
