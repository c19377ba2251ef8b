"""Heat maps of means over two varied parameters: a panel for each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from msgspec import Struct

from batsched_py.reporting.pictures.paper.style import COLUMN, new_figure

#: Inches: the height of a row of cells, the height of the rest of a panel, the smallest width of a panel.
_ROW: Final = 0.24
_AROUND: Final = 0.6
_NARROWEST: Final = 3.0
#: The largest number of cells in a row that have room for their values.
_MOST_LABELS: Final = 8
#: The size of the values in cells in points, the width of a digit as a share of it, and the smallest share of a panel's
#: width that is for its cells.
_LABEL: Final = 5.5
_CHARACTER: Final = 0.66
_CELLS: Final = 0.55
#: A colour map that is readable in greyscale and for colour-blind readers.
_COLOURS: Final = "cividis"


class HeatPanel(Struct, frozen=True):
    """The content of a panel, which shows one metric.

    Attributes:
        heading: the metric with its unit.
        more_is_better: True if larger values are better.
        digits: the number of decimals in cells.
        cells: (x, y) -> mean.
    """

    heading: str
    more_is_better: bool
    digits: int
    cells: Mapping[tuple[Any, Any], float]


def heat_figure(
    panels: Sequence[HeatPanel], x: str, y: str, *, width: float = COLUMN, height: float | None = None, title: str = ""
) -> Figure:
    """Draw means as colours, with their values if there is room; a cell without a mean stays white.

    Numbers on an axis ascend; within `style()`.
    """
    columns = min(max(int(width / _NARROWEST), 1), len(panels))
    rows = math.ceil(len(panels) / columns)
    most = max((len(_axis(panel, 1)) for panel in panels), default=1)
    tall = _AROUND + _ROW * max(most, 3)
    figure = new_figure(width, height or tall * rows + (0.2 if title else 0.0), title)
    for place, panel in enumerate(panels, 1):
        axes = figure.add_subplot(rows, columns, place)
        axes.set_title(panel.heading, loc="left")
        _draw(figure, axes, panel, columns)
        axes.set(xlabel=x, ylabel=y)
    return figure


def _axis(panel: HeatPanel, side: int) -> list[Any]:
    """Return the values along x (0) or y (1): ascending numbers, then texts in the given order."""
    values = dict.fromkeys(key[side] for key in panel.cells)
    return sorted(values, key=lambda value: (not isinstance(value, (int, float)), _order(value)))


def _order(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _draw(figure: Figure, axes: Axes, panel: HeatPanel, columns: int) -> None:
    """Draw a panel of a figure that has so many side by side."""
    across, up = _axis(panel, 0), _axis(panel, 1)
    rows = [[panel.cells.get((x, y), math.nan) for x in across] for y in up]
    image = axes.imshow(rows, cmap=_COLOURS, aspect="auto", origin="lower")
    figure.colorbar(image, ax=axes, label="more is better" if panel.more_is_better else "less is better")
    axes.set_xticks(range(len(across)), list(map(_label, across)))
    axes.set_yticks(range(len(up)), list(map(_label, up)))
    texts = [f"{value:.{panel.digits}f}" for value in panel.cells.values()]
    cell = _CELLS * 72 * (figure.get_figwidth() / columns) / len(across)
    if len(across) > _MOST_LABELS or max(map(len, texts)) * _CHARACTER * _LABEL > cell:
        return
    low, high = min(panel.cells.values()), max(panel.cells.values())
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            if not math.isnan(value):
                dark = value < (low + high) / 2
                text = f"{value:.{panel.digits}f}"
                axes.text(column, row, text, ha="center", va="center", fontsize=_LABEL, color="w" if dark else "k")


def _label(value: object) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
