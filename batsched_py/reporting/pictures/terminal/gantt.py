"""The Gantt chart of a schedule in a terminal: hosts upwards, time to the right, a letter and colour for each job."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rich.text import Text

from batsched_py.reporting.formatting import brief
from batsched_py.reporting.pictures.lease_marks import marks_in
from batsched_py.reporting.pictures.raster import Cell, Grid, rasterise
from batsched_py.reporting.pictures.terminal.canvas import Canvas, column_means, vertical_bars
from batsched_py.reporting.pictures.terminal.looks import BUSY, WAITING, Look, legend
from batsched_py.reporting.pictures.terminal.signs import crossed, marked
from batsched_py.reporting.pictures.time_axis import time_axis
from batsched_py.reporting.pictures.window import (
    Window,
    drawn,
    lease_numbers,
    number_jobs,
    outages_in,
    submission,
    window_on,
)
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.records import JobRecord
from batsched_py.text.wording import counted

#: The smallest number of columns for the time: a narrower picture is useless.
LEAST_COLUMNS: Final = 20
_CHART_LINES: Final = 2
_LEGEND_LINES: Final = 3


def render(
    schedule: Schedule,
    width: int = 100,
    height: int = 16,
    window: Window | None = None,
    numbers: Mapping[str, int] | None = None,
) -> Text:
    """Draw a schedule or a window of it, `width` characters wide, with at most `height` rows of hosts.

    A cell shows the letter and the colour of the job that occupies at least half of it; they are assigned in the order
    of submission, and are the same with each algorithm. Otherwise a shade shows the busy part of the cell: "·" a
    little, "░", "▒", "▓", and "█" all of it; a blank is idle. Below the time axis are charts of the number of waiting
    jobs (on any hosts) and of the busy part of the shown hosts, as means over each column. All runs of a lease have one
    letter; signs mark suspensions, resumptions, migrations, shutdowns and image transfers. A cross is a host that was
    unavailable and idle. `numbers` are the numbers of the jobs of several schedules that are drawn together, None for
    this one alone. The same schedule gives the same text.
    """
    if not schedule.ran:
        return Text("Nothing to draw: no job ran.")
    shown = window_on([schedule]) if window is None else window
    hosts = shown.hosts_of(schedule)
    if not hosts:
        return Text("Nothing to draw: there is no host.")
    numbers = number_jobs([schedule]) if numbers is None else numbers
    jobs = drawn(schedule, shown, numbers)
    gutter = _gutter(hosts[-1] + 1, len(schedule.ran))
    columns = max(width - gutter - 1, LEAST_COLUMNS)
    grid = Grid.fitting(len(hosts), shown.end, columns, height, shown.begin)
    cells = rasterise(jobs, grid)
    looks, signs = marked(cells, marks_in(schedule, shown), lease_numbers(schedule, numbers), grid)
    looks, cross = crossed(looks, cells, outages_in(schedule, shown), grid)
    canvas = Canvas(gutter)
    canvas.add_note(_title(len(schedule.jobs), schedule.hosts, grid))
    _draw_hosts(canvas, looks, grid, hosts)
    canvas.add_axis(time_axis(grid.end, grid.columns, grid.begin))
    _draw_waiting(canvas, sorted(schedule.ran, key=submission), grid)
    _draw_busy(canvas, cells, grid)
    for line in legend([(number, record.job) for number, record in jobs], width, _LEGEND_LINES):
        canvas.add_note(line)
    if signs or cross:
        canvas.add_note("  ".join(filter(None, (signs, cross))))
    return canvas.finish()


def _gutter(hosts: int, jobs: int) -> int:
    """Return the width of the labels left of the picture: ranges of hosts, and names and scales of charts."""
    return max(2 * len(str(hosts - 1)) + 1, len(str(jobs)), len("waiting")) + 1


def _title(jobs: int, hosts: int, grid: Grid) -> str:
    """Return the size of the schedule, and the resolution of the picture."""
    sizes = [f"a column is {brief(grid.column_seconds)}"]
    if grid.hosts_per_row > 1:
        sizes.append(f"a row is {grid.hosts_per_row} hosts")
    return f"{counted(jobs, 'job')} on {counted(hosts, 'host')}; {', '.join(sizes)}"


def _draw_hosts(canvas: Canvas, looks: Sequence[Sequence[Look]], grid: Grid, numbers: Sequence[int]) -> None:
    """Draw the rows, the lowest host at the bottom."""
    for row in range(grid.rows - 1, -1, -1):
        hosts = [numbers[place] for place in grid.row_hosts(row)]
        name = str(hosts[0]) if len(hosts) == 1 else f"{hosts[0]}-{hosts[-1]}"
        canvas.add_row(name, looks[row])


def _draw_waiting(canvas: Canvas, ran: Iterable[JobRecord], grid: Grid) -> None:
    """Draw the number of submitted jobs that have not started, without rejected ones."""
    spans = [(grid.position(record.job.submit_time), grid.position(record.start)) for record in ran]
    means = column_means(spans, grid.columns)
    top = max(math.ceil(max(means)), 1)
    canvas.add_chart("waiting", str(top), vertical_bars(means, top, _CHART_LINES), WAITING)


def _draw_busy(canvas: Canvas, cells: Sequence[Sequence[Cell]], grid: Grid) -> None:
    """Draw the share of busy hosts."""
    weights = [len(grid.row_hosts(row)) for row in range(grid.rows)]
    means = [
        math.fsum(cell.busy * weight for cell, weight in zip(column, weights, strict=True)) / grid.hosts
        for column in zip(*cells, strict=True)
    ]
    canvas.add_chart("busy", "100 %", vertical_bars(means, 1.0, _CHART_LINES), BUSY)
