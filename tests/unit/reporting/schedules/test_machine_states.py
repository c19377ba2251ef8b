"""Machine states are read in pieces of rows, with the numbers and the errors of a conversion cell by cell."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.errors import InputError
from batsched_py.reading.limits import Limits
from batsched_py.reporting.schedules import machine_states, tabular
from batsched_py.reporting.schedules.machine_states import read_machine_states

HEADER = "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing"
#: Cells as Batsim and others write them, and cells that are no numbers or too large.
TIMES = st.sampled_from(["0", "1.5", "10678.2", "1e9", " 7", "1e101", "-1e101", "nan", "inf", "", "x", "1_0"])
COUNTS = st.sampled_from(["0", "1", "007", "3.0", "64", "", "-1", "+1", " 1", "1.5", "x", "\u0663", "9" * 16])


def read(rows: list[list[str]]) -> object:
    """Return the numbers or the error of a file with these rows, without the name of its folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out_machine_states.csv"
        path.write_text("\n".join([HEADER, *map(",".join, rows)]) + "\n")
        try:
            found = read_machine_states(path, limits=Limits(hosts=100))
        except InputError as error:
            return error.field, error.rule
        return found.times, found.counts


@given(st.lists(st.tuples(TIMES, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS).map(list), max_size=7))
def test_pieces_give_what_single_rows_give(rows: list[list[str]]) -> None:
    """Also where a piece ends between two rows, or has a number that only pandas writes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tabular, "_ROWS", 3)
        by_pieces = read(rows)
        patch.setattr(machine_states._StateReader, "add_piece", lambda reader, piece: False)
        assert read(rows) == by_pieces


def test_plain_rows_are_never_converted_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of many jobs would take five times as long."""
    monkeypatch.setattr(machine_states._StateReader, "add_row", lambda reader, row: pytest.fail(f"{row} is read alone"))
    path = tmp_path / "out_machine_states.csv"
    path.write_text(
        "\n".join([HEADER, *(f"{time}.5,0,0,0,{64 - time % 65},{time % 65}" for time in range(2500))]) + "\n"
    )
    found = read_machine_states(path)
    assert (len(found.times), found.times[-1]) == (2500, 2499.5)
    assert sum(found.counts) == 64 * 2500


def test_an_error_names_its_line_and_column(tmp_path: Path) -> None:
    """Though the rows before it were converted together."""
    path = tmp_path / "out_machine_states.csv"
    lines = [f"{time},0,0,0,1,1" for time in range(1500)]
    lines[1200] = "1200,0,0,0,one,1"
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    with pytest.raises(InputError, match="line 1202, column nb_idle: must be a whole number from 0, not 'one'"):
        read_machine_states(path)
