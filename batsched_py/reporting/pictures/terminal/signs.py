"""Signs over the jobs in a terminal: marks of leases, in the colour of the lease, and crosses for unavailable hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rich.style import Style

from batsched_py.reporting.pictures.lease_marks import MARK_NAMES, LeaseMark, MarkKind, kinds_of
from batsched_py.reporting.pictures.raster import Cell, Grid, rasterise
from batsched_py.reporting.pictures.terminal.looks import Look, filled, look
from batsched_py.reporting.schedules.outages import Outage

#: Kind of a mark -> its sign; others are not shown here.
SIGNS: Final[Mapping[MarkKind, str]] = {
    "suspend": "\N{DOWNWARDS ARROW}", "resume": "\N{UPWARDS ARROW}", "migrate": "\N{RIGHTWARDS ARROW}",
    "transfer": "\N{IDENTICAL TO}", "shutdown": "\N{MULTIPLICATION SIGN}", "lost": "\N{NOT SIGN}",
}  # fmt: skip
#: The part of a cell that a mark must cover to be shown.
_SEEN: Final = 0.2
#: A cell whose hosts were unavailable.
CROSS: Final[Look] = ("\N{BOX DRAWINGS LIGHT DIAGONAL CROSS}", Style(dim=True))
#: The smallest unavailable part of a cell with a cross, and the smallest part without jobs.
_MOST: Final = 0.5


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


def crossed(
    looks: Sequence[Sequence[Look]], cells: Sequence[Sequence[Cell]], outages: Sequence[Outage], grid: Grid
) -> tuple[list[list[Look]], str]:
    """Return the looks, with a cross in cells that are at least half unavailable and without jobs there, and a legend.

    The hosts of outages are places.
    """
    found, seen = [list(row) for row in looks], False
    if not outages:
        return found, ""
    for row, there in enumerate(rasterise(list(enumerate(outages)), grid)):
        for column, cell in enumerate(there):
            if cell.busy >= _MOST and cells[row][column].owned < _MOST:
                found[row][column], seen = CROSS, True
    return found, f"{CROSS[0]} unavailable" if seen else ""
