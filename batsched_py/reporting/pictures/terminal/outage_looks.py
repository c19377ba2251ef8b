"""The display of unavailable hosts in a terminal: a cross in cells without jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.style import Style

from batsched_py.reporting.pictures.raster import Cell, Grid, rasterise
from batsched_py.reporting.pictures.terminal.looks import Look
from batsched_py.reporting.schedules.outages import Outage

#: A cell whose hosts were unavailable.
CROSS: Final[Look] = ("\N{BOX DRAWINGS LIGHT DIAGONAL CROSS}", Style(dim=True))
#: The smallest unavailable part of a cell with a cross, and the smallest part without jobs.
_MOST: Final = 0.5


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
