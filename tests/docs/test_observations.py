"""docs/observations.md: an entry for each code that the source cites, and a test for each entry."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.clone import ROOT
from tests.docs.codes import citations, is_there

PAGE: Final = ROOT / "docs" / "observations.md"

#: (code, test) of each row.
ROWS: Final = re.findall(r"^\| (E\d+|BA-\d+) \| .* \| `([^`]+)` \|$", PAGE.read_text(), re.MULTILINE)

#: A code as comments, docstrings and error messages cite it: "(E18)", "(BA-4, BA-6)", "BA-18: ...".
CITED: Final = re.compile(r"(?<![\w.+-])(?:E(?:[1-9]|1\d|20)|BA-\d+)(?![\w.(]|\s*=)")


def test_each_code_has_one_row() -> None:
    """A code that is cited and not explained leads nowhere."""
    codes = [code for code, _ in ROWS]
    assert len(codes) == len(set(codes))
    missing = {code: path for code, path in citations(CITED).items() if code not in codes}
    assert not missing


def test_each_row_is_cited() -> None:
    """An entry that nothing needs can go."""
    assert {code for code, _ in ROWS} <= citations(CITED).keys()


@pytest.mark.parametrize(("code", "test"), ROWS, ids=[code for code, _ in ROWS])
def test_the_test_of_a_row_exists(code: str, test: str) -> None:
    """Path and function are there."""
    assert is_there(test), code
