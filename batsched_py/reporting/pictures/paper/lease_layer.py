"""The layer of leases in a Gantt chart for papers: a pattern for each kind of mark, and its legend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from batsched_py.bits import bit_runs
from batsched_py.reporting.pictures.colouring import job_colour
from batsched_py.reporting.pictures.lease_marks import MARK_NAMES, LeaseMark, MarkKind, kinds_of

#: Kind of a mark -> the hatch of matplotlib; reservations are framed instead.
_HATCHES: Final[Mapping[MarkKind, str]] = {
    "suspend": "\\" * 4, "resume": "/" * 4, "migrate": "|" * 4, "transfer": "." * 4, "shutdown": "x" * 4,
    "lost": "-" * 3, "image": "/" * 7,
}  # fmt: skip
#: Kinds on hosts that the lease holds, drawn in its colour; others may overlap other leases.
_HOLDING: Final[frozenset[MarkKind]] = frozenset({"suspend", "resume", "migrate", "shutdown"})
_INK: Final = "#222222"
#: Points: lines of frames, of hatches' edges, and from the request of a reservation to its start.
_FRAME: Final = 1.1
_EDGE: Final = 0.3
_AHEAD: Final = 0.6
#: The height of a cached image, as a part of its host's height from below.
_IMAGE_HEIGHT: Final = 0.1
#: The height of a reservation's line within its lowest host, above the name.
_LINE_HEIGHT: Final = 0.85

Corners = Sequence[tuple[float, float]]


def draw_marks(axes: Axes, marks: Sequence[LeaseMark], numbers: Mapping[int, int]) -> None:
    """Draw the marks, whose hosts are places; `numbers` are the numbers of leases in pictures, for their colours."""
    for kind in kinds_of(marks):
        of_kind = [mark for mark in marks if mark.kind == kind]
        if kind == "reservation":
            _frame(axes, of_kind)
            continue
        corners, faces = list[Corners](), list[str]()
        for mark in of_kind:
            for one in _rectangles(mark):
                corners.append(one)
                faces.append(job_colour(numbers.get(mark.lease, 0)) if kind in _HOLDING else "none")
        axes.add_collection(_hatched(corners, faces, _HATCHES[kind]), autolim=False)


def mark_handles(marks: Iterable[LeaseMark]) -> list[Patch | Line2D]:
    """Return legend entries for the kinds that occur."""
    return [
        Patch(facecolor="none", edgecolor=_INK, linewidth=_FRAME, label=MARK_NAMES[kind])
        if kind == "reservation"
        else Patch(
            facecolor="#EEEEEE" if kind in _HOLDING else "none",
            edgecolor=_INK,
            linewidth=_EDGE,
            hatch=_HATCHES[kind],
            label=MARK_NAMES[kind],
        )
        for kind in kinds_of(marks)
    ]


def _hatched(corners: Sequence[Corners], faces: Sequence[str], hatch: str) -> PolyCollection:
    drawn = PolyCollection(corners, facecolors=faces, edgecolors=_INK, linewidths=_EDGE, joinstyle="miter")
    drawn.set_hatch(hatch)
    return drawn


def _frame(axes: Axes, reservations: Sequence[LeaseMark]) -> None:
    """Frame the runs of reservations, with a dotted line from the request to the start on the lowest host."""
    corners = [one for mark in reservations for one in _rectangles(mark)]
    axes.add_collection(
        PolyCollection(corners, facecolors="none", edgecolors=_INK, linewidths=_FRAME, joinstyle="miter"),
        autolim=False,
    )
    for mark in reservations:
        if mark.asked < mark.start:
            low = next(iter(mark.hosts)) + _LINE_HEIGHT
            axes.plot((mark.asked, mark.start), (low, low), linestyle=":", color=_INK, linewidth=_AHEAD)
            axes.plot((mark.asked,), (low,), marker="|", color=_INK, markersize=3, markeredgewidth=_AHEAD)


def _rectangles(mark: LeaseMark) -> Iterator[Corners]:
    """Yield the corners of a rectangle for each run of neighbouring places; for an image, of a strip of its host."""
    for low, high in bit_runs(mark.hosts.bits):
        top = low + _IMAGE_HEIGHT if mark.kind == "image" else high + 1.0
        yield (mark.start, low), (mark.start, top), (mark.finish, top), (mark.finish, low)
