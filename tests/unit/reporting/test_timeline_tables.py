"""The timelines of a run, read back from its tables, and drawn below its jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import InputError
from batsched_py.model.table import csv_text
from batsched_py.reporting.schedules.file_notes import FileNotes
from batsched_py.reporting.schedules.timeline_tables import TimelineChart, chart_of_tables, read_timeline_tables
from batsched_py.timelines.api import timeline_tables
from tests.unit.timelines.fa_cases import CASES, FaCase, hold, one, pause, played, run


def written(folder: Path, case: FaCase) -> tuple[Path, Path]:
    """The files of a run."""
    tables = timeline_tables(played(case.document, *case.resumes), {})
    paths = (folder / "r_timeline.csv", folder / "r_timeline_vms.csv")
    for path, table in zip(paths, tables, strict=True):
        path.write_text(csv_text(table))
    return paths


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_read_is_what_was_written(case: FaCase, tmp_path: Path) -> None:
    """From the files as from the tables of the run."""
    direct = chart_of_tables(timeline_tables(played(case.document, *case.resumes), {}))
    assert direct is not None
    assert read_timeline_tables(*written(tmp_path, case), notes=FileNotes()) == direct


def test_pauses_and_breaks_are_bars() -> None:
    """From their begin to their end; what is held for ever has none."""
    ended = played(one(run("n", -5, takes=20, exit=[10, 0]), pause(60, 5), run("a", 10, takes=7), hold(20), buffer=0))
    chart = chart_of_tables(timeline_tables(ended, {}))
    assert isinstance(chart, TimelineChart)
    assert (chart.start, chart.launched, chart.end, chart.vms) == (40, 0, 120, {"vm": 40})
    assert [(bar.kind, bar.begin, bar.end) for bar in chart.bars] == [
        ("run", 0, 20),
        ("reboot", 20, 20),
        ("run", 20, 40),
        ("pause", 45, 105),
        ("run", 110, 117),
        ("break", 120, None),
    ]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("run,10", "walk,10", "line 2, column kind: must be one of run, drop, "),
        ("vm,P1", "wm,P1", "line 2, column vm: is none of r_timeline_vms.csv: 'wm'"),
        ("70,70", "soon,70", "line 2, column begin: must be a number, not 'soon'"),
    ],
)
def test_wrong_rows_are_one_line(before: str, after: str, told: str, tmp_path: Path) -> None:
    """With file, line, column and rule."""
    entries, vms = written(tmp_path, CASES["FA-1"])
    text = entries.read_text()
    assert before in text
    entries.write_text(text.replace(before, after, 1))
    with pytest.raises(InputError) as error:
        read_timeline_tables(entries, vms, notes=FileNotes())
    assert str(error.value).startswith(f"{entries}: {told}")


def test_tables_of_somebody_else_are_left_out_with_a_note(tmp_path: Path) -> None:
    """An algorithm of a user's own may call its tables so."""
    entries, vms = written(tmp_path, CASES["FA-1"])
    entries.write_text("a,b\n1,2\n")
    told = FileNotes()
    assert read_timeline_tables(entries, vms, notes=told) is None
    assert told.lines() == ("r_timeline.csv is left out: columns of batsched-py's table are missing",)
