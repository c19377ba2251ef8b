"""Validation of changes over time in SimGrid's platforms: lines "DATE VALUE".

They are checked, but not simulated. Dates and values may be drawn from distributions ("NORM 5 1"); then dates are
intervals.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from batsched_py.text.display import shown
from batsched_py.text.wording import seconds

#: Name of a distribution -> the number of its parameters.
_LAWS: Final = {
    "DET": 1,
    **dict.fromkeys(("NORM", "NORMAL", "GAUSS", "GAUSSIAN"), 2),
    **dict.fromkeys(("EXP", "EXPONENTIAL"), 1),
    **dict.fromkeys(("UNIF", "UNIFORM"), 2),
}
_LINE: Final = re.compile(r"[\n\r]")
_SETTING: Final = re.compile(r"(PERIODICITY|LOOPAFTER)\s+(\S+)")


def changes_fault(text: str, period: float = -1.0) -> str | None:
    """Return the rule that the changes violate, at which SimGrid stops; None if they are valid.

    The pattern repeats every `period` seconds if that is positive, unless the text specifies a period.
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
    """Yield (number, text) of the lines that are neither blank nor comments."""
    for number, line in enumerate(_LINE.split(text), 1):
        stripped = line.strip()
        if stripped and stripped[0] not in "#%":
            yield number, stripped


def _draw(words: Sequence[str], *, laws: bool) -> tuple[list[float] | None, Sequence[str]]:
    """Parse a number, or a distribution with parameters; return the numbers (None if invalid) and the other words."""
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
