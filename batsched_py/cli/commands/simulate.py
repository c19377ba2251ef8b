"""`batsched-py simulate`: run a workload on a platform without Batsim."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

import click
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.cli.shared.algorithm import AlgorithmChoice
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.console import Output, show_picture, show_table
from batsched_py.cli.shared.decider import their_decider
from batsched_py.cli.shared.described_runs import check_choice_apart, files_of_choice, reported_with, this_call
from batsched_py.cli.shared.output_paths import check_writable
from batsched_py.cli.shared.parameters import (
    algorithm_options,
    clock_option,
    connect_timeout_option,
    flag,
    live_option,
    option,
    read_address,
    record_option,
    requests_option,
)
from batsched_py.cli.shared.progress import simulation_bar
from batsched_py.cli.shared.redis_place import redis_option, without_brackets
from batsched_py.cli.shared.signal_options import signal_files, signal_options, signals_of
from batsched_py.cli.shared.simulation_options import (
    behaviour_options,
    machine_options,
    platform_option,
    read_machine,
    work_options,
)
from batsched_py.cli.shared.slow_decisions import watched_decisions
from batsched_py.cli.shared.terminal import say_all, warn
from batsched_py.errors import BatschedError, WorkloadError
from batsched_py.interruption import Interruption
from batsched_py.metadata.store import JobStore
from batsched_py.model.settings import DEFAULT_PREFIX, Settings
from batsched_py.model.workload import Workload
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.events import Config
from batsched_py.reading.json_document import refuse_doubled
from batsched_py.reporting.metrics.summary import summary_table
from batsched_py.results.records import Result
from batsched_py.runs.choice import settings_of
from batsched_py.runs.decision_spool import DecisionSpool, decision_spool, outage_rows
from batsched_py.runs.result_writer import JobRowSpool, result_paths, write_run
from batsched_py.runs.run_description import (
    Decider,
    RunInputs,
    RunOrigin,
    failure_line,
    other_files,
    plain_settings,
    platform_file,
    workload_file,
)
from batsched_py.runs.session_run import complete_result, exchange_of
from batsched_py.session.session import Session
from batsched_py.simulator.generation import generation_of
from batsched_py.simulator.simulation import Simulation
from batsched_py.simulator.wire.scheduler_link import AnyExchange
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.dax import read_workflow
from batsched_py.traces.job_conditions import left_to_others
from batsched_py.transcripts.recorder import recording


def _read_config(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Check that no option is repeated in the JSON: the last one would silently take precedence."""
    try:
        refuse_doubled("", value.encode())
    except WorkloadError as error:
        raise click.BadParameter(error.rule, context, parameter) from None
    return value


class SimulateRequest(Struct, frozen=True):
    """The options of `simulate`."""

    platform: Path
    workloads: tuple[Path, ...]
    workflows: tuple[Path, ...]
    started_workflows: tuple[tuple[Path, float], ...]
    events: Path | None
    settings: Settings
    choice: AlgorithmChoice
    socket: str | None
    connect_timeout: float
    enable_redis: bool
    export: str | None
    no_decisions: bool
    record: Path | None
    gantt: bool
    live: bool
    quiet: bool

    @property
    def works(self) -> list[tuple[str, Path, float | None]]:
        """(option, file, date of a workflow) of each workload and workflow, in the order of their names."""
        return [
            *(("-w", path, None) for path in self.workloads),
            *(("-W", path, None) for path in self.workflows),
            *(("--WS", path, start) for path, start in self.started_workflows),
        ]


@typed_command()
@platform_option
@work_options
@option(
    "--workload-name workload_names",
    "NAME",
    "Name of each workload in job ids, in order.",
    multiple=True,
    callback=lambda _context, _option, names: names or None,
)
@algorithm_options
@option("-e --export", "PREFIX", "Write PREFIX_jobs.csv, PREFIX_schedule.csv, traces, tables.")
@flag("--no-decisions", "With -e: do not write the algorithm's decisions, which explain reads.")
@machine_options
@behaviour_options
@signal_options
@option("--sched-cfg scheduler_config", "JSON", "Options, as Batsim sends them.", default="", callback=_read_config)
@flag("--enable-redis", "Keep jobs in Redis; messages only name them.")
@option(
    "--redis-hostname",
    "NAME",
    "Host of Redis.",
    default="127.0.0.1",
    callback=lambda _context, _option, host: without_brackets(host),
)
@option("--redis-port", "N", "Port of Redis.", type=click.IntRange(1, 65535), default=6379)
@option("--redis-prefix", "PREFIX", "What keys in Redis begin with.", default=DEFAULT_PREFIX)
@redis_option
@record_option
@clock_option
@requests_option
@option("--socket", "ADDRESS", "Ask the decision process that listens there, as Batsim does.", callback=read_address)
@connect_timeout_option("With --socket: wait this long for a listener.")
@flag("--gantt", "Draw what happened.")
@live_option
@flag("--quiet", "No progress bar and no summary.")
def command(request: SimulateRequest) -> None:
    """Simulate workloads on a platform with an algorithm, in place of Batsim.

    Decisions are checked by Batsim's rules. They are made by an algorithm (-s), or by any program that uses Batsim's
    protocol (--socket).
    """
    _check_usage(request)
    export, energy = request.export, request.settings.energy
    tracing = request.settings.trace_machine_states
    files, decided = generation_of(request.settings).files, _writes_decisions(request)
    results = result_paths(export, machine_states=tracing, energy=energy, decisions=decided, files=files)
    works = [(option, path) for option, path, _ in request.works]
    signals = [(f"--{name}", path) for name, path in signal_files(request.settings).items()]
    inputs = [("-p", request.platform), *works, ("--events", request.events), *signals]
    outputs = [("--record", request.record), *(("-e", path) for path in results)]
    check_choice_apart(request.choice, inputs, outputs)
    check_writable(results)  # before the run, which may take long: a wrong PREFIX is an error immediately
    settings = settings_of(request.choice.resolved, request.settings)
    platform, settings = read_machine(request.platform, request.events, settings)
    workloads = _read_workloads(request)
    described = None if export is None else _inputs(request, workloads)
    # The user specifies the host of Redis.
    redis = replace(request.choice.redis, allowed_redis=(settings.redis_hostname,))
    request = replace(request, settings=settings, choice=replace(request.choice, redis=redis))
    with _store(request) as store, _job_row_spool(request) as rows, _decision_spool(request) as decisions:
        pass_on = None if rows is None else rows.add
        trace = export is not None or bool(signals_of(settings))
        simulation = Simulation(platform, workloads, settings, store=store, trace=trace, pass_on=pass_on, warn=warn)
        session = _session(request, decisions)
        run_files = None if described is None else RunFiles(rows, decisions, described)
        try:
            result = _run(request, simulation, session)
        except (BatschedError, Interruption) as failure:
            partial = simulation.result_so_far()
            if run_files is not None and partial is not None:
                with reported_with(failure):
                    _write(request, _with_tables(partial, session), session, run_files, failure_line(failure))
            raise
        if run_files is not None:
            _write(request, result, session, run_files)
    _show(request, result)


class RunFiles(NamedTuple):
    """The data of a run stored on disk until its files are written; None for files that are not requested."""

    rows: JobRowSpool | None
    decisions: DecisionSpool | None
    inputs: RunInputs


def _write(
    request: SimulateRequest, result: Result, session: Session | None, files: RunFiles, failure: str = ""
) -> None:
    """Write the files of a run; partial ones, marked with the reason, after a failure. InputError."""
    rows, decisions, inputs = files
    assert request.export is not None  # noqa: S101  # otherwise inputs are not described
    if decisions is not None and (session is None or request.no_decisions):
        decisions.add(outage_rows(result))
    elif session is not None and failure:
        session.end_log()
    choice = request.choice
    decider = Decider() if session is None else Decider(choice.algorithm, session.options, session.explicit_options)
    settings = plain_settings(request.settings, result.features, clock=choice.clock, requests=choice.requests)
    origin = RunOrigin(inputs, decider, settings, this_call())
    write_run(request.export, result, origin, rows=rows, decisions=decisions, failure=failure)


def _with_tables(result: Result, session: Session | None) -> Result:
    """Return a partial result with the tables of its algorithm, if these are available."""
    with suppress(BatschedError):
        return result if session is None else replace(result, tables=session.tables())
    return result


def _read_workloads(request: SimulateRequest) -> list[Workload]:
    """Read workloads and workflows. WorkloadError."""
    limits = current_limits()
    workloads = [
        read_workload(path, limits=limits) if option == "-w" else read_workflow(path, start, limits)
        for option, path, start in request.works
    ]
    return workloads if request.socket is None else [left_to_others(workload) for workload in workloads]


def _inputs(request: SimulateRequest, workloads: Sequence[Workload]) -> RunInputs:
    """Describe the files that the run reads. InputError."""
    return RunInputs(
        platform_file(request.platform),
        tuple(map(workload_file, [path for _, path, _ in request.works], workloads)),
        (*other_files(events=request.events, **signal_files(request.settings)), *files_of_choice(request.choice)),
    )


def _check_usage(request: SimulateRequest) -> None:
    """Refuse incompatible options. UsageError."""
    choice = request.choice
    if not request.works:
        raise click.UsageError("Missing option '-w' / '--workload', '-W' or '--WS': what is there to do?")
    if request.settings.workflow_jobs_limit and len(request.works) == len(request.workloads):
        raise click.UsageError("'--workflow-jobs-limit' goes with '-W' or '--WS'")
    if bool(choice.algorithm) == (request.socket is not None):
        raise click.UsageError("One of '-s' and '--socket' is needed: who decides?")
    if request.socket is not None and (choice.assignments or choice.options_file or choice.clock != "zero"):
        raise click.UsageError("'-o', '--options-file' and '--clock' go with '-s': another program has its own options")
    if request.no_decisions and request.export is None:
        raise click.UsageError("'--no-decisions' goes with '-e'")
    settings = request.settings
    asks = settings.dynamic_jobs or settings.profile_reuse or settings.forward_profiles
    if request.socket is not None and settings.protocol == V5.name and asks:
        raise click.UsageError(
            "with '--protocol v5' the program on '--socket' asks for dynamic jobs and profiles itself"
        )
    if choice.redis.redis_address is not None and not request.enable_redis:
        raise click.UsageError("'--redis' goes with '--enable-redis'")


def _store(request: SimulateRequest) -> AbstractContextManager[JobStore | None]:
    """Open Redis, if it stores the jobs; None otherwise. StoreError."""
    settings = request.settings
    if not request.enable_redis:
        return nullcontext()
    config = Config(
        redis_hostname=settings.redis_hostname, redis_port=settings.redis_port, redis_prefix=settings.redis_prefix
    )
    return closing(request.choice.redis.open(config))


def _job_row_spool(request: SimulateRequest) -> AbstractContextManager[JobRowSpool | None]:
    """Store rows of jobs on disk as they end, which frees memory; None if a chart needs all, or none are written."""
    if request.export is None or request.gantt:
        return nullcontext()
    return JobRowSpool(request.export, generation_of(request.settings).files)


def _decision_spool(request: SimulateRequest) -> AbstractContextManager[DecisionSpool | None]:
    """Store decisions of the algorithm, and unavailable hosts, on disk, if they are to be written."""
    return decision_spool(request.export if _writes_decisions(request) else None)


def _writes_decisions(request: SimulateRequest) -> bool:
    """Return whether a file of decisions is written; without decisions, for hosts made unavailable by events."""
    return request.events is not None or (request.socket is None and not request.no_decisions)


def _session(request: SimulateRequest, decisions: DecisionSpool | None) -> Session | None:
    """Create the session of a local algorithm; None if another program decides. PluginError, OptionError."""
    if request.socket is not None:
        return None
    log = None if decisions is None or request.no_decisions else decisions.add
    return request.choice.session(log, features=request.settings.features)


def _run(request: SimulateRequest, simulation: Simulation, session: Session | None) -> Result:
    """Run the simulation with a live view, a progress bar, or neither."""
    watch = nullcontext() if session is None else watched_decisions(session)
    with _exchange(request, session) as exchange, watch:
        if request.live:
            live = importlib.import_module("batsched_py.cli.shared.live_view")  # the import of drawing code takes long
            title = request.choice.algorithm or str(request.socket)
            with live.watched_simulation(title, simulation, session, exchange) as watched:
                result = simulation.run(watched)
        else:
            with simulation_bar(wanted=not request.quiet) as progress:
                result = simulation.run(exchange, progress)
    if session is None:
        return result
    return complete_result(result, simulation, session, tables=request.export is not None or request.gantt)


@contextmanager
def _exchange(request: SimulateRequest, session: Session | None) -> Iterator[AnyExchange]:
    """Yield the exchange with the session, or with the program on --socket. TransportError, TranscriptError."""
    if session is not None:
        header = request.choice.resolved.header()
        with recording(request.record, header) as recorder, exchange_of(session, recorder) as decider:
            yield decider
    elif request.socket is not None:
        with their_decider(request.socket, request.connect_timeout, request.record) as decider:
            yield decider


def _show(request: SimulateRequest, result: Result) -> None:
    if request.gantt:
        console = Output()
        schedules = importlib.import_module("batsched_py.reporting.schedules.run_reader")  # imports many readers
        gantt = importlib.import_module("batsched_py.reporting.pictures.terminal.gantt")
        show_picture(console, gantt.render(schedules.schedule_of(result, ""), console.width))
    if not request.quiet:
        show_table(summary_table(result, list(signals_of(request.settings).values())))
    say_all((f"approximation: {line}" for line in result.approximations), err=request.quiet)
