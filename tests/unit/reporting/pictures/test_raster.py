"""Cells of a grid, and the jobs that occupy them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.hostset import HostSet
from batsched_py.reporting.pictures.raster import Cell, Grid, rasterise
from tests.unit.reporting.records import record

NOBODY = Cell(-1, 0.0, 0.0, 0)


def test_rows_hold_as_many_hosts_as_needed_and_the_last_holds_the_rest() -> None:
    """10 hosts in at most 4 rows: 3, 3, 3 and 1."""
    grid = Grid.fitting(10, 1.0, 1, 4)
    assert [len(grid.row_hosts(row)) for row in range(grid.rows)] == [3, 3, 3, 1]


def test_there_are_no_more_rows_than_hosts() -> None:
    """A row is never a part of a host."""
    assert Grid.fitting(2, 1.0, 1, 16).rows == 2


@given(st.sets(st.integers(0, 99)), st.integers(1, 100))
def test_members_of_a_row_are_counted_as_one_would(hosts: set[int], per_row: int) -> None:
    """Host by host."""
    grid = Grid(100, per_row, 1.0, 1)
    expected: dict[int, int] = {}
    for host in sorted(hosts):
        expected[host // per_row] = expected.get(host // per_row, 0) + 1
    assert grid.rows_of(HostSet.from_ids(hosts)) == sorted(expected.items())


def test_a_job_owns_the_cells_that_it_fills_and_a_part_of_those_at_its_ends() -> None:
    """Columns of 10 s; from 5 to 20 s."""
    [row] = rasterise([(7, record(start=5, finish=20))], Grid(1, 1, 40.0, 4))
    assert row == [Cell(7, 0.5, 0.5, 1), Cell(7, 1.0, 1.0, 1), NOBODY, NOBODY]


def test_the_job_that_occupies_most_of_a_cell_owns_it() -> None:
    """Hosts times seconds, not either of them."""
    wide = record("wide", start=0, finish=4, hosts="0-1")
    long = record("long", start=4, finish=10, hosts="0")
    [[cell]] = rasterise([(0, wide), (1, long)], Grid(2, 2, 10.0, 1))
    assert (cell.owner, cell.owned, cell.jobs) == (0, 0.4, 2)
    assert cell.busy == pytest.approx(0.7)


def test_of_equals_the_first_owns_the_cell() -> None:
    """Ties break by sequence number."""
    halves = [(0, record(start=0, finish=5)), (1, record(start=5, finish=10))]
    assert rasterise(halves, Grid(1, 1, 10.0, 1))[0][0].owner == 0


def test_a_row_with_fewer_hosts_is_full_when_they_are() -> None:
    """3 hosts in rows of 2."""
    [below, above] = rasterise([(0, record(hosts="2"))], Grid(3, 2, 10.0, 1))
    assert (below, above) == ([NOBODY], [Cell(0, 1.0, 1.0, 1)])


def test_a_job_without_hosts_occupies_nothing() -> None:
    """Control jobs run nowhere."""
    assert rasterise([(0, record(hosts=""))], Grid(1, 1, 10.0, 1)) == [[NOBODY]]


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(1e-5, 50), st.sets(st.integers(0, 9), min_size=1)), min_size=1),
    st.integers(1, 12),
    st.integers(1, 30),
)
def test_the_cells_add_up_to_the_host_seconds_of_all_jobs(
    jobs: list[tuple[float, float, set[int]]], rows: int, columns: int
) -> None:
    """They do for any grid."""
    records = [record(start=start, finish=start + run, hosts=" ".join(map(str, hosts))) for start, run, hosts in jobs]
    grid = Grid.fitting(10, max(each.finish for each in records), columns, rows)
    cells = rasterise(enumerate(records), grid)
    busy = sum(cell.busy * len(grid.row_hosts(row)) for row, line in enumerate(cells) for cell in line)
    expected = sum(len(each.hosts) * each.execution for each in records)
    assert busy * grid.column_seconds == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_what_lies_outside_of_the_time_of_a_grid_is_not_on_it() -> None:
    """From 100 s to 200 s in four columns: one job reaches in, one out, one was before, one comes later."""
    grid = Grid.fitting(4, 200.0, 4, 4, 100.0)
    spans = ((0, 112.5), (187.5, 300), (0, 100), (200, 300))
    jobs = [
        record(str(host), start=start, finish=finish, hosts=str(host)) for host, (start, finish) in enumerate(spans)
    ]
    rows = rasterise(list(enumerate(jobs)), grid)
    assert [[cell.busy for cell in row] for row in rows] == [[0.5, 0, 0, 0], [0, 0, 0, 0.5], [0] * 4, [0] * 4]
    assert grid.column_seconds == 25
