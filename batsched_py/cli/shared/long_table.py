"""Long tables in the style of rich, which itself needs several tenths of a millisecond for each cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from rich import box
from rich.cells import cell_len
from rich.table import Column, Table

from batsched_py.text.display import escaped

#: Number of rows from which a table is long.
LONG: Final = 500
#: Separator of two columns: their padding, and rich's divider.
_BETWEEN: Final = "   "
_RULE: Final = "\u2500"
_PADDING: Final = (0, 1, 0, 1)


class LongTable:
    """A table of many plain rows: one line for each, without folding.

    Args:
        table: for which `is_long` is true.
    """

    def __init__(self, table: Table) -> None:
        self._right = [column.justify == "right" for column in table.columns]
        self._columns = [
            [escaped(str(cell)) for cell in chain([column.header], column.cells)] for column in table.columns
        ]
        self._widths = [max(map(cell_len, cells)) for cells in self._columns]
        #: Length of each line.
        self.width = sum(self._widths) + len(_BETWEEN) * (len(self._widths) - 1) + 2

    def lines(self) -> Iterator[str]:
        """Yield the lines, in the box SIMPLE: blank ones around, and a rule below the headings."""
        yield " " * self.width
        padded = [
            list(_padded(cells, width, right=right))
            for cells, width, right in zip(self._columns, self._widths, self._right, strict=True)
        ]
        for number, cells in enumerate(zip(*padded, strict=True)):
            yield f" {_BETWEEN.join(cells)} "
            if not number:
                yield f" {_RULE * (self.width - 2)} "
        yield " " * self.width


def is_long(table: Table) -> bool:
    """Return whether a table is long, and uses no features that only rich can draw."""
    plain = table.box is box.SIMPLE and table.show_edge and not table.pad_edge and table.padding == _PADDING
    bare = not (table.title or table.caption or table.show_footer or table.row_styles or table.expand or table.width)
    rows = table.row_count >= LONG and not any(row.end_section or row.style for row in table.rows)
    return rows and plain and bare and all(map(_is_plain, table.columns))


def _is_plain(column: Column) -> bool:
    if column.justify not in ("left", "right") or column.style or column.width or column.min_width or column.max_width:
        return False
    return isinstance(column.header, str) and all(isinstance(cell, str) and "\n" not in cell for cell in column.cells)


def _padded(cells: Iterable[str], width: int, *, right: bool) -> Iterator[str]:
    for cell in cells:
        blanks = " " * (width - cell_len(cell))
        yield blanks + cell if right else cell + blanks
