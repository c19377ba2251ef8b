"""The display of leases' marks in a terminal: a sign for each kind, in the colour of the lease."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from batsched_py.reporting.pictures.lease_marks import MARK_NAMES, LeaseMark, MarkKind, kinds_of
from batsched_py.reporting.pictures.raster import Cell, Grid, rasterise
from batsched_py.reporting.pictures.terminal.looks import Look, filled, look

#: Kind of a mark -> its sign; others are not shown here.
SIGNS: Final[Mapping[MarkKind, str]] = {
    "suspend": "\N{DOWNWARDS ARROW}", "resume": "\N{UPWARDS ARROW}", "migrate": "\N{RIGHTWARDS ARROW}",
    "transfer": "\N{IDENTICAL TO}", "shutdown": "\N{MULTIPLICATION SIGN}", "lost": "\N{NOT SIGN}",
}  # fmt: skip
#: The part of a cell that a mark must cover to be shown.
_SEEN: Final = 0.2


def marked(
    cells: Sequence[Sequence[Cell]], marks: Sequence[LeaseMark], numbers: Mapping[int, int], grid: Grid
) -> tuple[list[list[Look]], str]:
    """Return the look of each cell, with the sign of a mark that covers a fifth of it, and a legend of these signs.

    The hosts of marks are places; `numbers` are the numbers of leases in pictures.
    """
    looks = [list(map(look, row)) for row in cells]
    signed = [mark for mark in marks if mark.kind in SIGNS and mark.lease in numbers]
    seen = list[LeaseMark]()
    if not signed:
        return looks, ""
    for row, there in enumerate(rasterise(list(enumerate(signed)), grid)):
        for column, cell in enumerate(there):
            if cell.owned >= _SEEN:
                mark = signed[cell.owner]
                seen.append(mark)
                looks[row][column] = SIGNS[mark.kind], filled(numbers[mark.lease])
    return looks, "  ".join(f"{SIGNS[kind]} {MARK_NAMES[kind]}" for kind in kinds_of(seen))
