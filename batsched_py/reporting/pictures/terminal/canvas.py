"""The lines of text of a picture, and bar charts for a quantity over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby
from typing import Final

from rich.style import Style
from rich.text import Text

from batsched_py.reporting.pictures.time_axis import TimeAxis

_FRAME: Final = Style(dim=True)
#: Bars of 0, 1, ... 8 eighths of a character.
EIGHTHS: Final = " ▁▂▃▄▅▆▇█"


class Canvas:
    """A picture that grows downwards, with a gutter of `gutter` characters for the names of its lines."""

    def __init__(self, gutter: int) -> None:
        self._gutter = gutter
        self._lines: list[Text] = []

    def finish(self) -> Text:
        """Return all lines, without trailing blanks."""
        for line in self._lines:
            line.rstrip()
        return Text("\n", no_wrap=True, overflow="ignore").join(self._lines)

    def add_note(self, note: str) -> None:
        """Add a line without a gutter."""
        self._lines.append(Text(note))

    def add_row(self, name: str, cells: Iterable[tuple[str, Style]]) -> None:
        """Add a line of characters, each with its style."""
        line = self._begin(name, "│")
        for style, run in groupby(cells, key=lambda cell: cell[1]):
            line.append("".join(character for character, _ in run), style)

    def add_axis(self, axis: TimeAxis) -> None:
        """Add the time axis as the lower edge of the rows above."""
        self._begin("", "└").append(axis.ruler, _FRAME)
        self._begin("", " ").append(axis.labels, _FRAME)

    def add_chart(self, name: str, top: str, lines: Sequence[str], style: Style) -> None:
        """Add a bar chart of several lines; the first is labelled `top`, the end of the scale, the last `name`."""
        names = [top, *[""] * (len(lines) - 2), name]
        for label, line in zip(names, lines, strict=True):
            self._begin(label, "│").append(line, style)

    def _begin(self, name: str, edge: str) -> Text:
        line = Text().append(f"{name:>{self._gutter - 1}} {edge}", _FRAME)
        self._lines.append(line)
        return line


def column_means(spans: Iterable[tuple[float, float]], columns: int) -> list[float]:
    """Return the mean number of simultaneous spans in each column; spans are (begin, end) in columns from 0.

    The cost does not depend on the length of a span: its whole columns are a step up and a step down.
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
    """Return vertical bars of `lines` characters for values from 0 to `top`, the upper line first.

    Heights are rounded to an eighth of a character; a value above 0 has at least one eighth.
    """
    heights = [_eighths(value / top, 8 * lines) if top > 0 else 0 for value in values]
    return [
        "".join(EIGHTHS[min(max(height - 8 * below, 0), 8)] for height in heights) for below in range(lines - 1, -1, -1)
    ]


def _eighths(part: float, full: int) -> int:
    return min(max(round(part * full), 1), full) if part > 0 else 0
