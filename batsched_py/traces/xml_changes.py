"""Changes over time in SimGrid's platforms: lines "DATE VALUE".

Dates and values may be drawn from distributions ("NORM 5 1"); then dates are intervals.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from batsched_py.model.changes import Law
from batsched_py.text.display import shown
from batsched_py.text.wording import seconds

#: Name of a distribution -> its usual name, and the number of its parameters.
_LAWS: Final = {
    "DET": ("DET", 1),
    **dict.fromkeys(("NORM", "NORMAL", "GAUSS", "GAUSSIAN"), ("NORM", 2)),
    **dict.fromkeys(("EXP", "EXPONENTIAL"), ("EXP", 1)),
    **dict.fromkeys(("UNIF", "UNIFORM"), ("UNIF", 2)),
}
_LINE: Final = re.compile(r"[\n\r]")
_SETTING: Final = re.compile(r"(PERIODICITY|LOOPAFTER)\s+(\S+)")


class Pattern(Struct, frozen=True):
    """Changes of any quantity; the members are those of `TimedChanges`."""

    points: tuple[tuple[Law, Law], ...] = ()
    period: float = 0.0
    drawn: bool = False
    again: bool = False


def read_pattern(text: str, period: float = -1.0) -> Pattern:
    """Read changes; ValueError with the rule for text at which SimGrid stops.

    The pattern repeats every `period` seconds if that is positive, unless the text specifies a period.
    """
    laws, again, date, pause, points = False, False, 0.0, 0.0, list[tuple[Law, Law]]()
    for number, line in _lines(text):
        setting = _SETTING.match(line)
        if line in ("STOCHASTIC", "STOCHASTIC LOOP"):
            laws, again = True, again or line.endswith("LOOP")
        elif setting is not None and _number(setting[2]) is not None:
            value = _number(setting[2]) or 0.0
            period, pause = (value, pause) if setting[1] == "PERIODICITY" else (period, value)
        else:
            when, rest = _law(line.split(), laws=laws)
            what, _ = _law(rest, laws=laws)
            if when is None or what is None:
                rule = "must be a date and a value, or two laws after STOCHASTIC"
                raise ValueError(f"line {number} {rule}, not {shown(line)}")
            if not laws:
                if not date <= when.parameters[0]:
                    later = f"before {seconds(date)}, as {seconds(when.parameters[0])} is"
                    raise ValueError(f"line {number} must not have a date {later}")
                date = when.parameters[0]
            points.append((when, what))
    _check_loop(period, pause, date, laws=laws)
    if laws:
        return Pattern(tuple(points), 0.0, drawn=True, again=again or pause > 0)
    return Pattern(tuple(points), max(period, date + pause if pause else 0.0))


def _check_loop(period: float, pause: float, last: float, *, laws: bool) -> None:
    if period > 0 and laws:
        raise ValueError("cannot be STOCHASTIC with a period: use LOOPAFTER")
    if period > 0 and pause:
        raise ValueError("cannot have both PERIODICITY and LOOPAFTER")
    if pause < 0 or 0 < period < last:
        raise ValueError(f"must not begin anew before the last date, {seconds(last)}")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of the lines that are neither blank nor comments."""
    for number, line in enumerate(_LINE.split(text), 1):
        stripped = line.strip()
        if stripped and stripped[0] not in "#%":
            yield number, stripped


def _law(words: Sequence[str], *, laws: bool) -> tuple[Law | None, Sequence[str]]:
    """Parse a number, or a distribution with parameters; return it (None if invalid) and the other words."""
    if not words:
        return None, words
    known = _LAWS.get(words[0])
    if known is None and laws:
        return None, words
    name, first, after = ("DET", 0, 1) if known is None else (known[0], 1, 1 + known[1])
    numbers = [number for word in words[first:after] if (number := _number(word)) is not None]
    if len(numbers) < after - first or (name == "EXP" and numbers[0] <= 0):
        return None, words[after:]
    return Law(tuple(numbers), name), words[after:]


def _number(word: str) -> float | None:
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
