"""A quantity over time, as one mean for each column of a picture, and as bars of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

#: Bars that fill 0, 1, ... 8 eighths of a character.
EIGHTHS: Final = " ▁▂▃▄▅▆▇█"


def column_means(spans: Iterable[tuple[float, float]], columns: int) -> list[float]:
    """How many spans there are at a time, as the mean over each column; spans are (begin, end) in columns from 0.

    Costs the same for a long span as for a short one: its whole columns are a step up and a step down.
    """
    parts, steps = [0.0] * (columns + 1), [0] * (columns + 1)
    for begin, end in spans:
        first, last = int(begin), int(end)
        if first == last:
            parts[first] += end - begin
        else:
            parts[first] += first + 1 - begin
            parts[last] += end - last
            steps[first + 1] += 1
            steps[last] -= 1
    return [part + whole for part, whole in zip(parts, accumulate(steps), strict=True)][:columns]


def vertical_bars(values: Sequence[float], top: float, lines: int) -> list[str]:
    """Vertical bars of `lines` characters for the values from 0 to `top`, the upper line first.

    Rounded to the nearest eighth of a character, but what is more than 0 is never drawn as nothing.
    """
    heights = [_eighths(value / top, 8 * lines) if top > 0 else 0 for value in values]
    return [
        "".join(EIGHTHS[min(max(height - 8 * below, 0), 8)] for height in heights) for below in range(lines - 1, -1, -1)
    ]


def _eighths(part: float, full: int) -> int:
    return min(max(round(part * full), 1), full) if part > 0 else 0
