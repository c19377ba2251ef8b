"""Text from outside, made fit to be displayed: control characters escaped, on one line, of bounded length.

Names and values that a peer or a file chose are kept as they are, and pass through here where they are displayed: in
terminals, logs, warnings, errors and tables. `docs/threat-model.md` says what this protects from.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from reprlib import Repr
from typing import Final

#: Characters of a text from outside that are displayed.
MOST: Final = 200
#: Characters of a line of a message in all, with our own words: a line names several things, or lists what there is.
MOST_IN_LINE: Final = 2000
_LONG_WORD: Final = re.compile(rf"\S{{{MOST + 1},}}")
_CUT: Final = "..."
#: Plain repr() of a hostile value takes long or raises: JSON may nest deeper than Python's stack.
_REPR: Final = Repr()
#: Characters of a value in an error message.
_MOST_IN_VALUE: Final = 60
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = _MOST_IN_VALUE
_FORMULAS: Final = frozenset("=@+-")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-](inf|nan)")


def displayed(text: str, most: int = MOST) -> str:
    """Return the text on one line, `escaped`, and cut to at most so many characters; "..." stands for the rest."""
    fit = escaped(text[: most + 1])
    return fit if len(fit) <= most else fit[: most - len(_CUT)] + _CUT


def displayed_line(line: str) -> str:
    """Return a line of a message, `escaped`, its words cut as by `displayed`, the whole to MOST_IN_LINE.

    So nothing from outside that a message quotes fills the terminal.
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
    r"""Return the text with `\x1b`, `\n`, `\u202e` and the like for characters that are not displayed as themselves.

    Replaced are control characters (with them escape sequences and ends of lines), format characters (with them those
    that change the direction of writing, or have no width), surrogates, and what Unicode has not assigned. Blanks of
    all widths stay. `escape` gives what stands for a character; None for Python's escapes.
    """
    if text.isprintable():
        return text
    replace = escape or _escape
    return "".join(
        character if character.isprintable() or unicodedata.category(character) == "Zs" else replace(character)
        for character in text
    )


def spreadsheet_cell(text: str) -> str:
    """Return the text of a cell of CSV, with an apostrophe before one that a spreadsheet would run as a formula.

    Those begin with =, @, + or -, and are no numbers.
    """
    return f"'{text}" if text[:1] in _FORMULAS and text and not _NUMBER.fullmatch(text) else text


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
