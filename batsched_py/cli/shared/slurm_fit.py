"""`batsched-py slurm fit`: a replay of a log, and its waits compared with the recorded ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import orjson
from msgspec import Struct, to_builtins
from msgspec.structs import replace
from rich import box
from rich.table import Table
from rich.text import Text

from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import INPUT, flag, option, read_assignments
from batsched_py.cli.shared.simulation_options import behaviour_options, machine_options, platform_option, read_machine
from batsched_py.cli.shared.terminal import put, say, say_all, warn, warn_all
from batsched_py.cli.shared.time_window import window_options
from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.model.platform import PlatformHost
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.reporting.metrics.wait_fit import (
    NEAR_SECONDS,
    NEAR_SHARE,
    ClassFit,
    WaitFit,
    check_recorded,
    fit_waits,
)
from batsched_py.reporting.schedules.time_window import WindowChoice
from batsched_py.runs.simulate import simulate
from batsched_py.text.display import displayed
from batsched_py.text.wording import aligned, counted, unlike
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.formats import SLURM_FORMATS, ReadOptions, find_format
from batsched_py.traces.swf_log import SwfLog

#: Maximum number of classes in the table; JSON has all.
_MOST: Final = 10
#: Maximum number of reasons of rejections that are shown.
_MOST_REASONS: Final = 5
#: Properties of hosts whose resources jobs may share.
_RESOURCES: Final = frozenset({"cpu", "mem", "gpus", "capacity"})


class FitRequest(Struct, frozen=True):
    """The options of `slurm fit`."""

    log: Path
    platform: Path
    assignments: Mapping[str, str]
    window: WindowChoice
    settings: Settings
    events: Path | None


@typed_command()
@click.argument("log", type=INPUT, metavar="LOG")
@platform_option
@option(
    "-o --option assignments",
    "KEY=VALUE",
    "An option of the algorithm slurm, such as conf=slurm.conf; may be given several times.",
    multiple=True,
    callback=read_assignments,
)
@window_options("Compare what was submitted")
@flag("--json as_json", "Print JSON: one object, with all classes.")
@machine_options
@behaviour_options
def fit(request: FitRequest, *, as_json: bool) -> None:
    """Replay LOG with the algorithm slurm, and compare replayed and recorded waits.

    LOG is the output of sacct --parsable2, or a workload of convert --recorded-waits. Unless -o says otherwise, delays
    are those of recordings, and date is that of the log's start.

    Classes of jobs (user, account, QOS, partition, size, run time) are named if they have more of the deviation than of
    the jobs.
    """
    platform, settings = read_machine(request.platform, request.events, request.settings)
    hosts = platform.with_roles(settings.roles).compute_hosts(settings.master_host)[: settings.machines]
    workload = _read_recorded(request.log, hosts)
    options = {**_fitting(workload, request.assignments), **request.assignments}
    run = simulate(platform, workload, "slurm", options, settings=settings, warn=Warnings())
    schedule = replace(run.schedule, name=str(request.log), log_start=workload.log_start, source=str(request.log))
    window = request.window.on(schedule)
    found = fit_waits(schedule if window is None else window.submitted(schedule))
    for reason in unlike(run.rejections.values())[:_MOST_REASONS]:
        warn(f"rejected: {displayed(reason)}")
    if as_json:
        put(orjson.dumps(to_builtins(found), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE), is_json=True)
    else:
        _show_fit(found)


def _fitting(workload: Workload, assignments: Mapping[str, str]) -> dict[str, Any]:
    """Return the options with which a replay is closest to a real controller; a clock that is set replaces the date."""
    start = workload.log_start
    if start is None or ("clock" in assignments and "reservations" not in assignments):
        return {"delays": "recorded"}
    second = str(60 * start.minute + start.second)
    if "date" not in assignments and assignments.get("clock", second) not in {"0", second}:
        rule = f"date is the log's start, {start.isoformat()}, as reservations need one"
        raise click.UsageError(f"-o clock: must be {second} or left out, not {assignments['clock']}: {rule}")
    return {"delays": "recorded", "date": start.isoformat()}


def _read_recorded(log: Path, hosts: Sequence[PlatformHost]) -> Workload:
    """Return the jobs of Slurm's accounting, or of a workload, with their recorded waits; report what is left out.

    Jobs request parts of the hosts if these have resources, whole hosts otherwise. InputError.
    """
    form, limits = find_format(log, current_limits()), current_limits()
    if _is_empty(log):
        raise click.UsageError(f"{log} is empty: slurm fit needs the output of sacct, or a workload")
    if form.content is SwfLog and form not in SLURM_FORMATS:
        raise click.UsageError(f"{log} is no output of sacct: make a workload of it with 'convert --recorded-waits'")
    shared = any(_RESOURCES & {*host.zone_properties, *host.properties} for host in hosts)
    options = ReadOptions(limits, "nodes", dependencies=True, demands=shared, slurm=True)
    content = form.read(log, options if form in SLURM_FORMATS else ReadOptions(limits))
    if isinstance(content, SwfLog):
        rules = CleaningRules(
            hosts=len(hosts), dependencies=True, demands=shared, slurm_members=True, recorded_waits=True
        )
        content, report = clean(content, rules)
        say_all(report.lines(), err=True)
    if not isinstance(content, Workload):
        raise click.UsageError(f"{log} has no jobs: slurm fit needs the output of sacct, or a workload")
    warn_all(content.notes)
    check_recorded(content)
    if strangers := sum(not job.user for job in content.jobs):
        warn(f"{counted(strangers, 'job')} without a user: {'it counts' if strangers == 1 else 'they count'} as root's")
    return content


def _is_empty(log: Path) -> bool:
    """Return whether a file has no text. WorkloadError."""
    if not log.is_file():  # the text of a pipe would be gone
        return False
    with reported(log, WorkloadError):
        return not any(line.strip() for line in read_lines(log, current_limits()))


def _show_fit(fit: WaitFit) -> None:
    """Print the fit."""
    say_all(_summary(fit))
    say()
    show_table(_waits_table(fit))
    say()
    if not fit.deviating:
        say("No class of jobs has more than its part of the deviation.")
        return
    say("Classes with more than their part of the deviation:")
    show_table(_classes_table(fit.deviating[:_MOST]))
    left = len(fit.deviating) - _MOST
    if left > 0:
        say(f"and {counted(left, 'more class', 'more classes')} in --json")


def _summary(fit: WaitFit) -> Iterator[str]:
    yield f"{counted(fit.jobs, 'job')} compared"
    if fit.without_record:
        yield f"{counted(fit.without_record, 'job')} without a recorded wait"
    if fit.did_not_run:
        yield f"{counted(fit.did_not_run, 'job')} did not run in the replay"
    near = f"within {NEAR_SECONDS:g} s or {100 * NEAR_SHARE:g} %"
    yield f"{near} of the recorded wait: {100 * fit.within_share:.1f} % ({counted(fit.within, 'job')})"
    difference, deviation = aligned([fit.mean_difference, fit.mean_deviation], 1)
    yield f"difference (replayed - recorded): mean {_signed([difference])[0]} s, mean without sign {deviation} s"


def _waits_table(fit: WaitFit) -> Table:
    table = _table("wait [s]", "mean", "median", "90th pct.", "95th pct.", "maximum")
    rows = {"recorded": fit.recorded, "replayed": fit.replayed}
    columns = [aligned([getattr(one, name) for one in rows.values()], 1) for name in fit.recorded.__struct_fields__]
    for name, *cells in zip(rows, *columns, strict=True):
        table.add_row(name, *cells)
    return table


def _classes_table(classes: list[ClassFit]) -> Table:
    table = _table("class", "% of deviation", "% of jobs", "jobs", "recorded", "replayed", "difference", "within %")
    columns = [
        aligned([100 * one.deviation_share for one in classes], 1),
        aligned([100 * one.jobs_share for one in classes], 1),
        [str(one.jobs) for one in classes],
        aligned([one.recorded_mean_wait for one in classes], 1),
        aligned([one.replayed_mean_wait for one in classes], 1),
        _signed(aligned([one.mean_difference for one in classes], 1)),
        aligned([100 * one.within / one.jobs for one in classes], 1),
    ]
    for one, *cells in zip(classes, *columns, strict=True):
        table.add_row(Text(displayed(f"{one.by} {one.group}")), *cells)
    return table


def _signed(numbers: Sequence[str]) -> list[str]:
    return [number if number.startswith("-") else f"+{number}" for number in numbers]


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
