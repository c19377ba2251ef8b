"""docs/design.md: its answers to "where is ...?" are where they say."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.clone import ROOT

PAGE: Final = ROOT / "docs" / "design.md"

#: (question, name, path from docs/) of each row.
ROWS: Final = re.findall(r"^\| (.+\?) \| `(\w+)` in \[[\w./]+\]\(([\w./]+)\) \|$", PAGE.read_text(), re.MULTILINE)


def test_twenty_questions_are_answered() -> None:
    """Each row of the table is read, and no question stands twice."""
    section = PAGE.read_text().partition("## Where is ...?")[2].partition("\n## ")[0]
    assert len(ROWS) == section.count("\n| ") - 1 >= 20
    assert len({question for question, _, _ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("name", "path"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_an_answer_is_where_it_says(name: str, path: str) -> None:
    """The file defines the class or function."""
    text = (PAGE.parent / path).resolve().read_text()
    assert re.search(rf"^(?:class|def) {name}\b|^{name}\b.*=", text, re.MULTILINE)
