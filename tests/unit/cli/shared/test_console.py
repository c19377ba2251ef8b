"""Tables are whole in a pipe; on a terminal nothing is cut unsaid."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich import box
from rich.console import Console
from rich.table import Table

from batsched_py.cli.main import run
from batsched_py.cli.shared import console
from batsched_py.cli.shared.console import Output, show_table

HEADINGS = ("name", "mean", "interval", "b/s/w")
ROW = ("easy(order=sjf)", "24883.0", "[0.804, 0.962]", "8/0/200")


def table() -> Table:
    made = Table(*HEADINGS, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    made.add_row(*ROW)
    return made


def shown(width: int, folded: int | None, *, terminal: bool = True) -> str:
    """Show the table on a console of this width, and return the text."""
    screen = Output(width=width, force_terminal=terminal, color_system=None)
    with pytest.MonkeyPatch.context() as patch, screen.capture() as caught:
        patch.setattr(console, "Output", lambda **_: screen)
        show_table(table(), folded)
    return caught.get()


@given(width=st.integers(10, 80), folded=st.sampled_from([None, 0, 1, 2, 3]))
def test_on_a_terminal_a_column_is_whole_or_named_as_left_out(width: int, folded: int | None) -> None:
    """At any width all characters of a column are there, on one line or folded, or none."""
    text = shown(width, folded)
    assert all(len(line) <= width for line in text.splitlines())
    body, _, note = re.sub(r"\s|─", "", text).partition(f"leftout,forwhich{width}charactersaretoofew:")
    body = re.sub(r"\dcolumns?$", "", body) if note else body
    left_out = note.split(",") if note else []
    assert left_out == list(HEADINGS)[len(HEADINGS) - len(left_out) :] or folded is not None
    cells = [text for pair in zip(HEADINGS, ROW, strict=True) if pair[0] not in left_out for text in pair]
    assert Counter(body) == Counter("".join(cells).replace(" ", ""))


def test_a_table_that_fits_has_no_note() -> None:
    """All is there."""
    assert "left out" not in shown(80, None)
    assert "left out" in shown(40, None)


def test_a_pipe_gets_the_whole_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """COLUMNS does not matter, which many shells keep for the terminal that they are on."""
    monkeypatch.setenv("COLUMNS", "20")
    show_table(table())
    out = capsys.readouterr().out
    assert all(cell in out for cell in ROW)


@pytest.mark.parametrize("width", ["20", "80"])
def test_the_list_of_algorithms_is_whole_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: str
) -> None:
    """A line for each, to its end."""
    monkeypatch.setenv("COLUMNS", width)
    assert run(["list"]) == 0
    assert "promises for the first `depth` blocked jobs" in capsys.readouterr().out


def test_a_comparison_is_whole_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The third number of better/same/worse, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "40")
    assert run(["generate", "--jobs", "9", "--hosts", "4", "-o", "w.json", "--platform", "p.xml"]) == 0
    study = ["compare", "-p", "p.xml", "--generate", "lublin:jobs=9", "--seeds", "1-2", "--processes", "1"]
    assert run([*study, "-s", "easy", "-s", "fcfs", "--metrics", "mean_wait"]) == 0
    (counts,) = re.findall(r"\d+/\d+/\d+", capsys.readouterr().out)
    assert sum(map(int, counts.split("/"))) == 2


def test_a_closed_pipe_is_not_richs_to_answer() -> None:
    """It would end the program with exit code 1."""
    with pytest.raises(BrokenPipeError):
        Output().on_broken_pipe()
    assert issubclass(Output, Console)
