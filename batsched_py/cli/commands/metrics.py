"""`batsched-py metrics`: the metrics of runs, for people, programs and papers."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Final

import click
import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import asdict
from rich.console import Console
from rich.table import Table

from batsched_py.cli.shared.command import takes
from batsched_py.cli.shared.console import WIDEST, Output, needed_width, show_whole
from batsched_py.cli.shared.parameters import PATH, flag, option
from batsched_py.cli.shared.runs import (
    hosts_option,
    members_option,
    paths_argument,
    read_runs,
    tau_option,
    told_runs,
    write_file,
)
from batsched_py.cli.shared.terminal import put, say
from batsched_py.reporting.metrics import over_time
from batsched_py.reporting.metrics.batsim_metrics import BatsimMetrics, batsim_metrics
from batsched_py.reporting.metrics.job_metrics import COLUMNS, job_rows, measure_jobs
from batsched_py.reporting.metrics.lease_metrics import lease_hosts
from batsched_py.reporting.metrics.run_metrics import RunMetrics, measure_run
from batsched_py.reporting.metrics.steps import Steps, side_by_side
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND
from batsched_py.reporting.metrics.tables import batsim_cell, batsim_table, metrics_table
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.text.display import spreadsheet_cell

#: Series -> a function that makes its columns, besides run and time.
_SERIES: Final[Mapping[str, Callable[[Schedule], Mapping[str, Steps]]]] = {
    "utilisation": lambda schedule: {"utilisation": over_time.utilisation(schedule)},
    "busy": lambda schedule: {"busy_hosts": over_time.busy_hosts(schedule)},
    "running": lambda schedule: {"running_jobs": over_time.running_jobs(schedule)},
    "queue": lambda schedule: {
        "waiting_jobs": over_time.queue_length(schedule),
        "asked_hosts": over_time.queued_hosts(schedule),
    },
    "fragmentation": lambda schedule: {"fragmentation": over_time.fragmentation(schedule)},
    "states": lambda schedule: {f"{state}_hosts": steps for state, steps in over_time.host_states(schedule).items()},
    "leases": lease_hosts,
    "power": lambda schedule: {"watts": over_time.power(schedule)},
}

#: Ending of a file -> format.
_FORMATS: Final = {".csv": "csv", ".json": "json"}


class MetricsRequest(Struct, frozen=True):
    """The options of `metrics`."""

    paths: tuple[Path, ...]
    form: str | None
    output: Path | None
    per_job: bool
    series: str | None
    batsim: bool
    tau: float
    hosts: int | None
    workloads: tuple[Path, ...]

    @property
    def wanted_form(self) -> str | None:
        """The format of --format, or of the file's ending; None if neither says."""
        return _FORMATS.get(self.output.suffix) if self.form is None and self.output is not None else self.form


@takes(MetricsRequest)
@paths_argument
@option(
    "--format form",
    None,
    "A table for people, or a row or an object for each run. Default: what FILE ends in, else table.",
    type=click.Choice(["table", "csv", "json"]),
)
@option("-o --output", "FILE", "Write to FILE instead.", type=PATH)
@flag("--per-job", "A row for each job, CSV, with Batsim's columns and ours.")
@option("--series", None, "A quantity over time, in steps, CSV.", type=click.Choice(list(_SERIES)))
@flag("--batsim", "Batsim's own figures, by its names and definitions, from the jobs.")
@tau_option
@hosts_option
@members_option
def command(request: MetricsRequest) -> None:
    """Show the figures of runs, side by side.

    A PATH is a _jobs.csv of Batsim or of simulate, the prefix of its option -e, a folder with one such file, or a log
    in SWF. docs/metrics.md defines each figure.
    """
    _check_usage(request)
    schedules = read_runs(request.paths, request.workloads, request.output, request.hosts)
    if request.series is not None:
        _put(request.output, _csv(_series_rows(request.series, schedules)))
    elif request.per_job:
        _put(request.output, _csv(_job_rows(schedules, request.tau)))
    elif request.wanted_form == "csv":
        _put(request.output, _csv(_run_rows(schedules, request.tau, batsim=request.batsim)))
    elif request.wanted_form == "json":
        _put(request.output, _json(schedules, request.tau), is_json=True)
    else:
        _put_tables(request, schedules)


def _check_usage(request: MetricsRequest) -> None:
    """Refuse options that do not go together. UsageError."""
    batsim, form = request.batsim, request.wanted_form
    per_job, series = request.per_job, request.series is not None
    if per_job + series + batsim > 1:
        raise click.UsageError("'--per-job', '--series' and '--batsim' are different things to show: choose one")
    if (per_job or series) and form not in (None, "csv"):
        raise click.UsageError(f"'--per-job' and '--series' give CSV, not '--format {form}'")
    if batsim and form == "json":
        raise click.UsageError("'--batsim' does not go with JSON, which has Batsim's figures beside ours anyway")
    if batsim and request.tau != SLOWDOWN_BOUND:
        raise click.UsageError("'--tau' does not go with '--batsim': Batsim's slowdowns have no bound")


def _put_tables(request: MetricsRequest, schedules: Sequence[Schedule]) -> None:
    names = [schedule.name for schedule in schedules]
    if request.batsim:
        theirs = [batsim_metrics(schedule) for schedule in schedules]
        _put_table(request.output, schedules, lambda runs: batsim_table(names[runs], theirs[runs]))
    else:
        ours = [measure_run(schedule, request.tau) for schedule in schedules]
        _put_table(request.output, schedules, lambda runs: metrics_table(names[runs], ours[runs]))


def _run_rows(schedules: Sequence[Schedule], tau: float, *, batsim: bool) -> Iterator[Sequence[str]]:
    yield ("run", *(BatsimMetrics if batsim else RunMetrics).__struct_fields__)
    for schedule in schedules:
        if batsim:
            yield (schedule.name, *map(batsim_cell, asdict(batsim_metrics(schedule)).values()))
        else:
            values = asdict(measure_run(schedule, tau)).values()
            yield (schedule.name, *("" if value is None else str(value) for value in values))


def _job_rows(schedules: Iterable[Schedule], tau: float) -> Iterator[Sequence[str]]:
    """Make rows with the run last: readers of Batsim's files find the columns where they look for them."""
    yield (*COLUMNS, "run")
    for schedule in schedules:
        for row in job_rows(measure_jobs(schedule, tau)):
            yield (*row, schedule.name)


def _series_rows(name: str, schedules: Sequence[Schedule]) -> Iterator[Sequence[str]]:
    found = [_SERIES[name](schedule) for schedule in schedules]
    columns = list(dict.fromkeys(column for each in found for column in each))
    yield ("run", "time", *columns)
    for schedule, series in zip(schedules, found, strict=True):
        if not any(series.values()):
            raise click.UsageError(f"'--series {name}': the files of {schedule.name} do not tell it")
        for time, values in side_by_side([series.get(column, []) for column in columns]):
            yield (schedule.name, str(time), *("" if value is None else str(value) for value in values))


def _csv(rows: Iterable[Sequence[str]]) -> bytes:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(spreadsheet_cell, row) for row in rows)
    return text.getvalue().encode()


def _json(schedules: Sequence[Schedule], tau: float) -> bytes:
    runs = [
        {
            "run": schedule.name,
            "source": schedule.source,
            "notes": schedule.notes,
            **({} if schedule.run is None else {"provenance": msgspec.to_builtins(schedule.run)}),
            "figures": asdict(measure_run(schedule, tau)),
            "batsim": asdict(batsim_metrics(schedule)),
        }
        for schedule in schedules
    ]
    return orjson.dumps({"tau": tau, "runs": runs}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _put(output: Path | None, content: bytes, *, is_json: bool = False) -> None:
    if output is None:
        put(content, is_json=is_json)
        return
    write_file(output, content)


def _put_table(output: Path | None, schedules: Sequence[Schedule], make: Callable[[slice], Table]) -> None:
    """Show as many runs beside each other as fit on a terminal, the others below; elsewhere, write the full width.

    Below them stands what was run.
    """
    console, count, told = Output(), len(schedules), told_runs(schedules)
    if output is None and console.is_terminal:
        for runs in _fitting(console, count, make):
            show_whole(make(runs))
        for line in told:
            say(line)
        return
    text = StringIO()
    Output(file=text, width=WIDEST, color_system=None, force_terminal=False).print(make(slice(count)))
    lines = "\n".join(line.rstrip() for line in text.getvalue().splitlines())
    below = "\n".join(["", "", *told]) if told else ""
    _put(output, f"{lines.strip(chr(10))}{below}\n".encode())


def _fitting(console: Console, count: int, make: Callable[[slice], Table]) -> Iterator[slice]:
    """Yield blocks of runs that fit beside each other, each of at least one."""
    begin = 0
    for end in range(1, count):
        if needed_width(make(slice(begin, end + 1))) > console.width:
            yield slice(begin, end)
            begin = end
    yield slice(begin, count)
