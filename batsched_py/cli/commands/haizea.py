"""`batsched-py haizea`: runs of Haizea's configurations; samples, configurations for several runs, data of runs."""

from __future__ import annotations

import importlib
import os
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from batsched_py.cli.shared.command import COMMON, current_limits, typed_command
from batsched_py.cli.shared.described_runs import this_call
from batsched_py.cli.shared.output_paths import check_apart, check_writable
from batsched_py.cli.shared.parameters import PATH, flag, option
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.site_callers import CallerOptions
from batsched_py.cli.shared.terminal import put, say, say_all, warn, warn_all
from batsched_py.errors import InputError
from batsched_py.files.atomic_file import create_files_atomically, write_atomically
from batsched_py.files.output_file import make_folder, naming_errors, writing
from batsched_py.files.table_file import table_path
from batsched_py.haizea.config import HaizeaConfig
from batsched_py.haizea.data import RunData, counter_table, lease_table, read_data, run_table, write_data
from batsched_py.haizea.description import plain_options, plain_settings
from batsched_py.haizea.multi import SingleConfiguration, read_multi
from batsched_py.haizea.reader import read_config
from batsched_py.haizea.run import HaizeaRun
from batsched_py.haizea.run import run as run_config
from batsched_py.haizea.sample import KINDS, sample_files
from batsched_py.haizea.script import read_template, render_script
from batsched_py.model.table import Table, csv_text
from batsched_py.results.run_file import run_path
from batsched_py.runs.run_description import (
    Decider,
    RunInputs,
    RunOrigin,
    other_files,
    platform_file,
    workload_file,
    write_description,
)
from batsched_py.runs.table_writer import table_files, write_tables
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted
from batsched_py.traces.event_file import read_events

_RUN: Final = "run"
#: Haizea's -D.
_DEBUG: Final = "--debug"
#: Haizea's exit code for a counter that a data file does not contain.
_NO_COUNTER: Final = 1


#: Default configurations; the first existing one is used.
_PLACES: Final = (Path("/etc/haizea/haizea.conf"), Path("~/.haizea/haizea.conf"))
#: Tables of a run, and of its probes, if any.
_TABLES: Final = ("leases", "reservations", "counters", "stats")


class HaizeaGroup(OnceGroup):
    """A command group with `run` as the default: `haizea CONF` is `haizea run CONF`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse options of the group; pass other arguments, and an empty list, to `run`."""
        args = [_DEBUG if argument == "-D" else argument for argument in args]
        own = {spelling for parameter in self.get_params(ctx) for spelling in parameter.opts}
        first = args[0].partition("=")[0] if args else ""
        if not args or (first.startswith("-") and first not in own):
            args = [_RUN, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; any other word is a configuration."""
        return super().resolve_command(ctx, args if args[0] in self.commands else [_RUN, *args])


@click.group(cls=HaizeaGroup, invoke_without_command=True, subcommand_metavar="CONF | COMMAND [ARGS]...")
@option(
    "--sample",
    "[KIND]",
    f"Write sample files into this folder: {', '.join(KINDS)}; default: trace.",
    type=click.Choice(KINDS),
    is_flag=False,
    flag_value=KINDS[0],
)
@click.pass_context
def command(context: click.Context, sample: str | None) -> None:
    """Run configurations of Haizea, and process its files; `haizea CONF` is short for `haizea run CONF`."""
    if sample is None:
        return
    if context.invoked_subcommand is not None:
        raise click.UsageError(f"'--sample' cannot be combined with '{context.invoked_subcommand}'")
    _write_sample(sample)


command.params += COMMON


@typed_command()
@click.argument("conf", type=PATH, required=False)
@option("-c --conf named", "FILE", "The configuration, as CONF.", type=PATH)
@flag("-f --fg foreground", "Run in the foreground, as always.", expose_value=False)
@flag("--stop", "Refused: there is no daemon to stop.")
@option("-e --export", "PREFIX", "Write PREFIX_leases.csv, PREFIX_reservations.csv...")
@option("--events", "FILE", "Hosts that fail and leases that are cancelled (JSON lines).", type=PATH)
@option("--listen", "HOST:PORT", "With the real clock: address of the API.", default="127.0.0.1:8080")
@option("--data", "DIR", "With the real clock: folder for the state of the site.", type=PATH, default="site-data")
def run(
    conf: Path | None,
    export: str | None,
    events: Path | None,
    listen: str,
    data: Path,
    *,
    named: Path | None,
    stop: bool,
) -> None:
    """Simulate a configuration, and print Haizea's log; with the real clock, open a live site.

    The default CONF is /etc/haizea/haizea.conf or ~/.haizea/haizea.conf. Options without a counterpart cause warnings.
    """
    if stop:
        raise click.UsageError("'--stop' has nothing to stop: a run is not a daemon, and Ctrl-C or SIGTERM ends it")
    if conf is not None and named is not None:
        raise click.UsageError("'-c' and CONF both name the configuration")
    config = read_config(conf or named or _found(), current_limits())
    _check_outputs(config, export)
    warn_all(f"{config.file}: {line}" for line in config.notes)
    if config.clock == "real":
        if export is not None or events is not None:
            raise click.UsageError("'-e' and '--events' need simulation.clock: simulated")
        # They need packages of an extra.
        front, live = (
            importlib.import_module(f"batsched_py.cli.shared.{name}") for name in ("site_front", "haizea_site")
        )
        live.open_site(config, partial(front.open_doors, listen, CallerOptions()), data)
        return
    read = () if events is None else read_events(events, limits=current_limits())
    inputs = None if export is None else _inputs(config, events)
    ended = run_config(config, say, events=read, limits=current_limits(), warn=warn)
    _write_data(config, ended)
    if export is not None and inputs is not None:
        write_tables(export, ended.tables)
        _describe(export, config, inputs, ended)
    if ended.failure is not None:
        if config.on_failure == "exit-raise":
            warn_all(line.rstrip() for line in traceback.format_exception(ended.failure))
        raise ended.failure


@typed_command()
@option("-c --conf", "FILE", "The configuration for several runs.", type=PATH, required=True)
@option("-d --dir directory", "DIR", "Folder for the configurations.", type=PATH, required=True)
@option("-t --template", "FILE", "Print the script made from this template.", type=PATH)
@flag("-m --only-missing", "Exclude runs whose data files exist from the script.")
@flag("--table", "Execute all runs, one after the other, and print a row for each.")
def multi(conf: Path, directory: Path, template: Path | None, *, only_missing: bool, table: bool) -> None:
    """Write a configuration for each profile, trace and injection, as DIR/PROFILE_TRACE+INJECTION.conf.

    In a template, the text between "% for name, file in configs:" and "% endfor" is repeated for each of them.
    """
    if only_missing and template is None:
        raise click.UsageError("'-m' needs '-t'")
    if table and template is not None:
        raise click.UsageError("'--table' and '-t' both write to standard output")
    read = read_multi(conf, current_limits())
    warn_all(f"{conf}: {line}" for line in read.notes)
    singles = list(read.singles(directory))
    script = None if template is None else _script(template, singles, directory, missing=only_missing)
    files = {directory / single.file_name: single.text for single in singles}
    check_apart([("-c", conf), ("-t", template)], [("-d", path) for path in files])
    check_writable(files)
    for path, text in files.items():
        with writing(path):
            write_atomically(path, text.encode())
    say(f"wrote {directory}: {counted(len(files), 'configuration')}", err=script is not None or table)
    if script is not None:
        put(script.encode())
    if table:
        put(csv_text(run_table([_run_silently(read_config(path, current_limits())) for path in files])).encode())


@typed_command()
@click.argument("files", type=PATH, metavar="FILE...", nargs=-1, required=True)
@option(
    "-t --type", None, "A row for each run, lease or entry.", type=click.Choice(["per-run", "per-lease", "counter"])
)
@option("-c --counter", "NAME", "Name of the counter, with -t counter.")
@option("-f --format", None, "Output format.", type=click.Choice(["csv"]), default="csv", expose_value=False)
@flag("-l --list-counters", "List the counters, and ignore other options.")
def data(files: tuple[Path, ...], type: str | None, counter: str | None, *, list_counters: bool) -> int:
    """Combine data files into one table, whose rows begin with the attributes of their runs."""
    runs = {path: read_data(path, current_limits()) for path in files}
    if list_counters:
        say_all(dict.fromkeys(name for run in runs.values() for name in run.counters))
        return 0
    if type is None:
        raise click.UsageError("Missing option '-t' / '--type', or '-l'")
    if (type == "counter") != (counter is not None):
        raise click.UsageError("'-t counter' and '-c' must be given together")
    if counter is not None and any(counter not in run.counters for run in runs.values()):
        name = displayed(counter)
        say(f"batsched-py: error: The specified datafile does not have a counter called '{name}'", err=True)
        return _NO_COUNTER
    put(csv_text(_table([runs[path] for path in files], type, counter)).encode())
    return 0


command.add_command(run, _RUN)
command.add_command(multi, "multi")
command.add_command(data, "data")


def _run_silently(config: HaizeaConfig) -> RunData:
    """Simulate a configuration for several runs without a log; write its data file, and return the content."""
    _check_outputs(config, None)
    ended = run_config(config, lambda _: None, limits=current_limits())
    if ended.failure is not None:
        raise ended.failure
    datafile = _write_data(config, ended)
    assert datafile is not None, f"{config.file} has no accounting.datafile"  # noqa: S101  # each of several runs has one
    return read_data(datafile, current_limits())


def _write_data(config: HaizeaConfig, ended: HaizeaRun) -> Path | None:
    """Write the counters of a run to its data file, if it has one; return them."""
    datafile = config.accounting.datafile
    if datafile is not None:
        with writing(datafile):
            write_data(datafile, ended.ledger.accounting, dict(config.accounting.attributes))
    return datafile


def _inputs(config: HaizeaConfig, events: Path | None) -> RunInputs:
    """Describe the files of a run, whose hosts are in the configuration or in the trace. InputError."""
    traces = config.traces
    if traces is None:
        return RunInputs(platform_file(config.file))
    workloads = [workload_file(path) for path in (traces.trace, traces.injection) if path is not None]
    files = other_files(configuration=config.file, images=traces.images, events=events)
    return RunInputs(platform_file(traces.trace if config.site is None else config.file), tuple(workloads), files)


def _describe(prefix: str, config: HaizeaConfig, inputs: RunInputs, ended: HaizeaRun) -> None:
    """Write the description of the run next to its tables. InputError."""
    origin = RunOrigin(inputs, Decider("leases", plain_options(config)), plain_settings(config), this_call())
    failure = "" if ended.failure is None else str(ended.failure)
    write_description(prefix, origin, table_files(prefix, ended.tables), failure=failure)


def _found() -> Path:
    """Return the configuration in one of Haizea's default locations. UsageError."""
    for place in _PLACES:
        if place.expanduser().exists():
            return place.expanduser()
    raise click.UsageError(f"Missing argument 'CONF'; there is no {' and no '.join(map(str, _PLACES))} either")


def _check_outputs(config: HaizeaConfig, prefix: str | None) -> None:
    """Check before the run, which may take long, that no file is read and written, and all are writable."""
    traces, datafile = config.traces, config.accounting.datafile
    inputs = [] if traces is None else [traces.trace, traces.injection, traces.images]
    tables = [] if prefix is None else [table_path(prefix, Table(name, (), ())) for name in _TABLES]
    described = [] if prefix is None else [run_path(prefix)]
    outputs = [("accounting.datafile", datafile), *(("-e", path) for path in (*tables, *described))]
    check_apart([("CONF", config.file), *(("[tracefile]", path) for path in inputs)], outputs)
    check_writable(path for _, path in outputs)


def _table(runs: Sequence[RunData], kind: str, counter: str | None) -> Table:
    if counter is not None:
        return counter_table(runs, counter)
    return run_table(runs) if kind == "per-run" else lease_table(runs)


def _script(template: Path, singles: Sequence[SingleConfiguration], directory: Path, *, missing: bool) -> str:
    folder = Path(os.path.abspath(directory))  # links in it stay
    wanted = [single for single in singles if not (missing and single.datafile.exists())]
    text = read_template(template, current_limits())
    return render_script(text, str(template), [(one.name, folder / one.file_name) for one in wanted], folder)


def _write_sample(kind: str) -> None:
    """Write the files of a sample into the current folder, all or none; do not overwrite files with other content."""
    wanted = {Path(name): text.encode() for name, text in sample_files(kind).items()}
    files = {path: content for path, content in wanted.items() if not _holds(path, content)}
    check_writable(files)
    for path in files:
        if path.exists() or path.is_symlink():
            raise InputError(str(path), "", "exists already, and is not overwritten")
    for path in files:
        make_folder(path)
    with naming_errors(Path.cwd()):
        create_files_atomically(files)
    say_all(f"wrote {path}" for path in files)


def _holds(path: Path, content: bytes) -> bool:
    """Return whether a file already has this content: samples share requests."""
    with naming_errors(path):
        return path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content
