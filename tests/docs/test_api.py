"""The page of the API: each name that an algorithm's author may import has a line."""

from __future__ import annotations

import re

from batsched_py import api
from tests.clone import ROOT


def test_each_name_has_one_line() -> None:
    """No other name has one; readers of the page find them without building the site."""
    text = (ROOT / "docs" / "reference" / "api.md").read_text()
    section = text.partition("\n## All names\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    assert all(len(cells) == 2 and cells[1] for cells in rows)
    assert sorted(name for cells in rows for name in re.findall(r"`(\w+)`", cells[0])) == sorted(api.__all__)
