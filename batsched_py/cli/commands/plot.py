"""`batsched-py plot`: curves for papers that compare runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.runs import PictureOptions, paths_argument, picture_options, read_drawn, write_picture
from batsched_py.cli.shared.terminal import say

#: The kinds of curves.
KINDS: Final = ("waits", "slowdowns", "utilisation", "queue")
#: Aliases of the kinds.
_ALIASES: Final = {
    **dict.fromkeys(("wait", "waiting", "mean_wait", "waiting_time", "waiting_times"), "waits"),
    **dict.fromkeys(("slowdown", "bounded_slowdown", "bounded_slowdowns", "mean_bounded_slowdown"), "slowdowns"),
    **dict.fromkeys(("utilization", "usage", "busy"), "utilisation"),
    **dict.fromkeys(("queues", "queue_length", "queue-length", "mean_queue_length", "max_queue_length"), "queue"),
}


class KindOfCurve(click.Choice[str]):
    """One of KINDS; an alias is accepted with a note."""

    name = "kind"

    def __init__(self) -> None:
        super().__init__(KINDS)

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        """Return the kind; BadParameter for other words."""
        meant = _ALIASES.get(str(value).casefold())
        if meant is not None:
            say(f"note: '{value}' is read as '{meant}'", err=True)
        return super().convert(value if meant is None else meant, parameter, context)


@typed_command()
@click.argument("kind", type=KindOfCurve())
@paths_argument
@picture_options("The picture: .pdf, .svg or .png.", required=True)
def command(kind: str, paths: tuple[Path, ...], picture: PictureOptions) -> None:
    """Plot a line for each run: distribution of waits or bounded slowdowns, utilisation or queue over time.

    A PATH is a _jobs.csv file, the prefix given to -e, a folder with one such file, or a log (SWF, or the output
    of sacct --parsable2).
    """
    if picture.only is not None and kind == "queue":
        raise click.UsageError("'--only' does not go with 'queue': jobs that wait have no hosts yet")
    schedules = read_drawn(paths, picture, places_needed=picture.only is not None)
    window = picture.window_on(schedules)
    write_picture(
        "plot", "curves", picture, lambda paper: paper.curves_figure(kind, schedules, window, **picture.looks)
    )
