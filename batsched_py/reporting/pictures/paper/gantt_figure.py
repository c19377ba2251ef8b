"""The figure of one or several schedules: a Gantt chart and panels for each, stacked on a common time axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from batsched_py.reporting.pictures.colouring import Colouring, colouring
from batsched_py.reporting.pictures.lanes import Rows
from batsched_py.reporting.pictures.lease_marks import LeaseMark
from batsched_py.reporting.pictures.paper.gantt_chart import density_handles, draw_gantt
from batsched_py.reporting.pictures.paper.lease_layer import mark_handles
from batsched_py.reporting.pictures.paper.outage_layer import outage_handle
from batsched_py.reporting.pictures.paper.panels import PANELS
from batsched_py.reporting.pictures.paper.style import COLUMN, new_figure, time_ticks
from batsched_py.reporting.pictures.window import Window, drawn, number_jobs, outages_in
from batsched_py.reporting.schedules.schedule import Schedule

#: Heights in inches: a Gantt chart; a panel; titles, labels and ticks.
_GANTT: Final = 1.7
_PANEL: Final = 0.55
_FOOT: Final = 0.45
_HEAD: Final = 0.25
#: Rows of a chart -> the name of their axis.
_ROW_NAMES: Final[Mapping[Rows, str]] = {"host": "host", "gpu": "host:GPU"}


def gantt_figure(
    schedules: Sequence[Schedule],
    window: Window,
    *,
    by: str = "job",
    panels: Sequence[str] = (),
    rows: Rows = "host",
    width: float = COLUMN,
    height: float | None = None,
    title: str = "",
) -> Figure:
    """Draw the schedules, within `style()`.

    Args:
        schedules: the schedules from top to bottom; each has its name above it if there are several.
        window: the time and the hosts to show.
        by: the colouring, one of colouring.CHOICES.
        panels: names of PANELS, below each chart.
        rows: what a row is.
        width: the width of the figure in inches.
        height: the height in inches; None to compute it from the number of charts and panels.
        title: the title of the figure; "" for none.

    InputError if a schedule lacks the data of a panel, or of rows of GPUs.
    """
    each = [_GANTT, *[_PANEL] * len(panels)]
    whole = height or sum(each) * len(schedules) + _FOOT + _HEAD * (len(schedules) > 1) * len(schedules)
    figure = new_figure(width, whole, title)
    made = figure.subplots(
        len(each) * len(schedules), 1, sharex=True, squeeze=False, height_ratios=each * len(schedules)
    )
    grid: list[Axes] = list(made[:, 0])
    numbers = number_jobs(schedules)
    colours = colouring(by, [record for each in schedules for _, record in drawn(each, window, numbers)])
    scale = whole / (sum(each) * len(schedules) + _FOOT)
    marks, is_dense = list[LeaseMark](), False
    for number, schedule in enumerate(schedules):
        first, *others = grid[number * len(each) : (number + 1) * len(each)]
        legends = draw_gantt(
            first, schedule, window, colours, (width - 0.5, _GANTT * scale), numbers=numbers, rows=rows
        )
        marks += legends.marks
        is_dense |= legends.is_dense
        first.set_ylabel(_ROW_NAMES[rows])
        if len(schedules) > 1:
            first.set_title(schedule.name, loc="left", pad=2.0)
        for axes, name in zip(others, panels, strict=True):
            PANELS[name](axes, schedule, window)
    for position, name in enumerate(panels, 1):
        if name != "timelines":  # each has its own VMs
            _same_scale(grid[position :: len(each)])
    unit = time_ticks(grid[-1], window.begin, window.end, width - 0.5)
    grid[-1].set_xlabel(f"time ({unit})")
    out = any(outages_in(schedule, window) for schedule in schedules)
    dense = density_handles() if is_dense else []
    if colours.legend or marks or out or dense:
        _explain(figure, colours, [*dense, *mark_handles(marks), *([outage_handle()] if out else [])], width)
    figure.align_ylabels()
    return figure


def _same_scale(panels: Sequence[Axes]) -> None:
    """Set a common scale for all panels of a quantity, so that schedules can be compared."""
    top = max(axes.get_ylim()[1] for axes in panels)
    for axes in panels:
        axes.set_ylim(0, top)


def _explain(figure: Figure, colours: Colouring, patterns: Sequence[Patch | Line2D], width: float) -> None:
    """Add a legend of the colours, and of the patterns, below all."""
    patches = [Patch(facecolor=colour, edgecolor="#333333", label=name) for name, colour in colours.legend.items()]
    handles = [*patches, *patterns]
    longest = max((len(str(pattern.get_label())) for pattern in patterns), default=0)
    columns = min(len(handles), max(int(width / max(0.8, 0.35 + 0.045 * longest)), 1))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=columns, handlelength=0.9 if not patterns else 1.6,
        handleheight=0.9, handletextpad=0.4, columnspacing=1.0,
    )  # fmt: skip
