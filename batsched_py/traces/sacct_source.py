"""Sources of the rows of Slurm's accounting: files in different formats, with the columns of sacct."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.traces.sacct_fields import SacctRow

#: For each required column, its alternative names; messages show the first one.
Wanted = Sequence[Sequence[str]]


class RowContext(Struct, frozen=True):
    """The choices for reading the rows of a file.

    Attributes:
        drop: receives the number and the rule of a row that cannot be read.
        note: receives the number of a row, and a part of it that has no effect.
        count: receives a rule that passes over rows, and the number of a row.
        limits: the limits of the content.
        zone: time zone of dates without an offset.
    """

    drop: Callable[[int, str], None]
    note: Callable[[int, str], None]
    count: Callable[[str, int], None]
    limits: Limits = LIMITS
    zone: tzinfo = UTC


class RowSource(Protocol):
    """The rows of one file."""

    @property
    def dated(self) -> bool:
        """True if instants are dates, which may lack an offset, rather than seconds since 1970."""
        ...

    @property
    def header(self) -> Sequence[str]:
        """Names of the columns in lower case."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Names of all columns and other parts of rows that the file has, as far as it was read."""
        ...

    def __iter__(self) -> Iterator[SacctRow]:
        """Yield the rows, numbered in their order; WorkloadError."""
        ...

    def place(self, number: int) -> str:
        """Return the place of a row in messages."""
        ...


#: Opens a file with the required columns: WorkloadError if it lacks some, or is of another format.
OpenRows = Callable[[Path, Wanted, RowContext], RowSource]
