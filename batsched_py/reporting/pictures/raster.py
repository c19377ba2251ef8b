"""A schedule on a grid: the jobs in each cell, which is a few hosts during an interval of time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct

from batsched_py.hostset import HostSet


class RasterBlock(Protocol):
    """An interval of time on hosts in a picture: a job, a lease or a machine state."""

    @property
    def start(self) -> float:
        """Return the start in seconds."""

    @property
    def finish(self) -> float:
        """Return the end in seconds."""

    @property
    def hosts(self) -> HostSet:
        """Return the hosts."""


class Grid(Struct, frozen=True):
    """Hosts in rows of `hosts_per_row` (the last may have fewer), the time from `begin` to `end` in equal columns."""

    hosts: int
    hosts_per_row: int
    end: float
    columns: int
    begin: float = 0.0

    @classmethod
    def fitting(cls, hosts: int, end: float, columns: int, rows: int, begin: float = 0.0) -> Grid:
        """Return the finest grid with at most `rows` rows; a row has at least one host."""
        return cls(hosts, -(-hosts // rows), end, columns, begin)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return -(-self.hosts // self.hosts_per_row)

    @property
    def column_seconds(self) -> float:
        """Return the width of a column in seconds."""
        return (self.end - self.begin) / self.columns

    def row_hosts(self, row: int) -> range:
        """Return the hosts of a row."""
        return range(row * self.hosts_per_row, min((row + 1) * self.hosts_per_row, self.hosts))

    def position(self, time: float) -> float:
        """Convert a time to a position in columns: 2.5 is the middle of the third; times outside are at the edge."""
        return min(max(time - self.begin, 0.0) * self.columns / (self.end - self.begin), self.columns)

    def columns_of(self, begin: float, end: float) -> list[tuple[int, float]]:
        """Return (column, the share of it between two times) for each column that the interval touches."""
        start, stop = self.position(begin), self.position(end)
        first, last = int(start), int(stop)
        if first == last:
            return [(first, stop - start)] if stop > start else []
        inner = [(column, 1.0) for column in range(first + 1, last)]
        return [(first, first + 1 - start), *inner, *([(last, stop - last)] if stop > last else [])]

    def rows_of(self, hosts: HostSet) -> list[tuple[int, int]]:
        """Return (row, number of its hosts in the set) for each row with any; storage hosts have no row."""
        bits, size = hosts.bits & ((1 << self.hosts) - 1), self.hosts_per_row
        if not bits:
            return []
        first = ((bits & -bits).bit_length() - 1) // size
        if first == (bits.bit_length() - 1) // size:
            return [(first, bits.bit_count())]
        rows, row, mask = [], first, (1 << size) - 1
        bits >>= first * size
        while bits:
            if count := (bits & mask).bit_count():
                rows.append((row, count))
            bits >>= size
            row += 1
        return rows


class Cell(Struct, frozen=True):
    """The jobs in a cell of the grid.

    Attributes:
        owner: the sequence number of the job that occupies the largest part (the first of equals); -1 for none.
        owned: the part of the cell that the owner occupies, from 0 to 1.
        busy: the part of the cell that jobs occupy, from 0 to 1 (more if jobs share hosts).
        jobs: the number of jobs that occupy a part of it.
    """

    owner: int
    owned: float
    busy: float
    jobs: int


def rasterise(jobs: Iterable[tuple[int, RasterBlock]], grid: Grid) -> list[list[Cell]]:
    """Return the cells of the grid, row by row from host 0, for jobs that ran, each with its sequence number."""
    size = grid.rows * grid.columns
    owners, owned, busy, touching = [-1] * size, [0.0] * size, [0.0] * size, [0] * size
    for sequence, record in jobs:
        columns = grid.columns_of(record.start, record.finish)
        for row, count in grid.rows_of(record.hosts):
            offset = row * grid.columns
            for column, overlap in columns:
                index = offset + column
                area = overlap * count
                busy[index] += area
                touching[index] += 1
                if area > owned[index]:
                    owned[index], owners[index] = area, sequence
    return [
        [
            Cell(owners[index], owned[index] / len(hosts), busy[index] / len(hosts), touching[index])
            for index in range(row * grid.columns, (row + 1) * grid.columns)
        ]
        for row, hosts in enumerate(map(grid.row_hosts, range(grid.rows)))
    ]
