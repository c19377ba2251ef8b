"""The figure of timelines: a row for each VM; entries, pauses, breaks and reboots as bars, the barrier as a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from warnings import warn

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from batsched_py.reporting.pictures.colouring import OTHERS, job_colour
from batsched_py.reporting.pictures.paper.style import COLUMN, new_figure, time_ticks
from batsched_py.reporting.schedules.experiment_tables import ADDRESS, BARRIER, CREATION, THERE
from batsched_py.reporting.schedules.timeline_tables import TimelineBar, TimelineChart
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: The largest number of VMs that are drawn; the first ones of the file are kept.
MOST_VMS: Final = 200
#: The largest number of bars that are drawn.
MOST_BARS: Final = 6000
#: Heights in inches: a row, and the space above and below all rows.
_ROW: Final = 0.22
_FOOT: Final = 0.75
#: Kind of a bar without a colour -> its hatch and its name in the legend.
_HATCHES: Final[Mapping[str, tuple[str, str]]] = {
    "pause": ("/" * 4, "paused"),
    "break": ("x" * 4, "held"),
    "reboot": ("." * 4, "reboots"),
    "load": ("-" * 4, "loads files"),
    CREATION: ("\\" * 4, "is created"),
    ADDRESS: ("|" * 4, "has no address yet"),
    BARRIER: ("+" * 4, "waits for the start"),
    THERE: (" ", "is there"),
}
#: Kind without duration -> its marker and its name in the legend.
_MARKERS: Final[Mapping[str, tuple[str, str]]] = {"transfer": ("v", "transfer"), "resume": (">", "resume")}
_INK: Final = "#333333"
#: The style of an arrow from a resource to one that needs it.
_ARROW: Final = {"arrowstyle": "->", "color": _INK, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 5}
#: The width of a character of a name, in inches.
_CHARACTER: Final = 0.055
_LONGEST_NAME: Final = 24


def timeline_figure(
    chart: TimelineChart, *, width: float = COLUMN, height: float | None = None, title: str = ""
) -> Figure:
    """Draw timelines over experiment time, or over wall time if the experiment did not start, within `style()`."""
    figure = new_figure(width, height or _ROW * min(len(chart.vms), MOST_VMS) + _FOOT, title)
    axes = figure.subplots()
    zero = chart.start or 0.0
    begin = chart.launched if chart.launched is not None else 0.0
    end = chart.end + max((chart.end - begin) * 0.04, 1.0)
    draw_timelines(axes, chart, begin, end, zero=zero)
    inside = width - 0.5 - _CHARACTER * max((len(name) for name in _names(chart)), default=0)
    _write_names(axes, chart, end, zero, (end - begin) / max(inside, 0.5))
    unit = time_ticks(axes, begin - zero, end - zero, max(inside, 0.5))
    axes.set_xlabel(f"{'wall' if chart.start is None else 'experiment'} time ({unit})")
    _explain(figure, chart)
    return figure


def draw_timelines(axes: Axes, chart: TimelineChart, begin: float, end: float, *, zero: float = 0.0) -> None:
    """Draw the VMs from top to bottom between two wall times; `zero` is the wall time at 0 on the axis."""
    names = list(chart.vms)[:MOST_VMS]
    places = {name: len(names) - 1 - number for number, name in enumerate(names)}
    colours = _colours(chart)
    if len(chart.bars) > MOST_BARS:
        warn(f"{counted(len(chart.bars) - MOST_BARS, 'entry', 'entries')} of timelines not drawn", stacklevel=2)
    if len(chart.vms) > MOST_VMS:
        rows = counted(len(chart.vms) - MOST_VMS, "resource" if chart.experiments else "VM")
        warn(f"{rows} not drawn", stacklevel=2)
    for bar in chart.bars[:MOST_BARS]:
        if bar.vm in places and bar.begin < end:
            _draw_bar(axes, bar, places[bar.vm], colours, (end, zero))
    for need in chart.needs[:MOST_BARS]:
        if need.name in places and need.needs in places:
            x = need.time - zero
            axes.annotate("", (x, places[need.name]), (x, places[need.needs]), arrowprops=_ARROW, zorder=5)
    for name, configured in chart.vms.items():
        if configured is not None and name in places:
            axes.plot(configured - zero, places[name], marker="|", color=_INK, markersize=6, linestyle="none", zorder=4)
    if chart.start is not None:
        axes.axvline(chart.start - zero, color=_INK, linewidth=0.8, linestyle="--", zorder=5)
    axes.set_xlim(begin - zero, end - zero)
    axes.set_ylim(-0.6, max(len(names), 1) - 0.4)
    axes.set_yticks(list(places.values()), _names(chart))
    axes.tick_params(axis="y", length=0)


def _draw_bar(
    axes: Axes, bar: TimelineBar, place: int, colours: Mapping[str, str], limits: tuple[float, float]
) -> None:
    end, zero = limits
    if bar.kind in _MARKERS or bar.end == bar.begin:
        marker = _MARKERS.get(bar.kind, ("d", ""))[0]
        colour = colours.get(bar.name, _INK)
        axes.plot(bar.begin - zero, place, marker=marker, color=colour, markeredgecolor=_INK, markeredgewidth=0.3,
                  markersize=3.5, linestyle="none", zorder=4)  # fmt: skip
        return
    until = end if bar.end is None else bar.end
    hatch = _HATCHES.get(bar.kind, ("", ""))[0]
    axes.broken_barh(
        [(bar.begin - zero, until - bar.begin)],
        (place - 0.38, 0.76) if not hatch else (place - 0.2, 0.4),
        facecolors="none" if hatch else colours.get(bar.name, OTHERS),
        edgecolors=_INK,
        linewidth=0.3,
        hatch=hatch or None,
        zorder=2 if hatch else 3,
    )


def _write_names(axes: Axes, chart: TimelineChart, end: float, zero: float, seconds_per_inch: float) -> None:
    """Write the names of entries into their bars, where they fit."""
    names = list(chart.vms)[:MOST_VMS]
    for bar in chart.bars[:MOST_BARS]:
        until = end if bar.end is None else bar.end
        text = displayed(bar.name, _LONGEST_NAME)
        fits = (until - bar.begin) >= _CHARACTER * len(text) * seconds_per_inch
        if bar.kind in ("run", "drop") and bar.vm in names and fits:
            place = len(names) - 1 - names.index(bar.vm)
            axes.text((bar.begin + until) / 2 - zero, place, text, ha="center", va="center", fontsize=5.5, zorder=6)


def _explain(figure: Figure, chart: TimelineChart) -> None:
    kinds = {bar.kind for bar in chart.bars}
    handles: list[Patch | Line2D] = [
        Patch(facecolor="none", edgecolor=_INK, linewidth=0.3, hatch=hatch, label=name)
        for kind, (hatch, name) in _HATCHES.items()
        if kind in kinds
    ]
    for kind, (marker, name) in _MARKERS.items():
        if kind in kinds:
            handles.append(Line2D([], [], marker=marker, color=_INK, markersize=3.5, linestyle="none", label=name))
    if any(time is not None for time in chart.vms.values()):
        handles.append(Line2D([], [], marker="|", color=_INK, markersize=6, linestyle="none", label="configured"))
    if chart.start is not None:
        handles.append(Line2D([], [], color=_INK, linewidth=0.8, linestyle="--", label="start"))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=max(len(handles), 1), handlelength=1.4, handletextpad=0.4,
        columnspacing=1.0,
    )  # fmt: skip


def _names(chart: TimelineChart) -> Sequence[str]:
    return [displayed(name, _LONGEST_NAME) for name in list(chart.vms)[:MOST_VMS]]


def _colours(chart: TimelineChart) -> dict[str, str]:
    """Return name of an entry -> colour, the same in all VMs, in the order of the bars."""
    names = dict.fromkeys(bar.name for bar in chart.bars if bar.kind in ("run", "drop", "transfer"))
    return {name: job_colour(number) for number, name in enumerate(names)}
