"""`batsched-py metrics`: the metrics of runs, side by side."""

from __future__ import annotations

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

from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.console import WIDEST, Output, needed_width, show_table, show_whole
from batsched_py.cli.shared.parameters import INPUT, PATH, flag, option
from batsched_py.cli.shared.runs import (
    hosts_option,
    members_option,
    paths_argument,
    read_runs,
    read_signals_of,
    run_titles,
    tau_option,
    write_file,
)
from batsched_py.cli.shared.signal_options import signal_options
from batsched_py.cli.shared.terminal import put, say_all, warn_all
from batsched_py.cli.shared.time_window import window_options
from batsched_py.files.table_file import csv_rows
from batsched_py.model.step_signal import StepSignal
from batsched_py.reporting.metrics import over_time
from batsched_py.reporting.metrics.batsim_metrics import BatsimMetrics, batsim_metrics
from batsched_py.reporting.metrics.breakdown import GroupMetrics, break_down
from batsched_py.reporting.metrics.catalogue import RunMetrics, metric_names
from batsched_py.reporting.metrics.critical_path import CRITICAL_COLUMNS, critical_path
from batsched_py.reporting.metrics.job_metrics import COLUMNS, job_rows
from batsched_py.reporting.metrics.lease_metrics import lease_hosts
from batsched_py.reporting.metrics.locality import LOCALITY_COLUMNS, Locality
from batsched_py.reporting.metrics.machine_groups import EnergySignals
from batsched_py.reporting.metrics.run_metrics import measure_run
from batsched_py.reporting.metrics.steps import Steps, between, side_by_side
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND
from batsched_py.reporting.metrics.tables import batsim_cell, batsim_table, breakdown_table, metrics_table
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.time_window import TimeWindow, WindowChoice
from batsched_py.traces.simgrid_xml import read_platform

#: Series -> function for its columns other than run and time.
_SERIES: Final[Mapping[str, Callable[[Schedule], Mapping[str, Steps]]]] = {
    "utilisation": lambda schedule: {"utilisation": over_time.utilisation(schedule)},
    "busy": lambda schedule: {"busy_hosts": over_time.busy_hosts(schedule)},
    "running": lambda schedule: {"running_jobs": over_time.running_jobs(schedule)},
    "queue": lambda schedule: {
        "waiting_jobs": over_time.queue_length(schedule),
        "asked_hosts": over_time.queued_hosts(schedule),
    },
    "fragmentation": lambda schedule: {"fragmentation": over_time.fragmentation(schedule)},
    "resources": over_time.allocated_resources,
    "requested": over_time.requested_resources,
    "gpu-fragmentation": lambda schedule: {"gpu_fragmentation": over_time.gpu_fragmentation(schedule)},
    "states": lambda schedule: {f"{state}_hosts": steps for state, steps in over_time.host_states(schedule).items()},
    "leases": lease_hosts,
    "power": lambda schedule: {"watts": over_time.power(schedule)},
}


_JSON: Final = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
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
    window: WindowChoice
    by: str | None
    platform: Path | None
    critical_path: bool
    carbon: StepSignal | None
    price: StepSignal | None

    def measure(self, schedule: Schedule) -> RunMetrics:
        """Return the metrics of a run in the requested window. OptionError."""
        given = EnergySignals(self.carbon, self.price)
        signals = read_signals_of(schedule, given)
        return measure_run(schedule, self.tau, self.window.on(schedule), signals)

    def part(self, schedule: Schedule) -> Schedule:
        """Return the jobs of a run submitted in the requested window. OptionError."""
        window = self.window.on(schedule)
        return schedule if window is None else window.submitted(schedule)

    @property
    def wanted_form(self) -> str | None:
        """The format given by --format, or by the file's ending; None if neither specifies one."""
        return _FORMATS.get(self.output.suffix) if self.form is None and self.output is not None else self.form


@typed_command()
@paths_argument
@option(
    "--format form",
    None,
    "A table, or a row or an object for each run. Default: by the extension of FILE, else table.",
    type=click.Choice(["table", "csv", "json"]),
)
@option("-o --output", "FILE", "Write to FILE instead.", type=PATH)
@flag("--per-job", "A row for each job, CSV, with Batsim's columns and additional ones.")
@option("--series", None, "A quantity over time, in steps, CSV.", type=click.Choice(list(_SERIES)))
@option(
    "--by",
    "user|size|runtime|MEMBER",
    "Waits and slowdowns for each user, class of sizes, class of run times, or value of another job field.",
)
@flag("--batsim", "Batsim's own figures, by its names and definitions, from the jobs.")
@flag("--critical-path", "The chain of dependent jobs at whose end a run ends, CSV.")
@option("-p --platform", "FILE", "With --per-job: links, switches and groups of each job on this platform.", type=INPUT)
@signal_options
@tau_option
@hosts_option
@members_option
@window_options("Measure what was submitted")
def command(request: MetricsRequest) -> None:
    """Show the metrics of runs, side by side.

    A PATH is a _jobs.csv file, the prefix given to -e, a folder with one such file, or a log (SWF, or the output
    of sacct --parsable2). docs/metrics.md defines each metric.
    """
    _check_usage(request)
    schedules = read_runs(request.paths, request.workloads, request.output, request.hosts)
    if request.by is not None:
        _put_breakdown(request, request.by, schedules)
    elif request.series is not None:
        _put(request.output, csv_rows(_series_rows(request.series, schedules, request.window)))
    elif request.critical_path:
        _put(request.output, csv_rows(_critical_rows(schedules)))
    elif request.per_job:
        _put(request.output, csv_rows(_job_rows(schedules, request.tau, request.window, _locality(request))))
    elif request.wanted_form == "csv":
        _put(request.output, csv_rows(_run_rows(request, schedules)))
    elif request.wanted_form == "json":
        _put(request.output, _json(request, schedules), is_json=True)
    else:
        _put_tables(request, schedules)


def _check_usage(request: MetricsRequest) -> None:
    """Refuse incompatible options. UsageError."""
    batsim, form = request.batsim, request.wanted_form
    per_job, series = request.per_job, request.series is not None
    critical = request.critical_path
    if per_job + series + batsim + critical + (request.by is not None) > 1:
        raise click.UsageError(
            "'--per-job', '--series', '--by', '--critical-path' and '--batsim' are different things to show: choose one"
        )
    if (per_job or series or critical) and form not in (None, "csv"):
        raise click.UsageError(f"'--per-job', '--series' and '--critical-path' give CSV, not '--format {form}'")
    if critical and not request.window.whole:
        raise click.UsageError("'--critical-path' does not go with '--from', '--to' and '--skip': a path is of a run")
    if request.platform is not None and not per_job:
        raise click.UsageError("'--platform' goes with '--per-job': it adds the locality of each job")
    if batsim and form == "json":
        raise click.UsageError("'--batsim' cannot be combined with JSON, which always has Batsim's metrics")
    if batsim and request.tau != SLOWDOWN_BOUND:
        raise click.UsageError("'--tau' does not go with '--batsim': Batsim's slowdowns have no bound")
    if batsim and not request.window.whole:
        raise click.UsageError("'--batsim' does not go with '--from', '--to' and '--skip': Batsim measures whole runs")


def _put_tables(request: MetricsRequest, schedules: Sequence[Schedule]) -> None:
    names = [schedule.name for schedule in schedules]
    if request.batsim:
        of_batsim = [batsim_metrics(schedule) for schedule in schedules]
        _put_table(request.output, schedules, lambda runs: batsim_table(names[runs], of_batsim[runs]))
    else:
        measured = list(map(request.measure, schedules))
        _put_table(request.output, schedules, lambda runs: metrics_table(names[runs], measured[runs]))


def _put_breakdown(request: MetricsRequest, by: str, schedules: Sequence[Schedule]) -> None:
    """Show the metrics of groups of jobs. InputError for a member that no job has, OptionError for the window."""
    names, windows = [schedule.name for schedule in schedules], list(map(request.window.on, schedules))
    found = [break_down(request.part(schedule), by, request.tau) for schedule in schedules]
    if request.wanted_form == "csv":
        _put(request.output, csv_rows(_group_rows(by, names, windows, found)))
    elif request.wanted_form == "json":
        runs = [
            {"run": name, "window": window, "groups": groups}
            for name, window, groups in zip(names, windows, found, strict=True)
        ]
        content = msgspec.to_builtins({"tau": request.tau, "by": by, "runs": runs})
        _put(request.output, orjson.dumps(content, option=_JSON), is_json=True)
    else:
        notes = [f"measured: jobs submitted {request.window}"] if not request.window.whole else []
        table, below = breakdown_table(by, names, found), [*notes, *run_titles(schedules)]
        if request.output is None and Output().is_terminal:
            show_table(table)
            say_all(below)
        else:
            _write_table(request.output, table, below)


def _group_rows(
    by: str, names: Sequence[str], windows: Sequence[TimeWindow | None], found: Sequence[Sequence[GroupMetrics]]
) -> Iterator[Sequence[str]]:
    yield ("run", "by", *GroupMetrics.__struct_fields__, "window_begin", "window_end")
    for name, window, groups in zip(names, windows, found, strict=True):
        where = ("", "") if window is None else (str(window.begin), str(window.end))
        for group in groups:
            yield (name, by, *("" if value is None else str(value) for value in asdict(group).values()), *where)


def _run_rows(request: MetricsRequest, schedules: Sequence[Schedule]) -> Iterator[Sequence[str]]:
    if request.batsim:
        yield ("run", *BatsimMetrics.__struct_fields__)
        for schedule in schedules:
            yield (schedule.name, *map(batsim_cell, asdict(batsim_metrics(schedule)).values()))
        return
    runs = list(map(request.measure, schedules))
    names = metric_names(runs)
    yield ("run", *names)
    for schedule, run in zip(schedules, runs, strict=True):
        values = (getattr(run, name) for name in names)
        yield (schedule.name, *("" if value is None else str(value) for value in values))


def _locality(request: MetricsRequest) -> Locality | None:
    """Return what measures the hops of jobs, if a platform is given. PlatformError."""
    if request.platform is None:
        return None
    platform = read_platform(request.platform, limits=current_limits())
    warn_all(platform.notes)
    return Locality(platform)


def _job_rows(
    schedules: Iterable[Schedule], tau: float, wanted: WindowChoice, locality: Locality | None
) -> Iterator[Sequence[str]]:
    """Build rows with the run in the last column: the others are at the positions of Batsim's files."""
    yield (*COLUMNS, *(() if locality is None else LOCALITY_COLUMNS), "run", *_window_columns(wanted))
    for schedule in schedules:
        window = wanted.on(schedule)
        part = schedule if window is None else window.submitted(schedule)
        for record, row in zip(part.jobs, job_rows(part, tau), strict=True):
            hops = () if locality is None else locality.cells(record, part.hosts)
            yield (*row, *hops, schedule.name, *_window_cells(window))


def _critical_rows(schedules: Iterable[Schedule]) -> Iterator[Sequence[str]]:
    """Build the rows of the critical paths. OptionError."""
    yield ("run", *CRITICAL_COLUMNS)
    for schedule in schedules:
        for job in critical_path(schedule):
            yield (schedule.name, *job.cells())


def _series_rows(name: str, schedules: Sequence[Schedule], wanted: WindowChoice) -> Iterator[Sequence[str]]:
    found = [_SERIES[name](schedule) for schedule in schedules]
    columns = list(dict.fromkeys(column for each in found for column in each))
    yield ("run", "time", *columns, *_window_columns(wanted))
    for schedule, series in zip(schedules, found, strict=True):
        if not any(series.values()):
            raise click.UsageError(f"'--series {name}': the files of {schedule.name} do not tell it")
        steps, window = [series.get(column, []) for column in columns], wanted.on(schedule)
        if window is not None:
            steps = [between(one, window.begin, window.end) for one in steps]
        for time, values in side_by_side(steps):
            cells = ("" if value is None else str(value) for value in values)
            yield (schedule.name, str(time), *cells, *_window_cells(window))


def _window_columns(wanted: WindowChoice) -> Sequence[str]:
    """Return the columns of the window, under the names of metrics; none for whole runs."""
    return () if wanted.whole else ("window_begin", "window_end")


def _window_cells(window: TimeWindow | None) -> Sequence[str]:
    return () if window is None else (str(window.begin), str(window.end))


def _json(request: MetricsRequest, schedules: Sequence[Schedule]) -> bytes:
    """Return all data of the runs; Batsim's own metrics only for whole runs, for which Batsim defines them."""
    runs = [
        {
            "run": schedule.name,
            "source": schedule.source,
            "notes": schedule.notes,
            **({} if schedule.run is None else {"provenance": msgspec.to_builtins(schedule.run)}),
            "figures": request.measure(schedule).by_name,
            "batsim": asdict(batsim_metrics(schedule)) if request.window.whole else None,
        }
        for schedule in schedules
    ]
    return orjson.dumps({"tau": request.tau, "runs": runs}, option=_JSON)


def _put(output: Path | None, content: bytes, *, is_json: bool = False) -> None:
    if output is None:
        put(content, is_json=is_json)
        return
    write_file(output, content)


def _put_table(output: Path | None, schedules: Sequence[Schedule], make: Callable[[slice], Table]) -> None:
    """Show as many runs side by side as fit on a terminal, others below them; elsewhere, write the full width.

    Descriptions of the runs follow.
    """
    console, count, notes = Output(), len(schedules), run_titles(schedules)
    if output is None and console.is_terminal:
        for runs in _fitting(console, count, make):
            show_whole(make(runs))
        say_all(notes)
    else:
        _write_table(output, make(slice(count)), notes)


def _write_table(output: Path | None, table: Table, below: Sequence[str]) -> None:
    text = StringIO()
    Output(file=text, width=WIDEST, color_system=None, force_terminal=False).print(table)
    lines = "\n".join(line.rstrip() for line in text.getvalue().splitlines())
    end = "\n".join(["", "", *below]) if below else ""
    _put(output, f"{lines.strip(chr(10))}{end}\n".encode())


def _fitting(console: Console, count: int, make: Callable[[slice], Table]) -> Iterator[slice]:
    """Yield blocks of runs that fit side by side, at least one in each."""
    begin = 0
    for end in range(1, count):
        if needed_width(make(slice(begin, end + 1))) > console.width:
            yield slice(begin, end)
            begin = end
    yield slice(begin, count)
