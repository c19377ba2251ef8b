"""The time axis below a picture: ticks at round times, in a suitable unit."""

from __future__ import annotations

import math
from typing import Final

from msgspec import Struct

from batsched_py.reporting.formatting import DAY, HOUR, MINUTE

#: The smallest distance of ticks in columns.
SPACING: Final = 10

#: Round steps between ticks, from a second to a day, in seconds.
_STEPS: Final = (
    1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
    HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY,
)  # fmt: skip
#: A unit, its name, and the format of the rest in the next smaller unit after it ("1 h 30", "1 d 06 h").
_UNITS: Final = ((DAY, "d", "{:02.0f} h"), (HOUR, "h", "{:02.0f}"), (MINUTE, "min", "{:02.0f}"), (1, "s", ""))


class TimeAxis(Struct, frozen=True):
    """Two lines of text of the picture's width: the ruler, and the times below its marks."""

    ruler: str
    labels: str


def time_axis(end: float, columns: int, begin: float = 0.0) -> TimeAxis:
    """Return the axis from `begin` to `end` seconds; each mark is in the column of its time."""
    span = end - begin
    step = tick_step(span * SPACING / columns)
    ruler, labels = ["─"] * columns, [" "] * columns
    free = 0
    for time in ticks(begin, end, step) if span > 0 else [begin]:
        column = int((time - begin) / span * columns) if span > 0 else 0
        label = tick_label(time, step)
        ruler[column] = "┬"
        first = max(column - len(label) // 2, 0)
        if free <= first <= columns - len(label):
            labels[first : first + len(label)] = label
            free = first + len(label) + 1
    return TimeAxis("".join(ruler), "".join(labels))


def ticks(begin: float, end: float, step: float) -> list[float]:
    """Return the multiples of the step in the half-open interval [begin, end)."""
    return [number * step for number in range(math.ceil(begin / step), math.ceil(end / step))]


def tick_step(least: float) -> float:
    """Return the smallest round step in seconds that is at least `least`."""
    if least <= 0:
        return 1.0
    if least <= _STEPS[0]:
        return _decimal_step(least)
    for step in _STEPS:
        if step >= least:
            return step
    return DAY * _decimal_step(least / DAY)


def tick_label(time: float, step: float) -> str:
    """Format a multiple of a step, down to the step's unit: "30 min", "1 h 30", "3 h", "1 d 06 h", "0.2 s"."""
    smallest = next((number for number, (unit, _, _) in enumerate(_UNITS) if step >= unit), len(_UNITS) - 1)
    largest = smallest - 1 if smallest and time >= _UNITS[smallest - 1][0] else smallest
    unit, name, rest = _UNITS[largest]
    if largest == smallest:
        return f"{time / unit:.10g} {name}" if time else "0"
    whole, part = divmod(time, unit)
    return f"{whole:.0f} {name}" + (" " + rest.format(part / _UNITS[smallest][0]) if part else "")


def _decimal_step(least: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is at least `least`, up to rounding."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-12))
