"""A reader of comma-separated values with a header line; its errors name file, line and column."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Final

from batsched_py.errors import InputError
from batsched_py.files.bounded_file import read_batches, reported
from batsched_py.hostset import HostSet
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes
from batsched_py.text.display import shown

#: The largest number that is read, which keeps sums and products finite.
LARGEST: Final = 1e100
#: Rows of a piece.
_ROWS: Final = 1_000
#: The allowed bytes of host sets per byte of a table, above the fixed limit: ten times the need of a table for a
#: machine with 10 000 hosts.
_PROPORTION: Final = 100


class Tabular:
    """A file that is read row by row.

    Attributes:
        file: the path as text, for errors.
        header: the names of the columns, in the order of the file.
        line: the number of the last line read, from 1.
        limits: the limits on sizes.
    """

    def __init__(self, path: Path, limits: Limits = LIMITS) -> None:
        """Read the header; InputError if the file cannot be read or has none."""
        self.file, self.line, self.limits = str(path), 1, limits
        #: Names of the columns that the caller knows.
        self._asked: set[str] = set()
        #: Spelling -> hosts; cached, because the same sets occur many times.
        self._sets: dict[str, HostSet] = {}
        #: Bytes of the cached sets, and bytes read from the file.
        self._sets_size = self._read = 0
        #: The line of each row of the latest piece.
        self._lines_of_piece: list[int] = []
        csv.field_size_limit(max(csv.field_size_limit(), limits.line_size))  # 131 072 is too little for some host sets
        self._reader = csv.reader(chain.from_iterable(self._lines(path)), strict=True)
        self.header: Sequence[str] = ()
        self.header = tuple(next(self.rows(), []))
        if not self.header:
            raise InputError(self.file, "", "is empty: a line with the names of the columns is missing")
        if twice := next((name for name, count in Counter(self.header).items() if count > 1), None):
            raise self.error(f"has the column {shown(twice)} twice", line=1)

    def _lines(self, path: Path) -> Iterator[StringIO]:
        """Yield batches of lines: a file that is too large is never in memory."""
        read, encoding = 0, "utf-8-sig"
        try:
            with reported(path, InputError, lambda: f"line {read + 1}"):
                for lines in read_batches(path, self.limits):
                    text = b"".join(lines)
                    self._read += len(text)
                    yield StringIO(text.decode(encoding), newline="")
                    read, encoding = read + len(lines), "utf-8"
        except UnicodeDecodeError as error:
            raise InputError(self.file, "", f"must be text in UTF-8: {error.reason}") from error

    def column(self, *names: str) -> int:
        """Return the index of the first of these columns that exists; InputError if none does."""
        found = self.optional_column(*names)
        if found is None:
            raise self.error(f"has no column {' or '.join(names)}", line=1)
        return found

    def optional_column(self, *names: str) -> int | None:
        """Return the index of the first of these columns that exists; None if none does."""
        self._asked.update(names)
        return next((self.header.index(name) for name in names if name in self.header), None)

    def report_unknown(self, kind: str, notes: Notes | None, others: Collection[str] = ()) -> None:
        """Add a note for each column that was not requested, of a table of this `kind`; `others` are known too."""
        known = Members(kind, frozenset(self._asked.union(others)), unknown=UnknownNames.REPORTED, word="column")
        if notes is not None:
            known.check(self.header, notes)

    def rows(self) -> Iterator[list[str]]:
        """Yield the remaining rows, without blank lines; InputError for a wrong number of cells."""
        reader, width = self._reader, len(self.header)
        try:
            for row in reader:
                self.line = reader.line_num
                if not row:
                    continue
                if len(row) != width and width:
                    raise self.error(f"must have {width} columns as the header, not {len(row)}")
                yield row
        except csv.Error as error:
            self.line = self._reader.line_num
            raise self.error(f"is not a row of comma-separated values: {error}") from error

    def pieces(self) -> Iterator[list[list[str]]]:
        """Yield the remaining rows in lists of at most _ROWS, for columns that are converted at once. InputError."""
        piece, lines = [], []
        for row in self.rows():
            piece.append(row)
            lines.append(self.line)
            if len(piece) == _ROWS:
                self._lines_of_piece = lines
                yield piece
                piece, lines = [], []
        self._lines_of_piece = lines
        if piece:
            yield piece

    def rows_of(self, piece: Iterable[list[str]]) -> Iterator[list[str]]:
        """Yield the rows of the latest piece one by one, so that errors name their lines."""
        for self.line, row in zip(self._lines_of_piece, piece, strict=True):  # noqa: B020
            yield row

    def error(self, rule: str, *, column: int | None = None, line: int | None = None) -> InputError:
        """Return an error about the last row read, or about another line."""
        where = f"line {line or self.line}"
        return InputError(self.file, where if column is None else f"{where}, column {self.header[column]}", rule)

    def number(self, row: Sequence[str], column: int) -> float:
        """Return the number in a cell, up to LARGEST; InputError otherwise."""
        value = self.number_or_inf(row, column)
        if not abs(value) <= LARGEST:
            raise self.error(f"must be a number, not {shown(row[column])}", column=column)
        return value

    def number_or_inf(self, row: Sequence[str], column: int) -> float:
        """Return the number in a cell, which may be infinite; InputError otherwise."""
        try:
            value = float(row[column])
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise self.error(f"must be a number, not {shown(row[column])}", column=column)
        return value

    def count(self, row: Sequence[str], column: int) -> int:
        """Return the whole number from 0 in a cell, also if written as `3.0`, as pandas does; InputError otherwise."""
        text = row[column]
        whole = text.removesuffix(".0")
        if not (whole.isdecimal() and whole.isascii() and len(whole) < 16):
            raise self.error(f"must be a whole number from 0, not {shown(text)}", column=column)
        return int(whole)

    def hosts(self, row: Sequence[str], column: int) -> HostSet:
        """Return the interval set in a cell, such as "0-3 7"; InputError otherwise, or if all sets are too large."""
        text = row[column]
        hosts = self._sets.get(text)
        if hosts is None:
            try:
                hosts = self._sets[text] = HostSet.parse(text, self.limits.hosts - 1)
            except ValueError as error:
                raise self.error(str(error), column=column) from error
            self._sets_size += hosts.bits.bit_length() // 8
            if self._sets_size > self.limits.sets_size and self._sets_size > _PROPORTION * self._read:
                raise self.error(self.limits.rule("sets_size"), column=column)
        return hosts
