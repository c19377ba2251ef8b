"""The file of decisions, with ids and words that somebody else wrote."""

from __future__ import annotations

import csv

import pytest

from batsched_py.model.decision_row import DecisionRow
from batsched_py.results.decisions_file import COLUMNS, decision_lines


@pytest.mark.parametrize("kind", ["promised", "withdrawn", "held"])
@pytest.mark.parametrize("name", ['w0!a",b', "w0!a\n9,rejected,w0!b,,,,,", "w0!a\r\nb", 'w0!"'])
def test_an_id_of_a_peer_forges_no_row(kind: str, name: str) -> None:
    """It is one cell of one row, whatever stands in it."""
    start = 2.0 if kind == "promised" else None
    text = decision_lines([DecisionRow(1.0, kind, name, start, "ends", (name,), words=name)])  # type: ignore[arg-type]
    [cells] = csv.reader(text.splitlines())
    assert len(cells) == len(COLUMNS)
    assert cells[:3] == ["1.000000", kind, " ".join(name.split())]
    assert cells[5] == cells[2]


def test_words_are_no_formula() -> None:
    """A spreadsheet would run them."""
    [cells] = csv.reader([decision_lines([DecisionRow(1.0, "held", "w0!a", reason="own", words="=cmd|'x'!A1")])])
    assert cells[7] == "'=cmd|'x'!A1"
