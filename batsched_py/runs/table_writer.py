"""The files of the tables that an algorithm provides about its run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from batsched_py.files.output_file import writing
from batsched_py.files.table_file import table_path, write_table
from batsched_py.model.table import Table


def write_tables(prefix: str, tables: Iterable[Table]) -> None:
    """Write PREFIX_NAME.csv for each table, completely or not at all. InputError."""
    for table in tables:
        path = table_path(prefix, table)
        with writing(path):
            write_table(path, table)


def table_files(prefix: str, tables: Iterable[Table]) -> dict[str, Path]:
    """Return name -> file of tables that a run has written."""
    return {table.name: table_path(prefix, table) for table in tables}
