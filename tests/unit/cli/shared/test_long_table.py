"""Long tables are what rich draws, and cost less."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich import box
from rich.table import Table

from batsched_py.cli.shared import long_table
from batsched_py.cli.shared.console import WIDEST, Output, needed_width, show_table
from batsched_py.cli.shared.long_table import LONG, LongTable, is_long

CELLS = st.text(st.sampled_from("ab [/]日é\x1b\u202e"), max_size=8).map(str.strip)


def numbered(rows: int) -> Table:
    """A table of numbers, to the right, and names."""
    table = Table("number", "name", box=box.SIMPLE, pad_edge=False)
    table.columns[0].justify = "right"
    for number in range(rows):
        table.add_row(str(number), f"job {number * 7919 % 101}")
    return table


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6), st.booleans())
def test_the_lines_are_those_of_rich(rows: list[tuple[str, str, str]], right: bool) -> None:
    """With characters of two columns, of none, and such as would do something on a terminal."""
    table = Table("a", "longer", "", box=box.SIMPLE, pad_edge=False)
    table.columns[1].justify = "right" if right else "left"
    for cells in rows:
        table.add_row(*cells)
    drawn = io.StringIO()
    Output(file=drawn, width=WIDEST).print(table)
    assert [*LongTable(table).lines()] == drawn.getvalue().splitlines()


def test_a_long_table_is_printed_as_a_short_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever way it was drawn."""
    show_table(numbered(LONG))
    quick = capsys.readouterr().out
    assert len(quick.splitlines()) == LONG + 4
    assert needed_width(numbered(LONG)) == len(quick.splitlines()[1])
    monkeypatch.setattr(long_table, "LONG", LONG + 1)
    show_table(numbered(LONG))
    assert capsys.readouterr().out == quick


@pytest.mark.parametrize("change", ["rows", "box", "title", "justify", "width", "section"])
def test_what_only_rich_can_draw_is_left_to_it(change: str) -> None:
    """Other boxes, captions, columns that are centred or have a width of their own."""
    table = numbered(LONG - 1 if change == "rows" else LONG)
    assert is_long(numbered(LONG))
    match change:
        case "box":
            table.box = box.ROUNDED
        case "title":
            table.title = "jobs"
        case "justify":
            table.columns[0].justify = "center"
        case "width":
            table.columns[0].width = 3
        case "section":
            table.add_section()
    assert not is_long(table)
