"""Formatting of numbers, counts and names, for messages, tables and pictures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from batsched_py.text.display import displayed

#: The text for an undefined metric.
NOTHING: Final = "-"
JOULES_PER_KWH: Final = 3.6e6
#: The largest number of characters of a name that are compared with known ones.
LONGEST_NAME: Final = 100
#: The largest numbers of known names that are listed in a message, and compared with an unknown one: a file may have
#: thousands, and a hundred faults. A comparison takes 70 us.
_MOST_LISTED: Final = 100
_MOST_COMPARED: Final = 200
#: A blank that does not break.
NARROW_BLANK: Final = "\N{NARROW NO-BREAK SPACE}"
#: The largest number of significant digits of a number in a table, unless it has more before the decimal point.
MOST_DIGITS: Final = 6
#: The smallest number of significant digits of a number in a table, even if its unit usually has fewer.
LEAST_DIGITS: Final = 2
#: Smaller numbers are rounding errors: Batsim's resolution is a microsecond.
_NOTHING_BUT_ROUNDING: Final = 1e-6
_NUMBERS: Final = re.compile(r"\d+(?:\.\d+)?")


def counted(count: int, one: str, many: str = "", *, blank: str = "") -> str:
    """Return a count with its noun: "1 job", "2 jobs"; `many` is an irregular plural: "1 is free", "2 are free".

    `blank` separates groups of three digits; by default they are not grouped.
    """
    return f"{grouped(count, blank) if blank else count} {one if count == 1 else many or f'{one}s'}"


def extent(size: int, *, tasks: bool) -> str:
    """Return the size of a job as text: in tasks if they share hosts, otherwise in hosts."""
    return counted(size, "task" if tasks else "host")


def kilowatt_hours(joules: float) -> str:
    """Return an energy, given in joules, as text: "1.250 kWh"."""
    return f"{joules / JOULES_PER_KWH:.3f} kWh"


def grouped(number: float, blank: str = " ") -> str:
    """Return a number rounded to an integer, in groups of three digits: "28 481"."""
    return f"{number:,.0f}".replace(",", blank)


def seconds(time: float) -> str:
    """Return a time in seconds with full precision, to a microsecond: 29363609, 10.5."""
    return f"{time:.6f}".rstrip("0").rstrip(".")


def decimals(numbers: Iterable[float], usual: int) -> int:
    """Return the number of decimals with which a table shows numbers side by side or in a column.

    The rule of all tables for people: `usual` decimals, but at most MOST_DIGITS significant digits for the largest
    number (a makespan of days is not shown to the millisecond) and at least LEAST_DIGITS (a small number is not shown
    as 0.00). Digits before the decimal point are never dropped. Compared numbers have the same number of decimals.
    Files, and the formats csv and json, have numbers with full precision instead.
    """
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)
    if largest < _NOTHING_BUT_ROUNDING:
        return usual
    before = math.floor(math.log10(largest)) + 1  # digits before the point; negative for leading zeros after it
    return max(0, min(max(usual, LEAST_DIGITS - before), MOST_DIGITS - before))


def aligned(numbers: Sequence[float | None], usual: int) -> list[str]:
    """Return the texts of numbers side by side in a table, by the rule of `decimals`; "-" for None."""
    digits = decimals((number for number in numbers if number is not None), usual)
    return [NOTHING if number is None else f"{number:z.{digits}f}" for number in numbers]


def spelled(value: object) -> str:
    """Return a value as written after -o: true, none, 0.5."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def unlike(lines: Iterable[str]) -> list[str]:
    """Return lines in order; of lines that differ only by numbers, the first one and the number of the others."""
    kinds: dict[str, dict[str, None]] = {}
    for line in lines:
        kinds.setdefault(_NUMBERS.sub("0", line), {})[line] = None
    more = {next(iter(kind)): len(kind) - 1 for kind in kinds.values()}
    return [
        f"{line} (and {counted(count, 'line')} with other numbers)" if count else line for line, count in more.items()
    ]


def unknown(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message about an unknown name: "unknown; there are: easy, fcfs"."""
    names = list(known)
    suggestion, listed = did_you_mean(name, names), ", ".join(map(displayed, names[:_MOST_LISTED]))
    if len(names) > _MOST_LISTED:
        listed += f" and {counted(len(names) - _MOST_LISTED, 'other')}"
    return f"unknown; {suggestion} There are: {listed}" if suggestion else f"unknown; there are: {listed}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question for a name similar to a known one, "did you mean easy?"; "" if none is similar."""
    from difflib import get_close_matches  # noqa: PLC0415  # takes long to import, and is needed only for errors

    near = get_close_matches(name[:LONGEST_NAME].casefold(), list(islice(known, _MOST_COMPARED)), n=1)
    return f"did you mean {displayed(near[0])}?" if near else ""
