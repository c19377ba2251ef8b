"""The page of algorithms: each that comes along is in its table, and nothing else is."""

from __future__ import annotations

import re

from schedulers import BUILT_INS
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "algorithms.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """The cells of the rows of the table in a section."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (text,) = [part for part in section if part.startswith(f"{heading}\n")]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def test_each_algorithm_has_a_row() -> None:
    """In the order of the alphabet, with its source; a row of one that is gone is found, too."""
    names = [cells[0].strip("`") for cells in rows("Ours")]
    assert names == sorted(BUILT_INS)
    assert all(len(cells) == 5 and all(cells) for cells in rows("Ours"))
