"""Tables: which are refused, and how they are spelled."""

from __future__ import annotations

import math
from typing import Any

import pytest

from batsched_py.model.table import RESERVED, Table, cell_text, checked_tables, csv_text
from batsched_py.results.decisions_file import DECISIONS
from batsched_py.results.file_forms import BATSIM_4
from batsched_py.results.place_files import CAPACITIES, PLACES
from batsched_py.results.result_files import CONTENTION


def test_a_table_is_written_as_csv() -> None:
    """Nothing is an empty cell; text with a comma or a quote is quoted."""
    table = Table("parts", ("what", "how many"), [("a, b", 2), ('"c"', None), ("d", 0.5)])
    assert csv_text(table) == 'what,how many\n"a, b",2\n"""c""",\nd,0.5\n'


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (1800.0, "1800"),
        (1.5177777, "1.517778"),
        (0.1 + 0.2, "0.3"),
        (-1e-9, "0"),
        (True, "1"),
        (10**20, "1" + "0" * 20),
    ],
)
def test_numbers_have_no_more_digits_than_they_need(cell: float, text: str) -> None:
    """Six after the point at most."""
    assert cell_text(cell) == text


def test_rows_are_read_once() -> None:
    """They may come from a generator."""
    (table,) = checked_tables([Table("counts", ["n"], ([number] for number in range(2)))])
    assert (table.rows, table.rows) == (((0,), (1,)), ((0,), (1,)))


@pytest.mark.parametrize(
    ("tables", "rule"),
    [
        ([Table("Big Table", ("n",), ())], r"name must match .*, not be 'Big Table'"),
        ([Table("../leases", ("n",), ())], r"name must match"),
        ([Table("jobs", ("n",), ())], "table jobs: each run has a table of this name"),
        ([Table("mine", ("n",), ())] * 2, "table mine: there already is a table of this name"),
        ([Table("mine", ("n", "m"), [(1, 2), (1,)])], "table mine, row 2: 1 cells, where the header has 2"),
        ([Table("mine", ("n",), [(math.nan,)])], "table mine, row 1, n: must be a text or a number, not nan"),
        ([Table("mine", ("n",), [([],)])], "table mine, row 1, n: must be a text or a number, not"),
    ],
)
def test_what_cannot_be_written_is_refused(tables: Any, rule: str) -> None:
    """Name, row, column and rule."""
    with pytest.raises(ValueError, match=rule):
        checked_tables(tables)


def test_reserved_names_are_those_of_files_that_each_run_may_have() -> None:
    """An algorithm's table must not take their place."""
    endings = (
        BATSIM_4.jobs,
        BATSIM_4.schedule,
        BATSIM_4.machine_states,
        BATSIM_4.consumed_energy,
        BATSIM_4.pstate_changes,
        CONTENTION,
        DECISIONS,
        PLACES,
        CAPACITIES,
    )
    assert {f"_{name}.csv" for name in RESERVED} == set(endings)
