"""A Gantt chart for papers: exact rectangles up to a limit, a raster above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from batsched_py.reporting.pictures.colouring import Colouring
from batsched_py.reporting.pictures.lanes import Rows, lane_chart
from batsched_py.reporting.pictures.lease_marks import LeaseMark, marks_in
from batsched_py.reporting.pictures.paper.lease_layer import draw_marks
from batsched_py.reporting.pictures.paper.outage_layer import draw_outages
from batsched_py.reporting.pictures.paper.style import DPI
from batsched_py.reporting.pictures.raster import Cell, Grid, rasterise
from batsched_py.reporting.pictures.window import Window, blocks, drawn, lease_numbers, outages_in
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.records import JobRecord

#: The largest number of rectangles; files grow by some 100 bytes for each.
MOST_RECTANGLES: Final = 6000
#: The largest number of jobs whose names are written into rectangles.
_MOST_NAMES: Final = 150
_NAME_SIZE: Final = 5.5
#: The largest number of rows of a raster.
_MOST_ROWS: Final = 1200
#: Colour of dots that have several jobs, and the mean number of jobs of a dot from which dots have this colour.
DENSE: Final = "#0072B2"
_MOST_OF_A_DOT: Final = 2
#: Points: the width of an edge, in a darker shade of its rectangle, and of rectangles too thin for an edge.
_EDGE: Final = 0.3
_THIN: Final = 1.2
_SHADE: Final = 0.55
#: Hosts from one tick to the next.
_HOST_STEPS: Final = tuple(factor * 10**power for power in range(12) for factor in (1, 2, 5))


class Legends(NamedTuple):
    """Marks of leases, and whether a dot of a raster has several jobs: what a legend explains of a chart."""

    marks: Sequence[LeaseMark]
    is_dense: bool


def draw_gantt(
    axes: Axes,
    schedule: Schedule,
    window: Window,
    colours: Colouring,
    inches: tuple[float, float],
    *,
    numbers: Mapping[str, int],
    rows: Rows = "host",
) -> Legends:
    """Draw the jobs of a window, with time in seconds to the right and hosts upwards; return what a legend explains.

    `inches` are the width and height of the axes, `numbers` the numbers of the jobs of the figure. Jobs that share a
    host, or a GPU if `rows` says so, are stacked in its row: see `lanes`.

    A rectangle is a run of neighbouring hosts of a job. If there are more than MOST_RECTANGLES, a raster of DPI dots
    per inch replaces them: a dot has the colour of the job that occupies most of it, and is paler the less of it is
    busy. If dots have several jobs, colours of single jobs would say nothing: all have one colour, darker the more of
    the dot is busy. Marks of leases are drawn over rectangles only, not over a raster; a pattern over all shows
    unavailable hosts.
    """
    lanes = lane_chart(schedule, window, numbers, rows)
    if lanes is not None:
        schedule, window, numbers = lanes.schedule, lanes.window, lanes.numbers
    hosts, jobs = window.hosts_of(schedule), drawn(schedule, window, numbers)
    chart = _Chart(axes, window, colours, inches, hosts=len(hosts), jobs=jobs)
    axes.set_xlim(window.begin, window.end)
    marks, is_dense = list[LeaseMark](), False
    if chart.count_rectangles() > MOST_RECTANGLES:
        is_dense = chart.draw_raster()
    else:
        chart.draw_rectangles()
        marks = marks_in(schedule, window)
        draw_marks(axes, marks, lease_numbers(schedule, numbers))
        chart.write_names()
    if outages := outages_in(schedule, window):
        draw_outages(axes, outages)
    axes.set_ylim(0, len(hosts))
    if lanes is None:
        _number_rows(axes, [str(host) for host in hosts], inches[1])
    else:
        _number_rows(axes, lanes.names, inches[1], lanes.lanes)
    return Legends(marks, is_dense)


class _Chart:
    """The jobs of a window, on the places of its hosts."""

    def __init__(
        self,
        axes: Axes,
        window: Window,
        colours: Colouring,
        inches: tuple[float, float],
        *,
        hosts: int,
        jobs: Sequence[tuple[int, JobRecord]],
    ) -> None:
        self._axes, self._window, self._colours = axes, window, colours
        self._hosts, self._jobs, self._inches = hosts, jobs, inches
        #: Points per second, and per host.
        self._per_second, self._per_host = inches[0] * 72 / window.seconds, inches[1] * 72 / self._hosts

    def count_rectangles(self) -> int:
        """Return the number of rectangles of all jobs."""
        return sum(1 for _, record in self._jobs for _ in blocks(record, self._hosts))

    def draw_rectangles(self) -> None:
        """Draw a rectangle for each run of neighbouring hosts of a job, at its exact times."""
        corners, faces, edges = [], [], []
        for number, record in self._jobs:
            face = self._colours.of(number, record)
            edge, begin, end = _darker(face), record.start, record.finish
            for low, count in blocks(record, self._hosts):
                corners.append(((begin, low), (begin, low + count), (end, low + count), (end, low)))
                faces.append(face)
                thin = min((end - begin) * self._per_second, count * self._per_host) < _THIN
                edges.append(face if thin else edge)
        rectangles = PolyCollection(corners, facecolors=faces, edgecolors=edges, linewidths=_EDGE, joinstyle="miter")
        self._axes.add_collection(rectangles, autolim=False)

    def write_names(self) -> None:
        """Write names into the tallest rectangles of jobs, if they fit; ids if there are several workloads."""
        if len(self._jobs) > _MOST_NAMES:
            return
        several = len({record.workload for _, record in self._jobs}) > 1
        for _, record in self._jobs:
            name = record.job.id if several else record.job.name
            low, count = max(blocks(record, self._hosts), key=lambda block: block[1])
            begin, end = max(record.start, self._window.begin), min(record.finish, self._window.end)
            wide = (end - begin) * self._per_second > 0.68 * _NAME_SIZE * len(name) + 1
            if wide and count * self._per_host > _NAME_SIZE + 1:
                place = (begin + end) / 2, low + count / 2
                self._axes.text(*place, name, fontsize=_NAME_SIZE, ha="center", va="center_baseline", clip_on=True)

    def draw_raster(self) -> bool:
        """Draw dots in the owner's colour, mixed with white in proportion to the idle part of the dot.

        Return whether they have the one colour of dense dots instead.
        """
        window, (width, height) = self._window, self._inches
        rows = min(max(round(height * DPI), 1), _MOST_ROWS)
        grid = Grid.fitting(self._hosts, window.end, max(round(width * DPI), 1), rows, window.begin)
        raster = rasterise(self._jobs, grid)
        is_dense = not self._colours.legend and _jobs_of_a_dot(raster) > _MOST_OF_A_DOT
        one = to_rgb(DENSE)
        rgb = {n: one if is_dense else to_rgb(self._colours.of(n, record)) for n, record in self._jobs}
        image = np.ones((grid.rows, grid.columns, 3))
        for row, cells in enumerate(raster):
            for column, cell in enumerate(cells):
                if cell.jobs:
                    busy = min(cell.busy, 1.0)
                    image[row, column] = [1 - busy * (1 - part) for part in rgb[cell.owner]]
        self._axes.imshow(
            np.round(image * 255).astype(np.uint8),
            extent=(window.begin, window.end, 0, grid.rows * grid.hosts_per_row),
            origin="lower",
            aspect="auto",
            interpolation="none",
        )
        return is_dense


def density_handles() -> list[Patch]:
    """Return the legend entries of dense dots."""
    white = np.ones(3)
    return [
        Patch(facecolor=tuple(white - (white - to_rgb(DENSE)) * busy), edgecolor="#333333", label=f"{busy:.0%} in use")
        for busy in (0.25, 0.5, 0.75, 1.0)
    ]


def _jobs_of_a_dot(raster: Sequence[Sequence[Cell]]) -> float:
    """Return the mean number of jobs of the dots that have any."""
    counts = [cell.jobs for cells in raster for cell in cells if cell.jobs]
    return sum(counts) / max(len(counts), 1)


def _darker(colour: str) -> tuple[float, float, float]:
    red, green, blue = to_rgb(colour)
    return red * _SHADE, green * _SHADE, blue * _SHADE


def _number_rows(axes: Axes, names: Sequence[str], height: float, lanes: int = 1) -> None:
    """Put a tick at the middle of each row if there is room, else at the begin of every n-th row.

    Lines separate rows of several lanes, if there is room.
    """
    room = max(height * 72 / 10, 1.0)
    step = next(step for step in _HOST_STEPS if len(names) <= step * room)
    places = range(0, len(names), step)
    middle = 0.5 if step == 1 else 0.0
    axes.set_yticks([(place + middle) * lanes for place in places], [names[place] for place in places])
    if lanes > 1 and step == 1:
        axes.hlines([place * lanes for place in places[1:]], *axes.get_xlim(), colors="#888888", linewidths=_EDGE)
