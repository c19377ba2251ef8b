"""Tables of comma-separated values, cell by cell."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.api import HostSet
from batsched_py.errors import InputError
from batsched_py.reading.limits import LIMITS
from batsched_py.reporting.schedules.tabular import Tabular


def table(tmp_path: Path, text: str) -> Tabular:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    return Tabular(path)


def test_columns_are_found_by_the_first_name_that_exists(tmp_path: Path) -> None:
    """Versions of Batsim name them differently."""
    read = table(tmp_path, "old,b\n1,2\n")
    assert read.column("new", "old") == 0
    assert read.optional_column("new") is None
    with pytest.raises(InputError, match=r"t\.csv: line 1: has no column new or newer$"):
        read.column("new", "newer")


def test_a_byte_order_mark_and_blank_lines_are_no_content(tmp_path: Path) -> None:
    """As spreadsheets and editors write them; lines are counted as editors do."""
    read = table(tmp_path, "\ufeffa,b\r\n\r\n1,2\r\n\n3,4")
    assert read.header == ("a", "b")
    assert [(read.line, row) for row in read.rows()] == [(3, ["1", "2"]), (5, ["3", "4"])]


def test_a_line_break_in_quotes_is_part_of_a_cell(tmp_path: Path) -> None:
    """Errors name the last line of the row."""
    read = table(tmp_path, 'a,b\n1,"x\ny"\n2,z\n')
    assert [(read.line, row) for row in read.rows()] == [(3, ["1", "x\ny"]), (4, ["2", "z"])]


@pytest.mark.parametrize(
    ("read", "cell", "value"),
    [
        ("number", "-1.5e3", -1500.0),
        ("number_or_inf", "inf", math.inf),
        ("count", "0", 0),
        ("count", "3.0", 3),
        ("count", "123456789012345", 123456789012345),
        ("hosts", "0-3 7", HostSet.parse("0-3 7")),
        ("hosts", "", HostSet()),
    ],
)
def test_cells_are_read_by_their_kinds(tmp_path: Path, read: str, cell: str, value: object) -> None:
    """Numbers, whole numbers and sets of hosts."""
    (row,) = (rows := table(tmp_path, f"a,b\n{cell},x\n")).rows()
    assert getattr(rows, read)(row, 0) == value


@pytest.mark.parametrize(
    ("read", "cell", "rule"),
    [
        ("number", "inf", "must be a number, not 'inf'"),
        ("number", "1e101", "must be a number, not '1e101'"),
        ("number", "", "must be a number, not ''"),
        ("number_or_inf", "nan", "must be a number, not 'nan'"),
        ("count", "-1", "must be a whole number from 0, not '-1'"),
        ("count", "1.5", "must be a whole number from 0, not '1.5'"),
        ("count", ".0", "must be a whole number from 0, not '.0'"),
        ("count", "1.0.0", "must be a whole number from 0, not '1.0.0'"),
        ("count", "\u0663", "must be a whole number from 0, not '\u0663'"),
        ("count", "1" * 16, "must be a whole number from 0, not '1111111111111111'"),
        ("hosts", "3-1", "'3-1'"),
    ],
)
def test_a_wrong_cell_is_named_by_line_and_column(tmp_path: Path, read: str, cell: str, rule: str) -> None:
    """With the value and the rule."""
    (row,) = (rows := table(tmp_path, f"a,b\nx,{cell}\n")).rows()
    with pytest.raises(InputError) as caught:
        getattr(rows, read)(row, 1)
    assert str(caught.value).startswith(f"{tmp_path / 't.csv'}: line 2, column b: ")
    assert rule in str(caught.value)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "is empty: a line with the names of the columns is missing"),
        ("a,b\n1\n", "line 2: must have 2 columns as the header, not 1"),
        ('a,b\n1,"2\n', "line 2: is not a row of comma-separated values: "),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    """In one line."""
    with pytest.raises(InputError) as caught:
        list(table(tmp_path, text).rows())
    assert rule in str(caught.value)


def test_sets_out_of_proportion_to_the_file_are_refused(tmp_path: Path) -> None:
    """A few bytes may name a host of a high number, again and again."""
    path = tmp_path / "t.csv"
    highest = LIMITS.hosts - 1
    path.write_text("a\n" + "".join(f"{highest - place}\n" for place in range(3)))
    read = Tabular(path, replace(LIMITS, sets_size=LIMITS.hosts // 8))
    rows = read.rows()
    assert read.hosts(next(rows), 0) == HostSet.of(highest)
    with pytest.raises(InputError, match="line 3, column a: "):
        read.hosts(next(rows), 0)
