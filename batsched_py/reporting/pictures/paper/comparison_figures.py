"""Figures of comparisons: ratios with intervals, values over workloads, means over the values of an option."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate, cycle, pairwise
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from msgspec import Struct

from batsched_py.reporting.pictures.colouring import LINES
from batsched_py.reporting.pictures.paper.style import COLUMN, new_figure

#: Heights in inches: a row of a forest or box plot; the rest of its panel; a panel of curves.
_ROW: Final = 0.17
_AROUND: Final = 0.45
_CURVES: Final = 1.5
#: The smallest width of a panel in inches.
_NARROWEST: Final = 1.9
#: The ratio of extreme values above which the axis is logarithmic.
_WIDE: Final = 4.0
#: The ratio of extreme values from which only powers of ten have ticks.
_DECADES: Final = 30.0
#: The largest number of values of an axis with bars, and the share of the distance of two values that bars take.
_MOST_BARS: Final = 8
_BARS: Final = 0.3
#: The smallest distance of two values that both have a tick, as a share of the axis.
_TICK: Final = 0.09
#: The distance of the bars of levels, as a share of the axis.
_LEVEL_BAR: Final = 0.018
_GREY: Final = "#8a929b"


class ValueInterval(Struct, frozen=True):
    """A value and the ends of its interval; None if it has none."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Return the ends of the interval; the value for an end that is missing."""
        return (self.value if self.low is None else self.low, self.value if self.high is None else self.high)


class PlotRow(Struct, frozen=True):
    """An algorithm in a forest plot or a plot of boxes.

    Attributes:
        name: its label.
        ratio: the ratio to the baseline; None for the baseline itself, or if undefined.
        values: the value on each workload, in the unit of the panel.
    """

    name: str
    ratio: ValueInterval | None = None
    values: tuple[float, ...] = ()


class Curve(Struct, frozen=True):
    """The means of an algorithm for ascending values of an option, or one level for an algorithm without the option."""

    name: str
    points: tuple[tuple[float, ValueInterval], ...] = ()
    level: ValueInterval | None = None


class Panel(Struct, frozen=True):
    """The content of a panel, which shows one metric.

    Attributes:
        heading: the metric with its unit.
        more_is_better: True if larger values are better.
        rows: the rows of a forest or box plot, from top to bottom.
        curves: the curves of a panel of curves.
    """

    heading: str
    more_is_better: bool
    rows: tuple[PlotRow, ...] = ()
    curves: tuple[Curve, ...] = ()


def forest_figure(
    panels: Sequence[Panel], baseline: str, *, width: float = COLUMN, height: float | None = None, title: str = ""
) -> Figure:
    """Draw ratios to the baseline with their intervals, a panel for each metric, within `style()`.

    A dashed line marks 1, the ratio of an algorithm as good as the baseline; an arrow shows the better side. The axis
    is logarithmic if the ratios differ much.
    """

    def draw(axes: Axes, panel: Panel) -> None:
        rows = [row for row in panel.rows if row.ratio is not None]
        for place, row in enumerate(rows):
            if row.ratio is not None:
                low, high = row.ratio.ends
                axes.plot([low, high], [place, place], color=LINES[0], linewidth=1.2, solid_capstyle="butt")
                axes.plot([row.ratio.value], [place], "o", color=LINES[0], markersize=3.2)
        axes.axvline(1, color=_GREY, linewidth=0.7, linestyle=(0, (3, 2)), zorder=0)
        _name_rows(axes, [row.name for row in rows])
        _scale_ratios(axes, [row.ratio for row in rows if row.ratio is not None])
        better = "more is better \N{RIGHTWARDS ARROW}" if panel.more_is_better else "\N{LEFTWARDS ARROW} less is better"
        axes.set_xlabel(f"ratio to {baseline}   {better}")

    most = max((sum(row.ratio is not None for row in panel.rows) for panel in panels), default=1)
    return _figure(panels, draw, _AROUND + 0.15 + _ROW * max(most, 2), width=width, height=height, title=title)


def boxes_figure(
    panels: Sequence[Panel], *, width: float = COLUMN, height: float | None = None, title: str = ""
) -> Figure:
    """Draw the values on all workloads as box plots, a panel for each metric, within `style()`.

    A box spans the first to the third quartile, with a line at the median; whiskers extend to the last value within 1.5
    times its length, and values beyond are points.
    """

    def draw(axes: Axes, panel: Panel) -> None:
        axes.boxplot(
            [list(row.values) for row in panel.rows],
            orientation="horizontal",
            positions=range(len(panel.rows)),
            widths=0.6,
            boxprops={"linewidth": 0.7, "color": LINES[0]},
            whiskerprops={"linewidth": 0.7, "color": LINES[0]},
            capprops={"linewidth": 0.7, "color": LINES[0]},
            medianprops={"linewidth": 1.2, "color": LINES[1]},
            flierprops={"marker": ".", "markersize": 2.5, "markerfacecolor": LINES[0], "markeredgecolor": "none"},
        )
        _name_rows(axes, [row.name for row in panel.rows])
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.set_xlabel("more is better" if panel.more_is_better else "less is better")

    most = max((len(panel.rows) for panel in panels), default=1)
    return _figure(panels, draw, _AROUND + 0.15 + _ROW * 1.3 * max(most, 2), width=width, height=height, title=title)


def curves_figure(
    panels: Sequence[Panel], option: str, *, width: float = COLUMN, height: float | None = None, title: str = ""
) -> Figure:
    """Draw means over the values of an option, with their intervals, a panel for each metric.

    A single curve has a band for its intervals, as have curves of many values. The intervals of several curves with few
    values are bars, which are shifted sideways so that none hides another. Algorithms without the option are horizontal
    lines; the intervals of several are bars at the right edge. Within `style()`.
    """

    def draw(axes: Axes, panel: Panel) -> None:
        shifts, levels = _shifts(panel.curves), _level_places(panel.curves)
        for curve, colour, shift, level in zip(panel.curves, cycle(LINES), shifts, levels, strict=False):
            if curve.level is None:
                _draw_curve(axes, curve, colour, shift)
            else:
                _draw_level(axes, curve.name, curve.level, colour, level)
        axes.set_xlabel(option)
        axes.set_ylabel("more is better" if panel.more_is_better else "less is better")
        axes.yaxis.set_major_locator(MaxNLocator(5))
        places = sorted({place for curve in panel.curves for place, _ in curve.points})
        if places and min(places) > 0 and max(places) >= 100 * min(places):
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        elif 1 < len(places) <= _MOST_BARS and _nearest(places) >= _TICK * (places[-1] - places[0]):
            axes.set_xticks(places, [f"{place:g}" for place in places])

    figure = _figure(panels, draw, _CURVES, width=width, height=height, title=title)
    lines = (
        [line for line in figure.axes[0].get_lines() if not str(line.get_label()).startswith("_")]
        if figure.axes
        else []
    )
    if len(lines) > 1:
        figure.legend(handles=lines, loc="outside lower center", ncols=max(int(width / 1.2), 1))
    return figure


def _shifts(curves: Sequence[Curve]) -> list[float | None]:
    """Return how far the bars of each curve are shifted, in the unit of the axis; None for a band instead of bars."""
    places = sorted({place for curve in curves for place, _ in curve.points})
    drawn = [bool(curve.points) for curve in curves]
    if sum(drawn) < 2 or not 1 < len(places) <= _MOST_BARS:
        return [None] * len(curves)
    room = _nearest(places) * _BARS
    step = room / sum(drawn)
    numbers = accumulate(drawn, initial=0)
    return [(number - (sum(drawn) - 1) / 2) * step for number, _ in zip(numbers, curves, strict=False)]


def _nearest(places: Sequence[float]) -> float:
    """Return the smallest distance of neighbours among ascending places, of which there are at least two."""
    return min(after - before for before, after in pairwise(places))


def _level_places(curves: Sequence[Curve]) -> list[float | None]:
    """Return where the bar of each level is, as a share of the axis; None for a band, which a single level has."""
    levels = [curve.level is not None for curve in curves]
    if sum(levels) < 2:
        return [None] * len(curves)
    return [1 + _LEVEL_BAR * number for number in accumulate(levels)]


def _draw_level(axes: Axes, name: str, level: ValueInterval, colour: str, place: float | None) -> None:
    """Draw a mean that does not depend on the axis, with its interval as a band, or as a bar right of the axes."""
    axes.axhline(level.value, color=colour, linewidth=0.9, linestyle="--", label=name)
    low, high = level.ends
    if place is None:
        axes.axhspan(low, high, color=colour, alpha=0.12, linewidth=0)
        return
    for end in (low, high):
        axes.axhline(end, linestyle="none")  # the axis shows the whole bar
    axes.plot([place, place], [low, high], color=colour, linewidth=1.2, transform=axes.get_yaxis_transform(),
              clip_on=False, solid_capstyle="butt")  # fmt: skip


def _draw_curve(axes: Axes, curve: Curve, colour: str, shift: float | None) -> None:
    places = [place + (shift or 0.0) for place, _ in curve.points]
    means = [interval.value for _, interval in curve.points]
    lows, highs = ([interval.ends[side] for _, interval in curve.points] for side in (0, 1))
    axes.plot(places, means, "o-", color=colour, markersize=2.5, linewidth=0.9, label=curve.name)
    if shift is None:
        axes.fill_between(places, lows, highs, color=colour, alpha=0.2, linewidth=0)
    else:
        axes.vlines(places, lows, highs, color=colour, linewidth=0.9)


def _figure(
    panels: Sequence[Panel],
    draw: Callable[[Axes, Panel], None],
    tall: float,
    *,
    width: float,
    height: float | None,
    title: str,
) -> Figure:
    """Return a figure with a panel for each metric, side by side if the width allows; `tall` is a panel's height."""
    columns = min(max(int(width / _NARROWEST), 1), max(len(panels), 1))
    rows = math.ceil(len(panels) / columns) or 1
    columns = math.ceil(len(panels) / rows) or 1  # fills the last row as far as possible
    figure = new_figure(width, height or tall * rows + (0.2 if title else 0.0) + 0.1, title)
    for place, panel in enumerate(panels, 1):
        axes = figure.add_subplot(rows, columns, place)
        axes.set_title(panel.heading, loc="left")
        draw(axes, panel)
    return figure


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Label the rows with their names, the first at the top."""
    axes.set_yticks(range(len(names)), list(names))
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def _scale_ratios(axes: Axes, ratios: Sequence[ValueInterval]) -> None:
    """Scale the axis to show 1 and all intervals, logarithmically if they are far apart."""
    ends = [1.0, *(end for ratio in ratios for end in (*ratio.ends, ratio.value))]
    low, high = min(ends), max(ends)
    if low > 0 and high / low > _WIDE:
        axes.set_xscale("log")
        steps = (1, 2, 5) if high / low < _DECADES else (1,)
        axes.xaxis.set_major_locator(LogLocator(10, subs=steps, numticks=6))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlim(low / 1.15, high * 1.15)
    else:
        room = max(high - low, 0.02) * 0.08
        axes.set_xlim(low - room, high + room)
        axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
