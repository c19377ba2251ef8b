"""Lines of text with a gutter on the left, which pictures are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from rich.style import Style
from rich.text import Text

_FRAME: Final = Style(dim=True)


class Canvas:
    """A picture that grows downwards; a gutter of `gutter` characters holds the names of its lines."""

    def __init__(self, gutter: int) -> None:
        self._gutter = gutter
        self._lines: list[Text] = []

    def finish(self) -> Text:
        """All lines, without blanks at their ends."""
        for line in self._lines:
            line.rstrip()
        return Text("\n", no_wrap=True, overflow="ignore").join(self._lines)

    def add_note(self, note: str) -> None:
        """A line without a gutter."""
        self._lines.append(Text(note))

    def add_row(self, name: str, cells: Iterable[tuple[str, Style]]) -> None:
        """A line of single characters, each in its style."""
        line = self._begin(name, "│")
        for style, run in groupby(cells, key=lambda cell: cell[1]):
            line.append("".join(character for character, _ in run), style)

    def add_ruler(self, ruler: str) -> None:
        """The lower edge of the rows above."""
        self._begin("", "└").append(ruler, _FRAME)

    def add_labels(self, labels: str) -> None:
        """What stands at the marks of the ruler above."""
        self._begin("", " ").append(labels, _FRAME)

    def add_chart(self, name: str, top: str, lines: Sequence[str], style: Style) -> None:
        """Bars over several lines, from 0 to `top`, which is written beside the first; the name is beside the last."""
        names = [top, *[""] * (len(lines) - 2), name]
        for label, line in zip(names, lines, strict=True):
            self._begin(label, "│").append(line, style)

    def _begin(self, name: str, edge: str) -> Text:
        line = Text().append(f"{name:>{self._gutter - 1}} {edge}", _FRAME)
        self._lines.append(line)
        return line
