"""`batsched-py report`: a page with runs and the differences between them."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import Struct

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.parameters import PATH, option
from batsched_py.cli.shared.runs import (
    hosts_option,
    members_option,
    paths_argument,
    read_decisions,
    read_runs,
    read_signals_of,
    tau_option,
    write_file,
)
from batsched_py.cli.shared.terminal import say, warn_all
from batsched_py.cli.shared.time_window import window_options
from batsched_py.loading import require
from batsched_py.reporting.pictures.html.document import plotly_js, report_page, warnings
from batsched_py.reporting.schedules.decisions_table import with_outages
from batsched_py.reporting.schedules.time_window import WindowChoice
from batsched_py.reporting.waits.explained_waits import ExplainedWaits
from batsched_py.reporting.waits.history import RunHistory


class ReportRequest(Struct, frozen=True):
    """The options of `report`."""

    paths: tuple[Path, ...]
    output: Path
    names: tuple[str, ...]
    workloads: tuple[Path, ...]
    hosts: int | None
    tau: float
    title: str
    window: WindowChoice
    by: tuple[str, ...]


@typed_command()
@paths_argument
@option("-o --output", "FILE", "The page, HTML.", type=PATH, required=True)
@option("--name names", "NAME", "What each run is called, in their order.", multiple=True)
@members_option
@hosts_option
@tau_option
@window_options("Show what happened, and measure what was submitted,")
@option(
    "--by",
    "MEMBER",
    "Table of groups of jobs by this job field; may be given several times. Default: user, if known.",
    multiple=True,
)
@option("--title", "TEXT", "The page's heading. Default: the names of the runs.", default="")
def command(request: ReportRequest) -> None:
    """Create one HTML page that shows runs: metrics, Gantt charts, charts over time, distributions.

    A PATH is a _jobs.csv file, the prefix given to -e, a folder with one such file, or a log (SWF, or the output
    of sacct --parsable2). With several runs, each is compared with the first. The page needs no network.
    """
    paths, names, output = request.paths, request.names, request.output
    if names and len(names) != len(paths):
        raise click.UsageError(f"'--name' must be given once for each of the {len(paths)} runs, or not at all")
    require("plotly", "report", "report")
    schedules = read_runs(paths, request.workloads, output, request.hosts, names)
    warn_all(warnings(schedules))
    window = None if request.window.whole else request.window.on_all(schedules)
    decisions = [read_decisions(schedule) for schedule in schedules]
    histories = [
        RunHistory(with_outages(schedule, found), found) for schedule, found in zip(schedules, decisions, strict=True)
    ]
    explained = ExplainedWaits.of(histories, window)
    page = report_page(
        [history.schedule for history in histories],
        plotly_js(),
        request.title,
        request.tau,
        window=window,
        by=request.by,
        waits=explained.waits,
        explanations=explained.explanations,
        signals=[read_signals_of(schedule) for schedule in schedules],
    )
    write_file(output, page)
    say(f"wrote {output}: {len(page) / 1e6:.1f} MB")
