"""Texts that logs have most, which readers take by a short way, are read as those that they take by the long one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from batsched_py.reading.limits import LATEST, LONGEST
from batsched_py.traces.pbs_fields import read_values
from batsched_py.traces.sacct_fields import CellError, SacctRow
from batsched_py.traces.table_batch import whole_numbers
from batsched_py.traces.table_cells import duration_reader, instant_reader
from batsched_py.traces.table_columns import TableColumn
from tests.thoroughness import thorough

ZONES = (UTC, ZoneInfo("Europe/Paris"), ZoneInfo("Africa/Monrovia"), ZoneInfo("Asia/Kathmandu"))
#: The limits, and forms of numbers that are none of digits alone.
CELLS = st.integers(0, 2 * 10**9).map(str) | st.sampled_from(
    f" 5|5 ||-|-1|+7|7.5|007|1e3|1_0|1:00|\u0663|\u00b2|{LATEST}|{LATEST + 1}|{LONGEST}|{LONGEST + 1}|x|null".split("|")
)


@settings(max_examples=thorough(60))
@given(st.lists(CELLS, min_size=1, max_size=3))
@example([str(LONGEST), "0"])
@example([str(LATEST), "007"])
@example(["\u0663", "4"])
@example(["", "12"])
@example(["0" * 31])
def test_cells_that_are_numbers_of_seconds_mean_what_the_reader_of_single_cells_says(cells: Sequence[str]) -> None:
    """A column of seconds is converted as a whole only if its cells would all become these numbers."""
    column = TableColumn("c")
    for read, most in ((instant_reader(column, UTC), LATEST), (duration_reader(column), LONGEST)):
        numbers = whole_numbers(cells, most)
        if numbers is not None:
            assert list(map(repr, numbers)) == [repr(read(cell)) for cell in cells]


def test_columns_of_whole_seconds_are_converted_as_a_whole() -> None:
    """The test above compares nothing otherwise."""
    assert whole_numbers(["0", "12", str(LONGEST)], LONGEST) == [0, 12, LONGEST]


@settings(max_examples=thorough(60))
@given(st.datetimes(datetime(1969, 1, 1), datetime(2100, 1, 1)), st.sampled_from(ZONES), st.sampled_from("T "))
@example(datetime(1972, 1, 7, 0, 44, 40), ZONES[2], "T")
@example(datetime(2024, 3, 31, 2, 30, 59), ZONES[1], "T")
@example(datetime(2024, 10, 27, 2, 30, 1), ZONES[1], " ")
def test_dates_are_seconds_of_their_zone(date: datetime, zone: tzinfo, mark: str) -> None:
    """Minutes are converted once, with the offset that each of their seconds has."""
    text = date.replace(microsecond=0).isoformat(mark)
    assert SacctRow(1, {"submit": text}, zone).date("submit") == int(
        date.replace(microsecond=0, tzinfo=zone).timestamp()
    )


def test_dates_that_no_calendar_has_break_the_rule() -> None:
    """A month, a day, a minute or a second too many."""
    for text in ("2024-13-01T00:00:00", "2023-02-29T00:00:00", "2024-05-31T08:60:00", "2024-05-31T08:00:60"):
        with pytest.raises(CellError, match="must be a time like"):
            SacctRow(1, {"submit": text}).date("submit")


#: Pairs, and texts that are none or end within quotes.
PIECES = st.sampled_from(
    ["a=", "b=1", 'c="x"', 'd="x y"', "e='x'", 'f="', 'g=x"y', "h=i=j", "=k", "2l=m", "n.o-p=q", "word", 'r=""']
) | st.sampled_from([" ", "\t", "\n", "\x1c", "\u00a0", "\u00e9=1", 's="x"y'])


@settings(max_examples=thorough(150))
@given(st.lists(st.tuples(PIECES, st.sampled_from([" ", "", "  "])), max_size=6))
@example([("a=", " "), ('c="x"', " "), ('r=""', "  "), ("h=i=j", "\t")])
@example([('a="z"', " "), ("a=", "")])
def test_pairs_are_the_same_with_other_quotes_before_them(pieces: Sequence[tuple[str, str]]) -> None:
    """A pair in single quotes leads all pairs of a record of PBS to the long way."""
    text = "".join(piece + blank for piece, blank in pieces).strip()
    alone, after = read_values(text), read_values(f"z='q r' {text}")
    assert {"z": "q r", **alone.pairs} == after.pairs
    assert list(alone.pairs) == [key for key in after.pairs if key != "z"]
    assert alone.rest == after.rest
