"""The rows of sacct's output; the header determines the delimiter, and invalid rows are dropped and counted."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.text.display import shown
from batsched_py.traces.formats import SACCT, delimiter_of, looks_like
from batsched_py.traces.sacct_fields import FREE_TEXT, NEEDED, SacctRow
from batsched_py.traces.sacct_source import RowContext, Wanted

#: Maximum number of lines of one row, whose texts may contain line ends.
_MOST_BREAKS: Final = 100
_CALL: Final = (
    "call sacct --allusers --parsable2"
    " --format=JobID,User,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,ReqCPUS,AllocCPUS,ReqNodes,AllocNodes"
)
#: Delimiters of tables in which spreadsheets quote cells.
_QUOTING: Final = frozenset(",;")


class SacctRows:
    """The rows of one file.

    Attributes:
        header: names of the columns in lower case; the last is empty if sacct was called with --parsable.
        dated: whether instants are dates that may lack an offset.
    """

    def __init__(self, path: Path, wanted: Wanted, context: RowContext) -> None:
        """Read the header; NEEDED and `wanted` columns are required. WorkloadError if the header is wrong."""
        self._path, self._limits, self._drop, self._zone = path, context.limits, context.drop, context.zone
        self._count = context.count
        self._line, self._delimiter = 0, "|"
        self._lines = self._read()
        self.dated = True
        self.header = self._header(next(self._lines, ""), wanted)
        self._texts = [self.header.index(name) for name in FREE_TEXT if name in self.header]

    def __iter__(self) -> Iterator[SacctRow]:
        """Yield the rows after the header, without blank rows."""
        #: The text so far of a row that contains line ends, its number of lines, and the number of its first line.
        begun, broken, first = "", 0, 0
        for text in self._lines:
            cells = self._split(text)
            if not any(cells):
                if text:
                    self._count("passed_over_blank", self._line)
                continue
            if len(cells) < len(self.header) - 1 and self._texts:
                begun, broken, first = (f"{begun} {text}", broken + 1, first) if begun else (text, 1, self._line)
                cells = self._split(begun)
                row = self._row(cells, first) if len(cells) >= len(self.header) - 1 else None
                if row is not None and row.is_sound():
                    begun = ""
                    yield row
                elif broken > _MOST_BREAKS or len(begun) > self._limits.line_size:
                    self._drop_row(self._split(begun), first)
                    begun = ""
                continue
            if begun:
                self._drop_row(self._split(begun), first)
                begun = ""
            row = self._row(cells, self._line)
            if row is None:
                self._drop_row(cells, self._line)
            else:
                yield row
        if begun:
            self._drop_row(self._split(begun), first)

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns; --parsable ends lines with a delimiter, after which none is."""
        return [name for name in self.header if name]

    def place(self, number: int) -> str:
        """Return the place of a row in messages."""
        return f"line {number}"

    def _read(self) -> Iterator[str]:
        with reported(self._path, WorkloadError, lambda: f"line {self._line + 1}"):
            for content in read_lines(self._path, self._limits):
                self._line += 1
                yield content.decode(errors="replace").rstrip("\r\n")

    def _split(self, text: str) -> list[str]:
        if '"' in text and self._delimiter in _QUOTING:  # as spreadsheets write it
            return next(csv.reader([text], delimiter=self._delimiter), [])
        return text.split(self._delimiter)

    def _row(self, cells: list[str], line: int) -> SacctRow | None:
        """Return the row; None if its number of cells is wrong and no delimiter in a text explains that."""
        surplus = len(cells) - len(self.header)
        if surplus == 1 and not cells[-1]:  # --parsable ends each line with a delimiter
            cells, surplus = cells[:-1], 0
        elif surplus == -1 and not self.header[-1]:
            cells, surplus = [*cells, ""], 0
        if not surplus:
            return self._named(cells, line)
        if surplus < 0:
            return None
        joined = [
            self._named(
                [*cells[:at], self._delimiter.join(cells[at : at + surplus + 1]), *cells[at + surplus + 1 :]], line
            )
            for at in self._texts
        ]
        sound = [row for row in joined if row.is_sound()]
        return sound[0] if len(sound) == 1 else None

    def _named(self, cells: Sequence[str], line: int) -> SacctRow:
        named = {name: cell.strip() for name, cell in zip(self.header, cells, strict=True) if name}
        return SacctRow(line, named, self._zone)

    def _drop_row(self, cells: Sequence[str], line: int) -> None:
        rule = f"must have {len(self.header)} fields as the header, not {len(cells)}"
        hint = f": a field such as JobName may hold a {self._delimiter}" if len(cells) > len(self.header) else ""
        self._drop(line, rule + hint)

    def _header(self, text: str, wanted: Wanted) -> list[str]:
        file = str(self._path)
        if not text.strip():
            raise WorkloadError(file, "", "is empty: a line with the names of the fields is missing")
        self._delimiter = delimiter_of(text) or self._delimiter
        names = [cell.strip().lower() for cell in self._split(text)]
        for alternatives in (*((name,) for name in NEEDED), *wanted):
            if not any(name in names for name in alternatives):
                rule = f"has no field {' or '.join(alternatives[:2])}: {_CALL}{looks_like(text, SACCT)}"
                raise WorkloadError(file, "line 1", rule)
        twice = next((name for name, times in Counter(names).items() if name and times > 1), "")
        if twice:
            raise WorkloadError(file, "line 1", f"has the field {shown(twice)} twice")
        return names
