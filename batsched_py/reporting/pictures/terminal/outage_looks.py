"""The look of unavailable hosts in a terminal: a cross where no job is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.style import Style

from batsched_py.reporting.pictures.raster import Cell, Grid, rasterise
from batsched_py.reporting.pictures.terminal.looks import Look
from batsched_py.reporting.schedules.outages import Outage

#: A cell whose hosts were unavailable.
CROSS: Final[Look] = ("\N{BOX DRAWINGS LIGHT DIAGONAL CROSS}", Style(dim=True))
#: Part of a cell that must be unavailable to be crossed, and that no job may have.
_MOST: Final = 0.5


def crossed(
    looks: Sequence[Sequence[Look]], cells: Sequence[Sequence[Cell]], outages: Sequence[Outage], grid: Grid
) -> tuple[list[list[Look]], str]:
    """Return the looks with a cross where half of a cell is unavailable and no job has the other, and what it means.

    The outages are in places.
    """
    found, seen = [list(row) for row in looks], False
    if not outages:
        return found, ""
    for row, there in enumerate(rasterise(list(enumerate(outages)), grid)):
        for column, cell in enumerate(there):
            if cell.busy >= _MOST and cells[row][column].owned < _MOST:
                found[row][column], seen = CROSS, True
    return found, f"{CROSS[0]} unavailable" if seen else ""
