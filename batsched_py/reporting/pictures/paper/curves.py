"""Curves that compare runs: distributions of waits and slowdowns, utilisation and queue over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from operator import attrgetter
from typing import Final, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batsched_py.reporting.formatting import DAY, HOUR, MINUTE
from batsched_py.reporting.metrics.job_metrics import JobMetrics, measure_jobs
from batsched_py.reporting.metrics.over_time import queue_length, utilisation
from batsched_py.reporting.metrics.steps import Steps, scaled
from batsched_py.reporting.pictures.colouring import LINES
from batsched_py.reporting.pictures.paper.panels import line_of
from batsched_py.reporting.pictures.paper.style import COLUMN, new_figure, time_ticks
from batsched_py.reporting.pictures.window import Window
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.text.wording import grouped

#: Inches: the default height of a figure.
_HEIGHT: Final = 2.2
#: Inches: a panel of one schedule, and the time axis below all.
_PANEL: Final = 0.75
_FOOT: Final = 0.35
#: The largest number of schedules whose lines over time are in one panel.
MOST_OVERLAID: Final = 2
#: The plots over time.
_OVER_TIME: Final = ("utilisation", "queue")
#: The largest number of points of a distribution; more are not visible.
MOST_POINTS: Final = 1000
#: The number of intervals over which a line with too many steps is averaged: few, to keep several lines distinct.
_PARTS: Final = 150
#: Dash patterns of lines, which differ also in black and white.
_DASHES: Final = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
#: Ticks of an axis of durations, which is linear below the first one, because waits may be 0.
_DURATIONS: Final = {
    0: "0", MINUTE: "1 min", 10 * MINUTE: "10 min", HOUR: "1 h", 6 * HOUR: "6 h", DAY: "1 d", 7 * DAY: "7 d",
    30 * DAY: "30 d", 365 * DAY: "1 y",
}  # fmt: skip


def distribution(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the empirical distribution function: ascending values, and the share of all values up to each.

    It has at most about MOST_POINTS points, evenly spread over the shares, including the smallest and the largest.
    """
    ordered = sorted(values)
    count = len(ordered)
    step = max(count // MOST_POINTS, 1)
    places = [*range(0, count - 1, step), count - 1] if ordered else []
    return [ordered[place] for place in places], [(place + 1) / count for place in places]


def draw_waits(axes: Axes, schedules: Sequence[Schedule], window: Window, _width: float) -> None:
    """Draw the distribution function of waits; logarithmic from a minute on."""
    longest = _draw_distributions(axes, schedules, window, attrgetter("wait"), 0.0)
    axes.set_xscale("symlog", linthresh=MINUTE, linscale=0.5)
    last = next((tick for tick in _DURATIONS if tick >= longest), longest)
    shown = [tick for tick in _DURATIONS if tick <= last]
    axes.set_xticks(shown, [_DURATIONS[tick] for tick in shown])
    axes.set_xticks([], minor=True)
    axes.set_xlim(0, max(last, MINUTE))
    axes.set_xlabel("wait")


def draw_slowdowns(axes: Axes, schedules: Sequence[Schedule], window: Window, _width: float) -> None:
    """Draw the distribution function of bounded slowdowns; logarithmic."""
    largest = _draw_distributions(axes, schedules, window, attrgetter("bounded_slowdown"), 1.0)
    axes.set_xscale("log")
    powers = range(max(math.ceil(math.log10(largest)), 1) + 1) if math.isfinite(largest) else range(7)
    shown = powers[:: 1 + len(powers) // 7]
    axes.set_xticks([10.0**power for power in shown], [grouped(10**power) for power in shown])
    axes.set_xlim(1, max(largest, 10.0))
    axes.set_xlabel("bounded slowdown (bound 10 s)")


def draw_utilisation(axes: Axes, schedules: Sequence[Schedule], window: Window, width: float) -> None:
    """Draw the share of allocated hosts."""
    series = [scaled(utilisation(window.through(schedule)), 0.01) for schedule in schedules]
    _draw_series(axes, schedules, series, window, width)
    axes.set_ylim(bottom=0, top=max(100.0, axes.get_ylim()[1]) if max(map(_top, series), default=0) > 100 else 100)
    axes.set_ylabel("busy hosts (%)")


def draw_queue(axes: Axes, schedules: Sequence[Schedule], window: Window, width: float) -> None:
    """Draw the number of waiting jobs."""
    _draw_series(axes, schedules, [queue_length(schedule) for schedule in schedules], window, width)
    axes.set_ylim(bottom=0)
    axes.locator_params(axis="y", integer=True)
    axes.set_ylabel("waiting jobs")


#: Name of a plot -> its drawing.
PLOTS: Final[Mapping[str, Callable[[Axes, Sequence[Schedule], Window, float], None]]] = {
    "waits": draw_waits,
    "slowdowns": draw_slowdowns,
    "utilisation": draw_utilisation,
    "queue": draw_queue,
}


def curves_figure(
    kind: str,
    schedules: Sequence[Schedule],
    window: Window,
    *,
    width: float = COLUMN,
    height: float | None = None,
    title: str = "",
) -> Figure:
    """Draw one of PLOTS, within `style()`: a line for each schedule; width and height in inches.

    Lines over time of more than MOST_OVERLAID schedules, which would hide each other, are in panels of one scale, below
    each other.
    """
    if kind in _OVER_TIME and len(schedules) > MOST_OVERLAID:
        return _panels_figure(kind, schedules, window, width=width, height=height, title=title)
    figure = new_figure(width, height or _HEIGHT, title)
    axes = figure.subplots()
    PLOTS[kind](axes, schedules, window, width - 0.5)
    axes.grid(visible=True, linewidth=0.3, color="#CCCCCC")
    axes.set_axisbelow(True)
    if len(schedules) > 1:
        longest = max(len(schedule.name) for schedule in schedules)
        columns = min(len(schedules), max(int(width / max(0.9, 0.5 + 0.05 * longest)), 1))
        # A title is at the top.
        place: Literal["outside lower center", "outside upper center"]
        place = "outside lower center" if title else "outside upper center"
        figure.legend(loc=place, ncols=columns, handlelength=2.2)
    return figure


def _panels_figure(
    kind: str, schedules: Sequence[Schedule], window: Window, *, width: float, height: float | None, title: str
) -> Figure:
    """Draw a panel for each schedule, with its name above it."""
    figure = new_figure(width, height or _PANEL * len(schedules) + _FOOT, title)
    grid: list[Axes] = list(figure.subplots(len(schedules), 1, sharex=True, squeeze=False)[:, 0])
    label = ""
    for axes, schedule, colour in zip(grid, schedules, cycle(LINES)):
        PLOTS[kind](axes, [schedule], window, width - 0.5)
        for line in axes.get_lines():
            line.set_color(colour)
        axes.grid(visible=True, linewidth=0.3, color="#CCCCCC")
        axes.set_axisbelow(True)
        axes.set_title(schedule.name, loc="left", pad=2.0)
        label = axes.get_ylabel()
        axes.set_ylabel("")
        axes.locator_params(axis="y", nbins=3)
        axes.label_outer()
    top = max(axes.get_ylim()[1] for axes in grid)
    for axes in grid:
        axes.set_ylim(0, top)
    figure.supylabel(label, fontsize=grid[0].yaxis.label.get_fontsize())
    return figure


def _draw_distributions(
    axes: Axes,
    schedules: Sequence[Schedule],
    window: Window,
    metric: Callable[[JobMetrics], float | None],
    least: float,
) -> float:
    """Draw the distribution of a metric of the jobs submitted in the window; return its largest value, or `least`."""
    for schedule, colour, dash in zip(schedules, cycle(LINES), cycle(_DASHES)):
        sample = [value for value in map(metric, measure_jobs(window.submitted(schedule))) if value is not None]
        values, shares = distribution(sample)
        if values:
            line = [values[0], *values], [0.0, *shares]
            axes.step(*line, where="post", color=colour, linestyle=dash, label=schedule.name)
            least = max(least, values[-1])
    axes.set_ylim(0, 1)
    axes.set_ylabel("part of the jobs")
    return least


def _draw_series(
    axes: Axes, schedules: Sequence[Schedule], series: Sequence[Steps], window: Window, width: float
) -> None:
    for schedule, steps, colour in zip(schedules, series, cycle(LINES)):
        times, values = line_of(steps, window.begin, window.end, _PARTS)
        axes.step(times, values, where="post", color=colour, linewidth=0.8, alpha=0.85, label=schedule.name)
    axes.set_xlabel(f"time ({time_ticks(axes, window.begin, window.end, width)})")


def _top(steps: Steps) -> float:
    return max((value for _, value in steps), default=0.0)
