"""Rows of a table by columns, and the values of their cells: equal texts are parsed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from batsched_py.text.display import displayed, shown

# A table has the same few thousand durations, sizes, users and states in a million rows. A column is converted by
# looking its cells up in a dictionary, which parses the text that it lacks: no object is made for a cell, and the loop
# over the cells is in C. Rows are checked together; only a batch with a wrong cell is halved until the row is found.
# Nearly each instant is another one, but most columns of them are seconds: `whole_numbers` converts these as a whole.

#: Number of digits up to which whole numbers are equal as `int` and as `float`.
_DIGITS: Final = 15
#: Number of different cells of a column whose values are kept.
MOST_CACHED: Final = 65_536


class TableBatch(Struct, frozen=True):
    """Some rows of a table.

    Attributes:
        columns: for each column its cells.
        lines: the number of each row's last line, or of the row if the file has no lines.
    """

    columns: Sequence[Sequence[str]]
    lines: Sequence[int]

    def halves(self) -> tuple[TableBatch, TableBatch]:
        """Return the first half of the rows, and the others."""
        middle = len(self.lines) // 2
        return (
            TableBatch([column[:middle] for column in self.columns], self.lines[:middle]),
            TableBatch([column[middle:] for column in self.columns], self.lines[middle:]),
        )


def whole_numbers(cells: Sequence[str], most: int) -> list[float] | None:
    """Return the numbers of cells that have digits alone, and are at most `most`; None if one is not so."""
    digits = "".join(cells)
    if not (digits.isascii() and digits.isdecimal()) or "" in cells or max(map(len, cells)) > _DIGITS:
        return None
    numbers: list[float] = list(map(int, cells))
    return numbers if max(numbers) <= most else None


class CellValues(dict[str, float | None]):
    """The values of the cells of one column, which are parsed when they are first looked up.

    KeyError never; ValueError names the column, the rule and the text.
    """

    def __init__(self, column: str, parse: Callable[[str], float | None]) -> None:
        super().__init__()
        self._column, self._parse = column, parse

    def __missing__(self, cell: str) -> float | None:
        value = self.parsed(cell)
        if len(self) < MOST_CACHED:
            self[cell] = value
        return value

    def parsed(self, cell: str) -> float | None:
        """Return the value of a cell without keeping it. ValueError."""
        text = cell.strip()
        try:
            return self._parse(text)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"column {displayed(self._column)} {error}, not {shown(text)}") from None
