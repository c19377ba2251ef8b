"""Changes over time as SimGrid's platforms describe them: lines "DATE VALUE"; what SimGrid requires of them.

They are only checked. Dates and values may be drawn by laws ("NORM 5 1"); then dates are intervals.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from batsched_py.text.display import shown
from batsched_py.text.wording import seconds

#: Name of a law -> the number of its parameters.
_LAWS: Final = {
    "DET": 1,
    **dict.fromkeys(("NORM", "NORMAL", "GAUSS", "GAUSSIAN"), 2),
    **dict.fromkeys(("EXP", "EXPONENTIAL"), 1),
    **dict.fromkeys(("UNIF", "UNIFORM"), 2),
}
_LINE: Final = re.compile(r"[\n\r]")
_SETTING: Final = re.compile(r"(PERIODICITY|LOOPAFTER)\s+(\S+)")


def changes_fault(text: str, period: float = -1.0) -> str | None:
    """Return the rule that some changes break, for which SimGrid stops; None if there is none.

    The pattern begins anew every `period` seconds, if that is more than 0, unless the text has a period of its own.
    """
    laws, date, pause = False, 0.0, 0.0
    for number, line in _lines(text):
        setting = _SETTING.match(line)
        if line in ("STOCHASTIC", "STOCHASTIC LOOP"):
            laws = True
        elif setting is not None and _number(setting[2]) is not None:
            value = _number(setting[2]) or 0.0
            period, pause = (value, pause) if setting[1] == "PERIODICITY" else (period, value)
        else:
            dates, rest = _draw(line.split(), laws=laws)
            values, _ = _draw(rest, laws=laws)
            if dates is None or values is None:
                return f"line {number} must be a date and a value, or two laws after STOCHASTIC, not {shown(line)}"
            if not laws and not date <= dates[0]:
                return f"line {number} must not have a date before {seconds(date)}, as {seconds(dates[0])} is"
            date = 0.0 if laws else dates[0]
    return _loop_fault(period, pause, date, laws=laws)


def _loop_fault(period: float, pause: float, last: float, *, laws: bool) -> str | None:
    if period > 0 and laws:
        return "cannot be STOCHASTIC with a period: use LOOPAFTER"
    if period > 0 and pause:
        return "cannot have both PERIODICITY and LOOPAFTER"
    if pause < 0 or 0 < period < last:
        return f"must not begin anew before the last date, {seconds(last)}"
    return None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of lines that say something."""
    for number, line in enumerate(_LINE.split(text), 1):
        stripped = line.strip()
        if stripped and stripped[0] not in "#%":
            yield number, stripped


def _draw(words: Sequence[str], *, laws: bool) -> tuple[list[float] | None, Sequence[str]]:
    """Read a number, or a law with its parameters; return them, None if they are wrong, and the words that follow."""
    if not words:
        return None, words
    count = _LAWS.get(words[0])
    if count is None and laws:
        return None, words
    first, after = (0, 1) if count is None else (1, 1 + count)
    numbers = [number for word in words[first:after] if (number := _number(word)) is not None]
    return (numbers if len(numbers) == after - first else None), words[after:]


def _number(word: str) -> float | None:
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
