"""The files of the tables that an algorithm provides about its run."""

from __future__ import annotations

from collections.abc import Iterable

from batsched_py.cli.shared.output_paths import writing
from batsched_py.files.table_file import table_path, write_table
from batsched_py.model.table import Table


def write_tables(prefix: str, tables: Iterable[Table]) -> None:
    """Write PREFIX_NAME.csv for each table, completely or not at all. InputError."""
    for table in tables:
        path = table_path(prefix, table)
        with writing(path):
            write_table(path, table)
