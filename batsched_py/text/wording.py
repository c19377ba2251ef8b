"""Numbers in words and in digits, for messages, tables and pictures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

#: The text of a metric that has no meaning.
NOTHING: Final = "-"
JOULES_PER_KWH: Final = 3.6e6
#: Characters of a name that are compared with those of known ones.
LONGEST_NAME: Final = 100
#: A blank that does not break.
NARROW_BLANK: Final = "\N{NARROW NO-BREAK SPACE}"
#: Digits that a number in a table has at most, unless it has more before the point.
MOST_DIGITS: Final = 6
#: Digits that a number in a table has at least, without the zeros in front; more than its unit usually has, if need be.
LEAST_DIGITS: Final = 2
#: Smaller numbers are nothing but rounding errors: a microsecond is Batsim's unit.
_NOTHING_BUT_ROUNDING: Final = 1e-6
_NUMBERS: Final = re.compile(r"\d+(?:\.\d+)?")


def counted(count: int, one: str, many: str = "", *, blank: str = "") -> str:
    """Return "1 job", "2 jobs"; with `many` for those that do not end in s: "1 is free", "2 are free".

    If there is a `blank`, it stands between groups of three digits.
    """
    return f"{grouped(count, blank) if blank else count} {one if count == 1 else many or f'{one}s'}"


def kilowatt_hours(joules: float) -> str:
    """Return energy as people read it: "1.250 kWh"."""
    return f"{joules / JOULES_PER_KWH:.3f} kWh"


def grouped(number: float, blank: str = " ") -> str:
    """Return a number as a whole one, in groups of three digits: "28 481"."""
    return f"{number:,.0f}".replace(",", blank)


def seconds(time: float) -> str:
    """Return a time in full, to a microsecond: 29363609, 10.5."""
    return f"{time:.6f}".rstrip("0").rstrip(".")


def decimals(numbers: Iterable[float], usual: int) -> int:
    """Return the number of digits after the point with which a table shows numbers side by side, or in a column.

    The rule of all tables for people: as many as the unit usually has, but the largest of the numbers has at most
    MOST_DIGITS significant digits, so that a makespan of days is not shown to a millisecond; digits before the point
    are never dropped. It has at least LEAST_DIGITS of them, so that a small number is not shown as 0.00. Numbers that
    are compared have the same digits after the point. Files, and the formats csv and json, do not obey this rule: they
    have numbers in full.
    """
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)
    if largest < _NOTHING_BUT_ROUNDING:
        return usual
    before = math.floor(math.log10(largest)) + 1  # of the point; negative for zeros behind it
    return max(0, min(max(usual, LEAST_DIGITS - before), MOST_DIGITS - before))


def aligned(numbers: Sequence[float | None], usual: int) -> list[str]:
    """Return the texts of numbers that a table shows side by side, by the rule of `decimals`; "-" for None."""
    digits = decimals((number for number in numbers if number is not None), usual)
    return [NOTHING if number is None else f"{number:z.{digits}f}" for number in numbers]


def spelled(value: object) -> str:
    """Spell a value as after -o: true, none, 0.5."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def unlike(lines: Iterable[str]) -> list[str]:
    """Return lines that differ by more than their numbers, in their order; the first of others, and how many more."""
    kinds: dict[str, dict[str, None]] = {}
    for line in lines:
        kinds.setdefault(_NUMBERS.sub("0", line), {})[line] = None
    more = {next(iter(kind)): len(kind) - 1 for kind in kinds.values()}
    return [
        f"{line} (and {counted(count, 'line')} with other numbers)" if count else line for line, count in more.items()
    ]


def unknown(name: str, known: Iterable[str]) -> str:
    """Return the end of an error about a name that is not known: "unknown; there are: easy, fcfs"."""
    names = list(known)
    suggestion, listed = did_you_mean(name, names), ", ".join(names)
    return f"unknown; {suggestion} There are: {listed}" if suggestion else f"unknown; there are: {listed}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the question for a name that is like a known one, "did you mean easy?"; "" if none is like it."""
    near = get_close_matches(name[:LONGEST_NAME].casefold(), list(known), n=1)
    return f"did you mean {near[0]}?" if near else ""
