"""`batsched-py report`: a page that shows runs, and what differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from batsched_py.cli.extras import require
from batsched_py.cli.parameters import PATH, debug_option
from batsched_py.cli.targets import check_apart, check_writable, make_folder, write_failure
from batsched_py.reporting.html.document import report_page
from batsched_py.reporting.html.plotlyjs import plotly_js
from batsched_py.reporting.read.members import with_members
from batsched_py.reporting.read.schedule import Schedule, files_of, read_schedules
from batsched_py.traces.atomic_file import write_atomically
from batsched_py.traces.batsim_json import read_workload


@click.command("report")
@click.argument("paths", type=PATH, nargs=-1, required=True, metavar="OUT [OUT2 ...]")
@click.option("-o", "--output", type=PATH, required=True, metavar="FILE", help="The page, HTML.")
@click.option("--name", "names", multiple=True, metavar="NAME", help="What each run is called, in their order.")
@click.option(
    "-w",
    "--workload",
    "workloads",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="The workload that was run: users and deadlines of its jobs.",
)
@click.option("--hosts", type=click.IntRange(min=1), metavar="N", help="Compute hosts. Default: what the files say.")
@click.option("--title", default="", metavar="TEXT", help="The page's heading. Default: the names of the runs.")
@debug_option
def command(
    *,
    paths: Sequence[Path],
    output: Path,
    names: Sequence[str],
    workloads: Sequence[Path],
    hosts: int | None,
    title: str,
) -> None:
    """Show runs on one page that needs no network: figures, Gantt charts, charts over time, distributions.

    OUT is a folder with one _jobs.csv, the prefix of Batsim's option -e, a _jobs.csv or a log (.swf, .swf.gz). With
    several runs, each is compared with the first.
    """
    if names and len(names) != len(paths):
        raise click.UsageError(f"'--name' must be given once for each of the {len(paths)} runs, or not at all")
    require("plotly", "report", "report")
    inputs = [("OUT", file) for path in paths for file in files_of(path)]
    check_apart([*dict.fromkeys(inputs), *(("-w", path) for path in workloads)], [("-o", output)])
    check_writable([output])
    schedules = _read(paths, names, hosts, workloads)
    page = report_page(schedules, plotly_js(), title)
    make_folder(output)
    try:
        write_atomically(output, page)
    except OSError as error:
        raise write_failure(output, error) from error
    click.echo(f"wrote {output}: {len(page) / 1e6:.1f} MB")


def _read(
    paths: Sequence[Path], names: Sequence[str], hosts: int | None, workloads: Sequence[Path]
) -> Sequence[Schedule]:
    """The runs, called as the user says, with the members of their jobs that only workloads tell."""
    schedules = read_schedules(paths, hosts=hosts)
    if names:
        schedules = [replace(schedule, name=name) for schedule, name in zip(schedules, names, strict=True)]
    if not workloads:
        return schedules
    read = [read_workload(path, simulated_only=False) for path in workloads]
    return [with_members(schedule, read) for schedule in schedules]
