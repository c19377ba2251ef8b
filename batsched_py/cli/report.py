"""`batsched-py report`: a page that shows runs, and what differs between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from batsched_py.cli.extras import require
from batsched_py.cli.parameters import PATH, debug_option
from batsched_py.cli.targets import check_apart, check_writable, make_folder, write_failure
from batsched_py.reporting.html.document import report_page
from batsched_py.reporting.html.plotlyjs import plotly_js
from batsched_py.reporting.schedule import Schedule, read_schedule
from batsched_py.simulator.outputs import CONSUMED_ENERGY, JOBS, MACHINE_STATES, PSTATE_CHANGES, SCHEDULE
from batsched_py.traces.atomic_file import write_atomically


@click.command("report")
@click.argument("paths", type=PATH, nargs=-1, required=True, metavar="OUT [OUT2 ...]")
@click.option("-o", "--output", type=PATH, required=True, metavar="FILE", help="The page, HTML.")
@click.option("--name", "names", multiple=True, metavar="NAME", help="What each run is called, in their order.")
@click.option("--hosts", type=click.IntRange(min=1), metavar="N", help="Compute hosts, where the files do not tell.")
@click.option("--title", default="", metavar="TEXT", help="The page's heading. Default: the names of the runs.")
@debug_option
def command(*, paths: Sequence[Path], output: Path, names: Sequence[str], hosts: int | None, title: str) -> None:
    """Show runs on one page that needs no network: figures, Gantt charts, charts over time, distributions.

    OUT is a folder with one _jobs.csv, the prefix of Batsim's option -e, a _jobs.csv or a log (.swf, .swf.gz). With
    several runs, each is compared with the first.
    """
    if names and len(names) != len(paths):
        raise click.UsageError(f"'--name' must be given once for each of the {len(paths)} runs, or not at all")
    require("plotly", "report", "report")
    check_writable([output])
    schedules = [
        read_schedule(path, hosts=hosts, name=names[number] if names else None) for number, path in enumerate(paths)
    ]
    check_apart([("OUT", path) for schedule in schedules for path in _files(schedule)], [("-o", output)])
    page = report_page(schedules if names else _told_apart(schedules), plotly_js(), title)
    make_folder(output)
    try:
        write_atomically(output, page)
    except OSError as error:
        raise write_failure(output, error) from error
    click.echo(f"wrote {output}: {len(page) / 1e6:.1f} MB")


def _files(schedule: Schedule) -> list[Path]:
    """The files that a schedule may have been read from."""
    prefix = schedule.source.removesuffix(JOBS)
    endings = (SCHEDULE, MACHINE_STATES, CONSUMED_ENERGY, PSTATE_CHANGES)
    return [Path(schedule.source), *(Path(prefix + ending) for ending in endings)]


def _told_apart(schedules: Sequence[Schedule]) -> list[Schedule]:
    """Runs of the same name get that of their folder before it, and a number if that does not help."""
    names = Counter(schedule.name for schedule in schedules)
    longer = [
        f"{Path(schedule.source).absolute().parent.name}/{schedule.name}" if names[schedule.name] > 1 else schedule.name
        for schedule in schedules
    ]
    seen: Counter[str] = Counter()
    told = []
    for schedule, name in zip(schedules, longer, strict=True):
        seen[name] += 1
        told.append(replace(schedule, name=f"{name} ({seen[name]})" if seen[name] > 1 else name))
    return told
