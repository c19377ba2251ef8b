"""A schedule on a grid: the jobs that occupy each cell, which is a few hosts during a slice of time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct

from batsched_py.hostset import HostSet


class Block(Protocol):
    """An interval of time on hosts that a picture shows: of a job, a lease or a machine state."""

    @property
    def start(self) -> float:
        """Return when it begins."""

    @property
    def finish(self) -> float:
        """Return when it is over."""

    @property
    def hosts(self) -> HostSet:
        """Return where it is."""


class Grid(Struct, frozen=True):
    """Hosts in rows of `hosts_per_row` (the last may have fewer), the time from `begin` to `end` in equal columns."""

    hosts: int
    hosts_per_row: int
    end: float
    columns: int
    begin: float = 0.0

    @classmethod
    def fitting(cls, hosts: int, end: float, columns: int, rows: int, begin: float = 0.0) -> Grid:
        """Return the finest grid of at most `rows` rows; a row is never less than a host."""
        return cls(hosts, -(-hosts // rows), end, columns, begin)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return -(-self.hosts // self.hosts_per_row)

    @property
    def column_seconds(self) -> float:
        """Return the seconds in a column."""
        return (self.end - self.begin) / self.columns

    def row_hosts(self, row: int) -> range:
        """Return the hosts of a row."""
        return range(row * self.hosts_per_row, min((row + 1) * self.hosts_per_row, self.hosts))

    def position(self, time: float) -> float:
        """Convert a time to columns: 2.5 is the middle of the third; times outside are at the edge."""
        return min(max(time - self.begin, 0.0) * self.columns / (self.end - self.begin), self.columns)

    def columns_of(self, begin: float, end: float) -> list[tuple[int, float]]:
        """Return (column, the share of it between the two times), for each column that they touch."""
        start, stop = self.position(begin), self.position(end)
        first, last = int(start), int(stop)
        if first == last:
            return [(first, stop - start)] if stop > start else []
        inner = [(column, 1.0) for column in range(first + 1, last)]
        return [(first, first + 1 - start), *inner, *([(last, stop - last)] if stop > last else [])]

    def rows_of(self, hosts: HostSet) -> list[tuple[int, int]]:
        """Return (row, number of its hosts that are members), for each row with a member; storage hosts have no row."""
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
        owner: sequence number of the job that occupies the largest part (the first of equals); -1 if none does.
        owned: the part of the cell that it occupies, from 0 to 1.
        busy: the part of the cell that jobs occupy, from 0 to 1 (more if jobs share hosts).
        jobs: number of jobs that occupy a part of it.
    """

    owner: int
    owned: float
    busy: float
    jobs: int


def rasterise(jobs: Iterable[tuple[int, Block]], grid: Grid) -> list[list[Cell]]:
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
