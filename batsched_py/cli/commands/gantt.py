"""`batsched-py gantt`: the picture of a run, in the terminal or for a paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from batsched_py.cli.shared.console import Output, show_picture
from batsched_py.cli.shared.parameters import PATH, debug_option, limit_option
from batsched_py.cli.shared.pictures import draw, picture_options, read_drawn
from batsched_py.cli.shared.runs import paths_argument
from batsched_py.display import displayed
from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.reporting.pictures.colouring import CHOICES
from batsched_py.reporting.pictures.terminal.gantt import render
from batsched_py.reporting.pictures.window import window_on
from batsched_py.reporting.schedules.members import user_of

#: What may stand below a chart.
PANELS: Final = ("utilisation", "queue", "power", "states")


def _read_panels(context: click.Context, parameter: click.Parameter, value: str | None) -> Sequence[str]:
    """For the option: names, separated by commas."""
    names = [] if value is None else [name.strip() for name in value.split(",")]
    for name in names:
        if name not in PANELS or names.count(name) > 1:
            known = ", ".join(PANELS)
            raise click.BadParameter(f"must be some of {known}, each once, not {name!r}", context, parameter)
    return names


@click.command("gantt")
@paths_argument
@picture_options("Write a picture for papers (.pdf, .svg, .png) instead of drawing here.", required=False)
@click.option(
    "--colour-by", type=click.Choice(CHOICES), default="job", show_default=True, help="What colours tell apart."
)
@click.option("--with", "panels", callback=_read_panels, metavar="PANEL,...", help=f"Below it: {', '.join(PANELS)}.")
@click.option(
    "-w", "--workload", "workloads", type=PATH, multiple=True, metavar="FILE", help="What was run: tells the users."
)
@limit_option
@debug_option
def command(
    *,
    paths: Sequence[Path],
    output: Path | None,
    begin: float | None,
    end: float | None,
    only: HostSet | None,
    hosts: int | None,
    workloads: Sequence[Path],
    **looks: Any,
) -> None:
    """Draw which jobs ran on which hosts, and when.

    A PATH is a _jobs.csv of Batsim or of simulate, the prefix of its option -e, or a folder with one such file. Several
    runs stand one above the other, on one time axis.
    """
    if output is None:
        _refuse_looks(looks, workloads)
    schedules = read_drawn(paths, workloads, output, hosts, places_needed=True)
    if looks["colour_by"] == "user" and not any(user_of(record.job) for run in schedules for record in run.jobs):
        raise InputError(
            schedules[0].source, "", "tells no users to colour by: '-w WORKLOAD' does, if its jobs have a member 'user'"
        )
    window = window_on(schedules, begin, end, only)
    if output is None:
        console = Output()
        for schedule in schedules:
            if len(schedules) > 1:
                console.print(displayed(schedule.name), style="bold", highlight=False, soft_wrap=True)
            show_picture(console, render(schedule, console.width, window=window))
        return
    by, width = looks.pop("colour_by"), looks.pop("width")
    size = {} if width is None else {"width": width}
    draw(
        "gantt -o", "gantt_figure", output, lambda paper: paper.gantt_figure(schedules, window, by=by, **size, **looks)
    )


def _refuse_looks(looks: dict[str, Any], workloads: Sequence[Path]) -> None:
    """A usage error for what only a picture in a file has."""
    given = {
        "--colour-by": looks["colour_by"] != "job",
        "--with": bool(looks["panels"]),
        "--width": looks["width"] is not None,
        "--height": looks["height"] is not None,
        "--title": bool(looks["title"]),
        "-w": bool(workloads),
    }
    for name, there in given.items():
        if there:
            raise click.UsageError(f"'{name}' goes with '-o': the picture in the terminal has no such thing")
