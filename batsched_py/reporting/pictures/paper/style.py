"""The style of figures for papers, their time axis, and their files; the same figure gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from batsched_py.reporting.formatting import DAY, HOUR, MINUTE
from batsched_py.reporting.pictures.time_axis import tick_step, ticks

#: The column width of IEEE's two-column papers, in inches.
COLUMN: Final = 3.5
#: Dots per inch of a PNG, and of rasters in other formats.
DPI: Final = 300

#: Settings that replace any matplotlibrc. PDF embeds whole TrueType fonts; SVG keeps text as text.
_STYLE: Final[Mapping[str, Any]] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "font.size": 7.0,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 2.0,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "patch.linewidth": 0.3,
    "hatch.linewidth": 0.45,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "text.parse_math": False,  # a dollar sign in a name is plain text
    "svg.hashsalt": "batsched-py",
    "path.simplify": False,
    "savefig.dpi": DPI,
}
#: Metadata of files, without times and versions, which would make equal figures differ.
_METADATA: Final[Mapping[str, Mapping[str, str | None]]] = {
    "pdf": {"CreationDate": None, "Creator": "batsched-py", "Producer": None},
    "svg": {"Date": None, "Creator": "batsched-py"},
    "png": {"Software": None},
}
#: A unit of time, and its name on an axis.
_UNITS: Final[tuple[tuple[int, str], ...]] = ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes"), (1, "seconds"))
#: The smallest distance of ticks on the time axis, in points.
_SPACING: Final = 32.0


@contextmanager
def style() -> Iterator[None]:
    """Apply the style in place of matplotlib's settings within the context, in which figures are made and saved."""
    with mpl.rc_context():
        mpl.rcdefaults()
        parameters: Any = mpl.rcParams
        parameters.update(_STYLE)
        yield


def new_figure(width: float, height: float, title: str = "") -> Figure:
    """Return an empty figure with a size in inches, independent of windows and pyplot's global state."""
    layout = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, hspace=0.02, wspace=0.02)
    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(title, fontsize=8.5)
    return figure


def saved(figure: Figure, form: str) -> bytes:
    """Return the figure as the content of a file: pdf, svg or png."""
    file = BytesIO()
    figure.savefig(file, format=form, metadata=dict(_METADATA[form]))
    return file.getvalue()


def time_ticks(axes: Axes, begin: float, end: float, width: float) -> str:
    """Put ticks at round times on the x axis, which is in seconds and `width` inches wide; return the unit's name."""
    step = tick_step((end - begin) * _SPACING / (width * 72))
    unit, name = next(pair for pair in _UNITS if step >= pair[0] or pair[0] == 1)
    places = ticks(begin, end + step * 1e-6, step)
    axes.set_xlim(begin, end)
    axes.set_xticks(places, [f"{place / unit:.6g}" for place in places])
    return name
