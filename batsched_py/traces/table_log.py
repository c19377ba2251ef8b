"""A reader of tables of jobs: a line of names, and a line for each job, in CSV or with another delimiter.

The columns have any names: `TableColumns` says what they mean. Ended jobs become the records of a log, which the rules
of cleaning see as those of the Standard Workload Format. Each row is kept or counted under a rule; columns that are not
read are named in one line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Final

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.reading.limits import Limits
from batsched_py.traces.formats import ReadOptions
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.table_batch import TableBatch
from batsched_py.traces.table_columns import DELIMITERS, column_names
from batsched_py.traces.table_jobs import TableJobs
from batsched_py.traces.table_meaning import TableMeaning
from batsched_py.traces.table_presets import preset_of, preset_of_names

#: Maximum number of lines of one row, whose texts may contain line ends.
_MOST_LINES: Final = 100
#: Number of rows that are read at a time.
_ROWS: Final = 4096


def read(path: Path, options: ReadOptions) -> SwfLog:
    """Read a table whose columns were named, or are those of a preset. WorkloadError names line, column and rule."""
    return _TableReader(path, options).log()


class _TableReader:
    """A reader of the files of one log."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._first, self._options = path, options
        #: The file that is read, the number of its last line, and that of the last one of the row before.
        self._path, self._line, self._begun = path, 0, 0

    def log(self) -> SwfLog:
        """Return the log. WorkloadError."""
        names, rows = self._open(self._path)
        columns = self._options.columns or preset_of_names(names)
        jobs = TableJobs(self._path, self._options, TableMeaning(self._path, self._options, columns, "line 1"), "line")
        self._add(jobs, names, rows)
        for path in self._options.further:
            self._add(jobs, *self._open(path))
        return jobs.log()

    def _add(self, jobs: TableJobs, names: Sequence[str], rows: Iterator[list[str]]) -> None:
        jobs.begin(self._path, names, f"line {self._line}")
        for batch in self._batches(rows, jobs):
            jobs.add(batch)

    def _open(self, path: Path) -> tuple[Sequence[str], Iterator[list[str]]]:
        """Begin a file, and return the names of its columns and its rows. WorkloadError for an empty file."""
        self._path, self._line, self._begun = path, 0, 0
        lines = self._read(self._options.limits)
        header = next(lines, "")
        self._begun = self._line
        if not header.strip():
            raise self._error("is empty: a line with the names of the columns is missing")
        columns = self._options.columns or preset_of(header.strip("\r\n"))
        known = {*(columns.names if columns else ()), *self._options.keep}
        delimiter = max(DELIMITERS, key=lambda one: len(known & set(column_names(header, one))))
        names: Sequence[str] = column_names(header.strip("\r\n"), delimiter)
        if columns is not None and columns.header and not columns.names <= set(names):
            names, lines = columns.header, chain([header], lines)
        return names, csv.reader(lines, delimiter=delimiter, skipinitialspace=True)

    def _batches(self, rows: Iterator[list[str]], jobs: TableJobs) -> Iterator[TableBatch]:
        """Yield the rows with as many cells as the header; blank ones and others are counted."""
        width = jobs.width
        while True:
            cells, lines = list[list[str]](), list[int]()
            try:
                for row in islice(rows, _ROWS):
                    self._begun = self._line
                    cells.append(row)
                    lines.append(self._line)
            except csv.Error as error:
                raise self._error(f"cannot be read: {error}") from None
            if not cells:
                return
            sound = [place for place, row in enumerate(cells) if len(row) == width and any(row)]
            if len(sound) < len(cells):
                for row, line in zip(cells, lines, strict=True):
                    if row and not any(row):
                        jobs.pass_over(line)
                    elif row and len(row) != width:
                        jobs.drop(f"must have {width} cells as the first line, not {len(row)}", line)
                cells, lines = [cells[place] for place in sound], [lines[place] for place in sound]
            if cells:
                yield TableBatch(list(zip(*cells, strict=True)), lines)

    def _read(self, limits: Limits) -> Iterator[str]:
        with reported(self._path, WorkloadError, lambda: f"line {self._line + 1}"):
            for content in read_lines(self._path, limits):
                self._line += 1
                if self._line - self._begun > _MOST_LINES:
                    rule = f"begins a row of over {_MOST_LINES} lines: a quote is not closed"
                    raise WorkloadError(str(self._path), f"line {self._begun + 1}", rule)
                yield content.decode(errors="replace")

    def _error(self, rule: str) -> WorkloadError:
        return WorkloadError(str(self._path), f"line {self._line}" if self._line else "", rule)
