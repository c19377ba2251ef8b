"""A reader of tables of jobs in Parquet, with pyarrow: columns as in `table_log`, whose cells may have types.

A file is read by groups of rows, and of these only the columns that are needed, in batches: the memory does not depend
on the size of the file, nor on what its parts claim (`parquet_pages`).

Source of the types: Apache Arrow, "Reading and Writing the Apache Parquet Format".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import reported
from batsched_py.loading import require
from batsched_py.reading.limits import LimitError, Limits
from batsched_py.text.display import displayed
from batsched_py.traces.formats import PARQUET_MAGIC, ReadOptions
from batsched_py.traces.parquet_cells import TypeRuleError, check_type, has_texts, texts_of
from batsched_py.traces.parquet_pages import PageRuleError, check_pages
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.table_batch import TableBatch
from batsched_py.traces.table_jobs import TableJobs
from batsched_py.traces.table_meaning import TableMeaning
from batsched_py.traces.table_presets import preset_of_names

#: Number of rows that are read at a time, and bytes that a column's part of them may have in pages, in which it begins.
_ROWS: Final = 4096
_BATCH: Final = 16_000_000
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
        with _opened(file, options.limits) as (source, table):
            names = table.schema_arrow.names
            if jobs is None:
                columns = options.columns or preset_of_names(names)
                jobs = TableJobs(path, options, TableMeaning(path, options, columns, "columns"), "row")
            jobs.begin(file, names, "columns")
            for batch in _batches(_Reader(file, source, options.limits, table), jobs.read_names(names)):
                jobs.add(batch)
    assert jobs is not None  # noqa: S101 - there is a first file
    return jobs.log()


class _Reader(NamedTuple):
    """A file that is being read, its limits, and pyarrow's view of it."""

    path: Path
    source: BinaryIO
    limits: Limits
    table: Any

    def error(self, name: str, rule: str) -> WorkloadError:
        return WorkloadError(str(self.path), f"column {displayed(name)}", rule)


@contextmanager
def _opened(path: Path, limits: Limits) -> Iterator[tuple[BinaryIO, Any]]:
    """Open a file, and yield it with pyarrow's view of it; its errors, also those of reading it, are WorkloadErrors."""
    arrow: Any = import_module("pyarrow")
    with reported(path, WorkloadError):
        try:
            with path.open("rb") as source:
                if not source.seekable():
                    raise WorkloadError(str(path), "", "cannot be read from a pipe: Parquet is described at its end")
                if source.read(len(PARQUET_MAGIC)) != PARQUET_MAGIC.encode():
                    rule = "is not in Parquet; if it is compressed as a whole, decompress it first"
                    raise WorkloadError(str(path), "", rule)
                with _viewed(source) as table:
                    limits.check("file_size", table.metadata.num_rows * _LEAST)
                    yield source, table
        except (arrow.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise WorkloadError(str(path), "", f"cannot be read as Parquet: {_first_line(error)}") from None


def _viewed(source: BinaryIO, metadata: Any = None, texts: Sequence[str] = ()) -> Any:
    """Return pyarrow's view of a file, in which these columns have each of their texts once."""
    return import_module("pyarrow.parquet").ParquetFile(
        source,
        metadata=metadata,
        read_dictionary=list(texts),
        pre_buffer=False,
        buffer_size=_BUFFER,
        thrift_string_size_limit=_THRIFT_TEXT,
        thrift_container_size_limit=_THRIFT_LIST,
    )


def _batches(reader: _Reader, names: Sequence[str]) -> Iterator[TableBatch]:
    """Yield the rows, with the texts of these columns, and empty ones for the others. WorkloadError.

    A text counts as often as it occurs, as it does in CSV: what is done with each must stay in proportion to a file.
    """
    schema = reader.table.schema_arrow
    texts = list[str]()
    most = 1.0
    for name in names:
        kind = schema.field(name).type
        try:
            check_type(kind)
            most = max(most, check_pages(reader.source, reader.table.metadata, name))
        except (TypeRuleError, PageRuleError) as error:
            raise reader.error(name, str(error)) from None
        if has_texts(kind):
            texts.append(name)
    number = characters = 0
    view = _viewed(reader.source, reader.table.metadata, texts)
    rows = max(min(_ROWS, int(_BATCH / most)), 1)
    for batch in view.iter_batches(rows, columns=list(names), use_threads=False):
        count = batch.num_rows
        cells = dict[str, Sequence[str]]()
        for name in names:
            try:
                cells[name] = texts_of(batch.column(batch.schema.names.index(name)), reader.limits)
            except (TypeRuleError, LimitError) as error:
                raise reader.error(name, str(error)) from None
            characters += sum(map(len, cells[name]))
        reader.limits.check("file_size", characters)
        nothing = [""] * count
        yield TableBatch([cells.get(name, nothing) for name in schema.names], range(number + 1, number + count + 1))
        number += count


def _first_line(error: Exception) -> str:
    return displayed((str(error).splitlines() or [type(error).__name__])[0])
