"""Text from outside is displayed escaped, on one line, in bounded length."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from batsched_py.text.display import MOST, displayed, escaped, spreadsheet_cell
from batsched_py.text.wording import NARROW_BLANK


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w0!1", "w0!1"),
        ("größer \N{GREEK SMALL LETTER ALPHA} 日本", "größer \N{GREEK SMALL LETTER ALPHA} 日本"),
        (f"28{NARROW_BLANK}481", f"28{NARROW_BLANK}481"),
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
        ("a\nbatsched-py: error: forged\r\n", r"a\nbatsched-py: error: forged\r\n"),
        ("\x9b31m \x7f", r"\x9b31m \x7f"),
        ("a\u202egnp.exe \u2066x\u2069 \u200b", r"a\u202egnp.exe \u2066x\u2069 \u200b"),
        ("a\u2028b\u2029c\x85d", r"a\u2028b\u2029c\x85d"),
        ("\ud800 \U000e0041", r"\ud800 \U000e0041"),
    ],
)
def test_what_would_not_be_displayed_as_itself_is_escaped(text: str, expected: str) -> None:
    """Letters of all scripts and blanks stay."""
    assert displayed(text) == escaped(text) == expected


def test_no_character_of_unicode_escapes() -> None:
    """Nothing that is displayed is a control or format character, an end of line or a surrogate."""
    fit = escaped("".join(map(chr, range(sys.maxunicode + 1))))
    assert len(fit.splitlines()) == 1
    assert not {unicodedata.category(character) for character in set(fit)} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize("text", ["x" * (MOST + 1), "x" * 10_000_000, "\x1b" * MOST, "\n" * 5_000_000])
def test_a_long_text_is_cut(text: str) -> None:
    """At most 200 characters, the escaped ones counted as they are displayed."""
    fit = displayed(text)
    assert len(fit) == MOST
    assert fit.endswith("...")


def test_a_text_that_just_fits_is_whole() -> None:
    """Nothing is cut that need not be."""
    assert displayed("x" * MOST) == "x" * MOST
    assert displayed("abcdef", 5) == "ab..."


@pytest.mark.parametrize("cell", ["=1+1", "@SUM(A1)", "+cmd", "-cmd|calc", "-1+cmd", "=", "-", "--1"])
def test_a_cell_that_a_spreadsheet_would_run_is_text(cell: str) -> None:
    """Names of jobs, users and algorithms are whoever's."""
    assert spreadsheet_cell(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "easy", "-1", "-1.000000", "+3.5e-7", "-inf", "1=2", "a@b", "0-3"])
def test_other_cells_are_as_they_are(cell: str) -> None:
    """Numbers below 0, too."""
    assert spreadsheet_cell(cell) == cell
