"""The layer of unavailable hosts in a Gantt chart for papers: a pattern over all else, and its legend entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from batsched_py.bits import bit_runs
from batsched_py.reporting.schedules.outages import Outage

_HATCH: Final = "+" * 4
_INK: Final = "#555555"
#: Points: the width of the edge, which makes outages too short for a pattern visible.
_EDGE: Final = 0.3


def draw_outages(axes: Axes, outages: Sequence[Outage]) -> None:
    """Draw the outages, whose hosts are places; jobs that kept running stay visible below."""
    corners = [
        ((one.start, low), (one.start, high + 1), (one.finish, high + 1), (one.finish, low))
        for one in outages
        for low, high in bit_runs(one.hosts.bits)
    ]
    drawn = PolyCollection(corners, facecolors="none", edgecolors=_INK, linewidths=_EDGE, joinstyle="miter")
    drawn.set_hatch(_HATCH)
    axes.add_collection(drawn, autolim=False)


def outage_handle() -> Patch:
    """Return the legend entry of outages."""
    return Patch(facecolor="none", edgecolor=_INK, linewidth=_EDGE, hatch=_HATCH, label="unavailable")
