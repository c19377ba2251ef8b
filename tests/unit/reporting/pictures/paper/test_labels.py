"""Texts of figures: none lies over another, and none is cut off at the edge of the figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

import pytest
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from batsched_py.reporting.api import Schedule
from batsched_py.reporting.pictures.paper.comparison_figures import (
    Curve,
    Panel,
    PlotRow,
    ValueInterval,
    boxes_figure,
    curves_figure,
    forest_figure,
)
from batsched_py.reporting.pictures.paper.curves import PLOTS
from batsched_py.reporting.pictures.paper.curves import curves_figure as plot_figure
from batsched_py.reporting.pictures.paper.gantt_figure import gantt_figure
from batsched_py.reporting.pictures.paper.heat_map import HeatPanel, heat_figure
from batsched_py.reporting.pictures.paper.style import COLUMN, style
from batsched_py.reporting.pictures.window import window_on
from tests.unit.reporting.records import record

#: Pixels by which the boxes of two texts may lie over each other: boxes are higher than most letters.
_TOUCH: Final = 1.0
NAMES: Final = ("fcfs", "conservative", "easy with a long name", "sjf")
HEADINGS: Final = ("mean wait [s]", "90th percentile wait [s]", "utilisation [%]", "mean bounded slowdown")


def drawn_texts(figure: Figure) -> Iterator[tuple[str, Bbox]]:
    """Yield the texts that a figure shows, with their boxes in pixels."""
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    hidden = {label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for label in _outside(axis)}
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and text not in hidden:
            yield text.get_text(), text.get_window_extent()


def _outside(axis: Axis) -> Iterator[Text]:
    """Yield the labels of ticks beyond the limits of an axis, which are not drawn."""
    low, high = sorted(axis.get_view_interval())
    span = (high - low) * 1e-6
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if not low - span <= tick.get_loc() <= high + span:
            yield from (tick.label1, tick.label2)


def faults(figure: Figure) -> list[str]:
    """Return a line for each pair of texts that lie over each other, and each text beyond the edge."""
    found, texts = [], list(drawn_texts(figure))
    for (one, box), (other, place) in combinations(texts, 2):
        over = Bbox.intersection(box, place)
        if over is not None and over.width > _TOUCH and over.height > _TOUCH:
            found.append(f"{one!r} over {other!r}")
    whole = figure.bbox.padded(_TOUCH)
    return found + [f"{one!r} beyond the edge" for one, box in texts if not _inside(whole, box)]


def _inside(whole: Bbox, box: Bbox) -> bool:
    return bool(whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1)


def schedules(count: int) -> list[Schedule]:
    """Return runs in which jobs wait longer and longer."""
    return [
        Schedule(
            name,
            tuple(record(str(job), submit=job * 500, start=job * step, finish=job * step + 550) for job in range(30)),
            hosts=4,
            batsim_row={},
        )
        for name, step in zip(NAMES[:count], (600, 1200, 1800, 2400), strict=False)
    ]


def panels() -> list[Panel]:
    """Return panels with rows, of values from small to large."""
    return [
        Panel(
            heading,
            more_is_better=not number % 2,
            rows=tuple(
                PlotRow(
                    name, ValueInterval(10.0 ** (place - 2), 10.0 ** (place - 2.3), 10.0 ** (place - 1.8)), (1.0, 2e5)
                )
                for place, name in enumerate(NAMES)
            ),
        )
        for number, heading in enumerate(HEADINGS)
    ]


def curves(places: tuple[float, ...]) -> list[Panel]:
    """Return panels with curves over these values, and levels."""
    points = tuple((place, ValueInterval(1e5 * place, 9e4 * place, 2e5 * place)) for place in places)
    level = ValueInterval(150000.0, 100000.0, 200000.0)
    lines = (
        Curve(NAMES[0], points),
        Curve(NAMES[1], points),
        Curve(NAMES[2], level=level),
        Curve(NAMES[3], level=level),
    )
    return [Panel(heading, more_is_better=False, curves=lines) for heading in HEADINGS]


def heat() -> list[HeatPanel]:
    """Return panels of eight by five values."""
    cells = {(x * 10, f"name {y}"): 12345.6 * (x + 1) * (y + 1) for x in range(8) for y in range(5)}
    return [HeatPanel(heading, more_is_better=False, digits=0, cells=cells) for heading in HEADINGS[:2]]


def plot(kind: str, count: int, width: float) -> Figure:
    """Draw curves of several runs."""
    runs = schedules(count)
    return plot_figure(kind, runs, window_on(runs, None, None, None), width=width, title="A title")


def gantt(width: float) -> Figure:
    """Draw two runs with panels below them."""
    runs = schedules(2)
    return gantt_figure(runs, window_on(runs, None, None, None), panels=("utilisation", "queue"), width=width)


FIGURES: Final[dict[str, Callable[[float], Figure]]] = {
    "forest": lambda width: forest_figure(panels(), "fcfs", width=width, title="A title"),
    "boxes": lambda width: boxes_figure(panels(), width=width),
    "curves": lambda width: curves_figure(curves((0.6, 0.9, 1.2)), "load", width=width),
    "near curves": lambda width: curves_figure(curves((1.0, 2.0, 64.0)), "depth", width=width),
    "wide curves": lambda width: curves_figure(curves((1.0, 10.0, 10000.0)), "depth", width=width),
    "heat": lambda width: heat_figure(heat(), "depth", "order", width=width),
    "gantt": gantt,
    **{f"{kind} of {count}": lambda width, kind=kind, count=count: plot(kind, count, width)  # type: ignore[misc]
       for kind in PLOTS for count in (1, 4)},
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("width", [COLUMN, 7.0])
def test_no_text_of_a_figure_hides_another(name: str, width: float) -> None:
    """In a column of a paper, and over its whole width."""
    with style():
        assert faults(FIGURES[name](width)) == []


def test_texts_over_each_other_are_found() -> None:
    """The check itself: two texts at one place, and one beyond the edge."""
    with style():
        figure = Figure(figsize=(2, 2))
        figure.text(0.5, 0.5, "one")
        figure.text(0.52, 0.5, "other")
        figure.text(0.99, 0.1, "cut off")
        assert faults(figure) == ["'one' over 'other'", "'cut off' beyond the edge"]


def test_lines_over_time_of_many_runs_have_a_panel_each() -> None:
    """On one scale, with the name of the run above; two runs share one."""
    with style():
        figure = plot("queue", 4, COLUMN)
        assert [axes.get_title(loc="left") for axes in figure.axes] == list(NAMES)
        assert len({axes.get_ylim() for axes in figure.axes}) == 1
        assert len({axes.get_lines()[0].get_color() for axes in figure.axes}) == 4
        assert len(plot("queue", 2, COLUMN).axes) == 1
        assert len(plot("waits", 4, COLUMN).axes) == 1
