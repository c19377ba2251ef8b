"""Sanitising of text from outside for display: control characters escaped, on one line, of bounded length.

Names and values from a peer or a file are stored unchanged, and sanitised where they are displayed: in terminals, logs,
warnings, errors and tables. `docs/threat-model.md` describes the threats.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from reprlib import Repr
from typing import Final

#: The largest number of displayed characters of a text from outside.
MOST: Final = 200
#: The largest number of characters of a whole line of a message, which may quote several texts.
MOST_IN_LINE: Final = 2000
_LONG_WORD: Final = re.compile(rf"\S{{{MOST + 1},}}")
_CUT: Final = "..."
#: A bounded repr(): the plain one of a hostile value takes long or raises, as JSON may nest deeper than Python's stack.
_REPR: Final = Repr()
#: The largest number of characters of a value in an error message.
_MOST_IN_VALUE: Final = 60
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = _MOST_IN_VALUE
_FORMULAS: Final = frozenset("=@+-")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-](inf|nan)")


def displayed(text: str, most: int = MOST) -> str:
    """Return the text on one line, `escaped`, and cut to at most `most` characters; "..." replaces the rest."""
    fit = escaped(text[: most + 1])
    return fit if len(fit) <= most else fit[: most - len(_CUT)] + _CUT


def displayed_line(line: str) -> str:
    """Return a line of a message, `escaped`, with each word cut as by `displayed`, and the whole cut to MOST_IN_LINE.

    This bounds the size of quoted text from outside.
    """
    if len(line) > MOST:
        line = _LONG_WORD.sub(lambda word: displayed(word[0]), line)
    return displayed(line, MOST_IN_LINE)


def shown(value: object) -> str:
    """Return a value for an error message, on one line and cut to a readable length."""
    try:
        return displayed(_REPR.repr(value), _MOST_IN_VALUE)
    except ValueError:  # an integer of thousands of digits
        return "a huge number"


def escaped(text: str, escape: Callable[[str], str] | None = None) -> str:
    r"""Return the text with `\x1b`, `\n`, `\u202e` and the like in place of characters that are not safe to display.

    These are control characters (including escape sequences and line ends), format characters (including those that
    change the writing direction or have no width), surrogates, and unassigned code points. Blanks of all widths stay.
    `escape` returns the replacement of a character; None for Python's escapes.
    """
    if text.isprintable():
        return text
    replace = escape or _escape
    return "".join(
        character if character.isprintable() or unicodedata.category(character) == "Zs" else replace(character)
        for character in text
    )


def spreadsheet_cell(text: str) -> str:
    """Return the text of a CSV cell, with an apostrophe before one that a spreadsheet would evaluate as a formula.

    Such a cell begins with =, @, + or -, and is not a number.
    """
    return f"'{text}" if text[:1] in _FORMULAS and text and not _NUMBER.fullmatch(text) else text


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
