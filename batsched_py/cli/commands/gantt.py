"""`batsched-py gantt`: a Gantt chart of a run, in the terminal or for a paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.console import Output, show_picture
from batsched_py.cli.shared.parameters import PATH, option, read_names
from batsched_py.cli.shared.runs import (
    PictureOptions,
    paths_argument,
    picture_options,
    read_charted,
    run_titles,
    write_picture,
)
from batsched_py.cli.shared.terminal import say_all
from batsched_py.errors import InputError
from batsched_py.reporting.pictures.colouring import CHOICES
from batsched_py.reporting.pictures.lanes import ROWS, Rows
from batsched_py.reporting.pictures.terminal.gantt import render
from batsched_py.reporting.pictures.window import Window, number_jobs
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.text.display import displayed

#: Optional charts below the Gantt chart.
PANELS: Final = ("utilisation", "resources", "queue", "power", "states", "timelines")


def _read_panels(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> Sequence[str]:
    """Read the names of panels, separated by commas."""
    names = read_names(context, parameter, values)
    for name in names:
        if name not in PANELS or names.count(name) > 1:
            known = ", ".join(PANELS)
            raise click.BadParameter(f"must be some of {known}, each once, not {name!r}", context, parameter)
    return names


class GanttRequest(Struct, frozen=True):
    """The options of `gantt`."""

    paths: tuple[Path, ...]
    picture: PictureOptions
    colour_by: str
    panels: Sequence[str]
    rows: Rows
    workloads: tuple[Path, ...]


@typed_command()
@paths_argument
@picture_options("Write a picture for papers (.pdf, .svg, .png) instead of drawing here.", required=False)
@option("--colour-by", None, "What colours tell apart.", type=click.Choice(CHOICES), default="job")
@option("--with panels", "PANEL,...", f"Below it: {', '.join(PANELS)}.", callback=_read_panels, multiple=True)
@option("--rows", None, "What a row is; jobs that share it are stacked.", type=click.Choice(ROWS), default="host")
@option("-w --workload workloads", "FILE", "Workload of the runs, for users.", type=PATH, multiple=True)
def command(request: GanttRequest) -> None:
    """Draw Gantt charts of runs.

    A PATH is a _jobs.csv file, the prefix given to -e, or a folder with one such file. Several runs share one
    time axis.
    """
    picture = request.picture
    if picture.output is None:
        _refuse_looks(request)
    schedules = read_charted(request.paths, picture, request.workloads)
    if request.colour_by == "user" and not any(record.job.user for run in schedules for record in run.jobs):
        raise InputError(
            schedules[0].source, "", "tells no users to colour by: '-w WORKLOAD' does, if its jobs have a member 'user'"
        )
    window = picture.window_on(schedules)
    if picture.output is None:
        _show(schedules, window, request.rows)
        return
    looks = {"by": request.colour_by, "panels": request.panels, "rows": request.rows, **picture.looks}
    write_picture("gantt -o", "gantt_figure", picture, lambda paper: paper.gantt_figure(schedules, window, **looks))


def _show(schedules: Sequence[Schedule], window: Window, rows: Rows) -> None:
    console, numbers = Output(), number_jobs(schedules)
    for schedule in schedules:
        if len(schedules) > 1:
            console.print(displayed(schedule.name), style="bold", highlight=False, soft_wrap=True)
        show_picture(console, render(schedule, console.width, window=window, numbers=numbers, rows=rows))
    say_all(run_titles(schedules))


def _refuse_looks(request: GanttRequest) -> None:
    """Refuse options that apply only to pictures in files. UsageError."""
    given = {
        "--colour-by": request.colour_by != "job",
        "--with": bool(request.panels),
        "--width": request.picture.width is not None,
        "--height": request.picture.height is not None,
        "--title": bool(request.picture.title),
        "-w": bool(request.workloads),
    }
    for name, there in given.items():
        if there:
            raise click.UsageError(f"'{name}' goes with '-o': the picture in the terminal has no such thing")
