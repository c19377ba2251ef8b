"""A reader of tables of jobs in Parquet, with pyarrow: columns as in `table_log`, whose cells may have types.

A file is read by groups of rows, and of these only the columns that are needed, in batches: the memory does not depend
on the size of the file. Source of the types: Apache Arrow, "Reading and Writing the Apache Parquet Format".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import reported
from batsched_py.loading import require
from batsched_py.reading.limits import Limits
from batsched_py.text.display import displayed
from batsched_py.traces.formats import PARQUET_MAGIC, ReadOptions
from batsched_py.traces.parquet_cells import TypeRuleError, texts_of
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.table_batch import TableBatch
from batsched_py.traces.table_jobs import TableJobs
from batsched_py.traces.table_meaning import TableMeaning
from batsched_py.traces.table_presets import preset_of_names

#: Number of rows that are read at a time.
_ROWS: Final = 4096
#: Bytes as which a row counts at least, as a line does: a column may repeat a value in a few bytes.
_LEAST: Final = 64
#: Bytes that are read from a file at a time.
_BUFFER: Final = 1 << 20
#: Limits of the description of a file: bytes of a text, and elements of a list.
_THRIFT_TEXT: Final = 10_000_000
_THRIFT_LIST: Final = 1_000_000


def read(path: Path, options: ReadOptions) -> SwfLog:
    """Read a table whose columns were named, or are those of a preset.

    WorkloadError names the file, the column or the row, and the rule; ExtraError without pyarrow.
    """
    require("pyarrow", "files in Parquet", "parquet")
    jobs: TableJobs | None = None
    for file in (path, *options.further):
        with _opened(file, options.limits) as table:
            names = table.schema_arrow.names
            if jobs is None:
                columns = options.columns or preset_of_names(names)
                jobs = TableJobs(path, options, TableMeaning(path, options, columns, "columns"), "row")
            jobs.begin(file, names, "columns")
            for batch in _batches(file, table, jobs.read_names(names)):
                jobs.add(batch)
    assert jobs is not None  # noqa: S101 - there is a first file
    return jobs.log()


@contextmanager
def _opened(path: Path, limits: Limits) -> Iterator[Any]:
    """Open a file; its errors, also those of reading it, are WorkloadErrors."""
    arrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    with reported(path, WorkloadError):
        try:
            with path.open("rb") as source:
                if not source.seekable():
                    raise WorkloadError(str(path), "", "cannot be read from a pipe: Parquet is described at its end")
                if source.read(len(PARQUET_MAGIC)) != PARQUET_MAGIC.encode():
                    rule = "is not in Parquet; if it is compressed as a whole, decompress it first"
                    raise WorkloadError(str(path), "", rule)
                with parquet.ParquetFile(
                    source,
                    pre_buffer=False,
                    buffer_size=_BUFFER,
                    thrift_string_size_limit=_THRIFT_TEXT,
                    thrift_container_size_limit=_THRIFT_LIST,
                ) as table:
                    limits.check("file_size", table.metadata.num_rows * _LEAST)
                    yield table
        except (arrow.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise WorkloadError(str(path), "", f"cannot be read as Parquet: {_first_line(error)}") from None


def _batches(path: Path, table: Any, names: Sequence[str]) -> Iterator[TableBatch]:
    """Yield the rows, with the texts of these columns, and empty ones for the others. WorkloadError."""
    header = table.schema_arrow.names
    number = 0
    for batch in table.iter_batches(_ROWS, columns=list(names), use_threads=False):
        count = batch.num_rows
        texts = dict[str, Sequence[str]]()
        for name in names:
            try:
                texts[name] = texts_of(batch.column(batch.schema.names.index(name)))
            except TypeRuleError as error:
                raise WorkloadError(str(path), f"column {displayed(name)}", str(error)) from None
        nothing = [""] * count
        yield TableBatch([texts.get(name, nothing) for name in header], range(number + 1, number + count + 1))
        number += count


def _first_line(error: Exception) -> str:
    return displayed((str(error).splitlines() or [type(error).__name__])[0])
