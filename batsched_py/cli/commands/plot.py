"""`batsched-py plot`: curves for papers that compare runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from batsched_py.cli.shared.parameters import debug_option, limit_option
from batsched_py.cli.shared.pictures import draw, picture_options, read_drawn
from batsched_py.cli.shared.runs import paths_argument
from batsched_py.hostset import HostSet
from batsched_py.reporting.pictures.window import window_on

#: What can be drawn.
KINDS: Final = ("waits", "slowdowns", "utilisation", "queue")


@click.command("plot")
@click.argument("kind", type=click.Choice(KINDS))
@paths_argument
@picture_options("The picture: .pdf, .svg or .png.", required=True)
@limit_option
@debug_option
def command(
    *,
    kind: str,
    paths: Sequence[Path],
    output: Path,
    begin: float | None,
    end: float | None,
    only: HostSet | None,
    hosts: int | None,
    width: float | None,
    **looks: Any,
) -> None:
    """Draw a line for each run: how waits or bounded slowdowns are distributed, utilisation or queue over time.

    A PATH is a _jobs.csv of Batsim or of simulate, the prefix of its option -e, a folder with one such file, or a log
    in SWF.
    """
    if only is not None and kind == "queue":
        raise click.UsageError("'--only' does not go with 'queue': jobs that wait have no hosts yet")
    schedules = read_drawn(paths, (), output, hosts, places_needed=only is not None)
    window = window_on(schedules, begin, end, only)
    size = {} if width is None else {"width": width}
    draw("plot", "curves", output, lambda paper: paper.curves_figure(kind, schedules, window, **size, **looks))
