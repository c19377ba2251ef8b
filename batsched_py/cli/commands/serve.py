"""`batsched-py serve`: decide for a Batsim that connects over ZeroMQ."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.cli.shared.algorithm import AlgorithmChoice, load_from_here
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.output_paths import check_writable
from batsched_py.cli.shared.parameters import (
    FOLDER,
    PATH,
    Number,
    Pace,
    Seconds,
    algorithm_options,
    clock_option,
    flag,
    live_option,
    option,
    read_address,
    record_option,
    requests_option,
    timeout_option,
)
from batsched_py.cli.shared.redis_place import redis_options
from batsched_py.cli.shared.site_callers import CallerOptions, quota_options
from batsched_py.cli.shared.slow_decisions import watched_decisions
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import BatschedError
from batsched_py.interruption import Interruption
from batsched_py.session.serve import serve
from batsched_py.session.session import Session
from batsched_py.text.wording import counted, seconds
from batsched_py.transcripts.recorder import recording
from batsched_py.transport.connection import Connection
from batsched_py.transport.zmq_rep import RepSocket

if TYPE_CHECKING:
    from batsched_py.runs.decision_spool import DecisionSpool

#: Suffixes of the files written with a prefix; NAME is that of a table.
_ENDINGS: Final = ("_NAME.csv", "_run.json", "_decisions.csv")


def _watched(session: Session, name: str, connection: Connection) -> AbstractContextManager[Connection]:
    """Watch a connection, with a live view."""
    module = importlib.import_module("batsched_py.cli.shared.live_view")  # the import of drawing code takes long
    watched: AbstractContextManager[Connection] = module.watched_session(session, name, connection)
    return watched


def _decision_spool(request: ServeRequest) -> AbstractContextManager[DecisionSpool | None]:
    """Store the algorithm's decisions on disk, if they are to be written. InputError."""
    if request.export is None:
        return nullcontext()
    module = importlib.import_module("batsched_py.runs.decision_spool")  # imports writers that few runs need
    spool: AbstractContextManager[DecisionSpool | None] = module.decision_spool(request.export)
    return spool


def _write_results(
    request: ServeRequest,
    session: Session,
    decisions: DecisionSpool | None,
    failure: BaseException | None = None,
) -> None:
    """Write the algorithm's tables, its decisions, and the description of the run. AlgorithmError, InputError."""
    if request.export is not None:
        module = importlib.import_module("batsched_py.cli.shared.described_runs")  # likewise
        module.write_served(request.export, request.choice, session, decisions=decisions, failure=failure)


@contextmanager
def _partial_results(request: ServeRequest, session: Session, decisions: DecisionSpool | None) -> Iterator[None]:
    """Write the results of a run that fails after its first message, marked with the reason."""
    try:
        yield
    except (BatschedError, Interruption) as failure:
        if request.export is not None and session.messages:
            module = importlib.import_module("batsched_py.cli.shared.described_runs")  # likewise
            with module.reported_with(failure):
                _write_results(request, session, decisions, failure)
        raise


class ServeRequest(Struct, frozen=True):
    """The options of `serve`."""

    choice: AlgorithmChoice
    bind: str
    export: str | None
    record: Path | None
    timeout: float | None
    live: bool
    site: str | None
    pace: float
    data: Path
    callers: CallerOptions
    wakeup_interval: float
    quiet: bool


@typed_command()
@algorithm_options
@option(
    "-b --bind",
    "ADDRESS",
    "Address to listen at; use port * for a free port.",
    callback=read_address,
    default="tcp://127.0.0.1:28000",
)
@option("--site", "HOST:PORT", "Also run a live site at this address; its requests are added to Batsim's messages.")
@option("--pace", "N|max", "With --site: simulated seconds per second.", type=Pace(min=0, min_open=True), default=1)
@option("--data", "DIR", "With --site: folder for its state.", type=FOLDER, default="site-data")
@option("--token-file", "FILE", "With --site: file with the token that callers must send.", type=PATH)
@option("--rate", "N", "With --site: requests per second of each user.", type=Number(min=1), default=100.0)
@quota_options
@option(
    "--request-timeout",
    "S",
    "With --site: seconds that the headers, and the body, of a request may take to arrive.",
    type=Seconds(min=0.1),
    default=20.0,
)
@option(
    "--wakeup-interval",
    "S",
    "With --site: simulated seconds between checks for requests.",
    type=Seconds(min=1e-3),
    default=60.0,
)
@option("-e --export", "PREFIX", "Write PREFIX_run.json, PREFIX_decisions.csv, the algorithm's own PREFIX_NAME.csv.")
@record_option
@timeout_option
@clock_option
@requests_option
@flag(
    "--enable-compute-sharing compute_sharing",
    "Allow several jobs on one host of Batsim 5; earlier versions have this option themselves.",
)
@redis_options
@live_option
@flag("--quiet", "Print only warnings and errors.")
def command(request: ServeRequest) -> None:
    """Listen for Batsim and make decisions with ALGORITHM until the simulation ends.

    Start Batsim with the same address: batsim -s tcp://127.0.0.1:28000 ...

    If the algorithm fails, Batsim is made to stop.
    """
    choice, record = request.choice, request.record
    choice.check_named()
    results = [] if request.export is None else [Path(f"{request.export}{end}") for end in _ENDINGS]
    outputs = [("--record", record), *(("-e", path) for path in results)]
    if record is not None or results:
        module = importlib.import_module("batsched_py.cli.shared.described_runs")  # imports writers that few runs need
        module.check_choice_apart(choice, [], outputs)
    check_writable(results)
    if request.site is not None:
        _serve_site(request, request.site)
        return
    with _decision_spool(request) as decisions:
        session = choice.session(None if decisions is None else decisions.add)
        session.warn_of_endless_tasks()
        # Opened last: a recording must not replace an older one if nothing can be recorded.
        with (
            RepSocket(request.bind, current_limits()) as socket,
            recording(record, choice.resolved.header()) as recorder,
            _partial_results(request, session, decisions),
            watched_decisions(session),
        ):
            _note(request, f"{choice.name} listens on {socket.address}")
            with _watched(session, choice.name, socket) if request.live else nullcontext(socket) as connection:
                exchanged = None if recorder is None else recorder.record

                def finish() -> None:
                    """Complete all files before the last reply to Batsim."""
                    if recorder is not None:
                        recorder.close()
                    _write_results(request, session, decisions)

                serve(
                    session,
                    connection,
                    record=exchanged,
                    timeout=request.timeout,
                    finish=finish,
                    accept_all=socket.accept_all,
                )
    _note(request, f"the simulation ended at t={seconds(session.now)} after {counted(session.messages, 'message')}")


def _note(request: ServeRequest, line: str) -> None:
    """Write a line to standard error, unless --quiet was given."""
    if not request.quiet:
        say(line, err=True)


def _serve_site(request: ServeRequest, listen: str) -> None:
    """Make decisions for Batsim, with a live site's HTTP API."""
    choice = request.choice
    if request.live or request.record is not None or choice.clock != "zero":
        raise click.UsageError("'--live', '--record' and '--clock' do not go with '--site', which keeps a transcript")
    front = importlib.import_module("batsched_py.cli.shared.site_front")  # needs an extra
    with _decision_spool(request) as decisions, RepSocket(request.bind, current_limits()) as socket:
        settings = front.SiteSettings(
            name=socket.address,
            scheduler=load_from_here(choice.algorithm, choice.options),
            choice=replace(choice.resolved, call_every=request.wakeup_interval),
            folder=request.data,
            pace=request.pace,
            about={"platform": "batsim"},
        )
        _note(request, f"{choice.name} listens on {socket.address}")
        log = None if decisions is None else decisions.add

        def finish(session: Session) -> None:
            """Complete all files before the last reply to Batsim."""
            _write_results(request, session, decisions)

        site = front.serve_at(listen, request.callers, settings, socket, request.timeout, log=log, finish=finish)
        if not site.session.over:
            finish(site.session)
