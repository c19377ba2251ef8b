"""`batsched-py convert`: make a workload from a log in the Standard Workload Format."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from batsched_py.cli.shared.command import current_limits, takes
from batsched_py.cli.shared.output_paths import check_apart, check_writable, make_folder
from batsched_py.cli.shared.parameters import HOSTS, PATH, flag, option
from batsched_py.cli.shared.terminal import say
from batsched_py.text.wording import counted
from batsched_py.traces.batsim_json import write_workload
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.swf import read_swf

_WALLTIME_NOTE: Final = (
    "note: with walltime = run time Batsim ends jobs when they end anyway, but as COMPLETED_WALLTIME_REACHED"
)


class ConvertRequest(Struct, frozen=True):
    """The options of `convert`."""

    log: Path
    output: Path
    rules: CleaningRules


@takes(ConvertRequest)
@click.argument("log", type=PATH, metavar="LOG.swf[.gz]")
@option("-o --output", "FILE", "The workload, Batsim JSON.", type=PATH, required=True)
@option(
    "--processors",
    None,
    "What a job's size is; where it is unknown, the other.",
    type=click.Choice(["requested", "used"]),
    default="requested",
)
@option(
    "--walltime",
    None,
    "The user's estimate, or the run time itself (perfect estimates).",
    type=click.Choice(["request", "run"]),
    default="request",
)
@option("--max-jobs", "N", "Only the first N jobs that are kept.", type=click.IntRange(min=1))
@option("--start", "S", "Leave out what was submitted before, in seconds.", type=float, default=0.0)
@option("--end", "S", "Leave out what was submitted then or later, in seconds.", type=float)
@option(
    "--hosts",
    "N",
    "Size of the machine; larger jobs are dropped. Default: what the log says.",
    type=HOSTS,
    callback=lambda _context, _option, hosts: hosts or 0,
)
@flag("--strict", "A job number that comes twice is an error.")
def command(request: ConvertRequest) -> None:
    """Make a workload of delay jobs from LOG, and tell how many jobs each cleaning rule dropped or corrected."""
    log, output = request.log, request.output
    check_apart([("LOG", log)], [("-o", output)])
    check_writable([output])
    workload, report = clean(read_swf(log, limits=current_limits()), request.rules)
    make_folder(output)
    write_workload(output, workload, description=f"made from {log.name} by batsched-py convert")
    for line in report.lines():
        say(line)
    if request.rules.walltime == "run":
        say(_WALLTIME_NOTE)
    size = f" for {counted(workload.host_count, 'host')}" if workload.host_count else ""
    say(f"wrote {output}{size}")
