"""The Gantt chart of a schedule in a terminal: hosts upwards, time to the right, a letter and colour for each job."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace
from rich.text import Text

from batsched_py.reporting.formatting import brief
from batsched_py.reporting.metrics.over_time import utilisation
from batsched_py.reporting.metrics.steps import means
from batsched_py.reporting.pictures.lanes import Rows, lane_chart
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
    *,
    rows: Rows = "host",
) -> Text:
    """Draw a schedule or a window of it, `width` characters wide, with at most `height` rows of hosts.

    A cell shows the letter and the colour of the job that occupies at least half of it; they are assigned in the order
    of submission, and are the same with each algorithm. Otherwise a shade shows the busy part of the cell: "·" a
    little, "░", "▒", "▓", and "█" all of it; a blank is idle. Below the time axis are charts of the number of waiting
    jobs (on any hosts) and of the busy part of the shown hosts, as means over each column. All runs of a lease have one
    letter; signs mark suspensions, resumptions, migrations, shutdowns and image transfers. A cross is a host that was
    unavailable and idle. `numbers` are the numbers of the jobs of several schedules that are drawn together, None for
    this one alone. Jobs that share a host, or a GPU if `rows` says so, are stacked in several lines: see `lanes`. The
    same schedule gives the same text. InputError for GPUs that are unknown.
    """
    if not schedule.ran:
        return Text("Nothing to draw: no job ran.")
    shown = window_on([schedule]) if window is None else window
    hosts = shown.hosts_of(schedule)
    if not hosts:
        return Text("Nothing to draw: there is no host.")
    numbers = number_jobs([schedule]) if numbers is None else numbers
    lanes = lane_chart(schedule, shown, numbers, rows)
    if lanes is None:
        names, chart, seen = tuple(map(str, hosts)), schedule, shown
    else:
        names, chart, seen, numbers = lanes.names, lanes.schedule, lanes.window, lanes.numbers
    jobs = drawn(chart, seen, numbers)
    gutter = _gutter(names, len(schedule.ran))
    columns = max(width - gutter - 1, LEAST_COLUMNS)
    of_a_row = 1 if lanes is None else lanes.lanes
    grid = replace(
        Grid.fitting(len(names) * of_a_row, shown.end, columns, height, shown.begin),
        hosts_per_row=_lanes_of_a_line(len(names), of_a_row, height),
    )
    cells = rasterise(jobs, grid)
    looks, signs = marked(cells, marks_in(chart, seen), lease_numbers(chart, numbers), grid)
    looks, cross = crossed(looks, cells, outages_in(chart, seen), grid)
    canvas = Canvas(gutter)
    canvas.add_note(_title(len(schedule.jobs), schedule.hosts, grid, of_a_row, rows))
    _draw_hosts(canvas, looks, grid, names, of_a_row)
    canvas.add_axis(time_axis(grid.end, grid.columns, grid.begin))
    _draw_waiting(canvas, sorted(schedule.ran, key=submission), grid)
    in_use = lanes is not None and rows == "host"  # lanes are parts of hosts
    _draw_busy(canvas, _hosts_in_use(schedule, shown, columns) if in_use else _busy_cells(cells, grid))
    for line in legend([(number, record.job) for number, record in jobs], width, _LEGEND_LINES):
        canvas.add_note(line)
    if signs or cross:
        canvas.add_note("  ".join(filter(None, (signs, cross))))
    return canvas.finish()


def _gutter(names: Sequence[str], jobs: int) -> int:
    """Return the width of the labels left of the picture: ranges of rows, and names and scales of charts."""
    return max(2 * len(names[-1]) + 1, len(str(jobs)), len("waiting")) + 1


def _lanes_of_a_line(rows: int, lanes: int, height: int) -> int:
    """Return the lanes of each line of text: rows begin with a line, and a row has several lines if there is room."""
    whole = lanes * -(-rows // height)
    return next((some for some in range(1, lanes) if lanes % some == 0 and rows * lanes // some <= height), whole)


def _title(jobs: int, hosts: int, grid: Grid, lanes: int, rows: Rows) -> str:
    """Return the size of the schedule, and the resolution of the picture."""
    sizes = [f"a column is {brief(grid.column_seconds)}"]
    several, word = grid.hosts_per_row // lanes, "GPU" if rows == "gpu" else "host"
    if several > 1:
        sizes.append(f"a row is {several} {word}s")
    return f"{counted(jobs, 'job')} on {counted(hosts, 'host')}; {', '.join(sizes)}"


def _draw_hosts(canvas: Canvas, looks: Sequence[Sequence[Look]], grid: Grid, names: Sequence[str], lanes: int) -> None:
    """Draw the rows, the lowest host at the bottom; of several lines of a row, the lowest has its name."""
    for row in range(grid.rows - 1, -1, -1):
        places = grid.row_hosts(row)
        first, last = places[0] // lanes, places[-1] // lanes
        name = names[first] if first == last else f"{names[first]}-{names[last]}"
        canvas.add_row("" if places[0] % lanes else name, looks[row])


def _draw_waiting(canvas: Canvas, ran: Iterable[JobRecord], grid: Grid) -> None:
    """Draw the number of submitted jobs that have not started, without rejected ones."""
    spans = [(grid.position(record.job.submit_time), grid.position(record.start)) for record in ran]
    means = column_means(spans, grid.columns)
    top = max(math.ceil(max(means)), 1)
    canvas.add_chart("waiting", str(top), vertical_bars(means, top, _CHART_LINES), WAITING)


def _draw_busy(canvas: Canvas, means: Sequence[float]) -> None:
    """Draw the share of busy hosts."""
    canvas.add_chart("busy", "100 %", vertical_bars(means, 1.0, _CHART_LINES), BUSY)


def _busy_cells(cells: Sequence[Sequence[Cell]], grid: Grid) -> list[float]:
    """Return the busy share of all cells of each column."""
    weights = [len(grid.row_hosts(row)) for row in range(grid.rows)]
    return [
        math.fsum(cell.busy * weight for cell, weight in zip(column, weights, strict=True)) / grid.hosts
        for column in zip(*cells, strict=True)
    ]


def _hosts_in_use(schedule: Schedule, shown: Window, columns: int) -> list[float]:
    """Return the share of the shown hosts with at least one task in each column."""
    return means(utilisation(shown.through(schedule)), shown.begin, shown.end, columns)
