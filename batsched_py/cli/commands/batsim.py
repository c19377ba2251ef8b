"""`batsched-py batsim`: run Batsim in a container and decide for it."""

from __future__ import annotations

import importlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct

from batsched_py.cli.shared.algorithm import AlgorithmChoice, load_from_here
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.described_runs import check_choice_apart, files_of_choice, this_call
from batsched_py.cli.shared.output_paths import check_writable
from batsched_py.cli.shared.parameters import (
    PATH,
    algorithm_options,
    clock_option,
    option,
    read_address,
    record_option,
    timeout_option,
)
from batsched_py.cli.shared.simulation_options import platform_option, workloads_option
from batsched_py.cli.shared.terminal import say, warn
from batsched_py.containers.launch import BATSIM_IMAGE, HOST_NAME, HOST_NETWORK, Launch, LaunchFiles, Pull, batsim
from batsched_py.errors import EngineError, InputError, TransportError
from batsched_py.files.output_file import make_folder
from batsched_py.loading import require
from batsched_py.results.file_forms import BATSIM_4
from batsched_py.runs.decision_spool import decision_spool
from batsched_py.runs.result_writer import result_paths
from batsched_py.runs.run_description import (
    RunInputs,
    other_files,
    platform_file,
    workload_file,
)
from batsched_py.runs.served_run import write_served_run
from batsched_py.session.demands import check_workload
from batsched_py.session.serve import serve
from batsched_py.session.session import Session
from batsched_py.signals import held_back
from batsched_py.text.wording import counted, seconds
from batsched_py.traces.batsim_json import read_workload
from batsched_py.transcripts.recorder import recording
from batsched_py.transport.zmq_rep import RepSocket

if TYPE_CHECKING:
    from batsched_py.containers.container import Container
    from batsched_py.containers.engine import Engine

#: The member of a job with a demand, in a workload file.
DEMAND_KEY: Final = b'"demand"'
#: Seconds to wait for the end of Batsim's container after that of its connection, to report its exit code.
_LINGERING: Final = 2.0


class BatsimRequest(Struct, frozen=True):
    """The options of `batsim`."""

    inputs: LaunchFiles
    choice: AlgorithmChoice
    docker_host: str | None
    image: str
    pull: Pull
    network: str | None
    bind: str
    record: Path | None
    timeout: float | None
    arguments: tuple[str, ...]


@typed_command()
@platform_option
@workloads_option
@algorithm_options
@option("-e --export", "PREFIX", "Let Batsim write PREFIX_jobs.csv and its other files.")
@option("--events", "FILE", "External events, such as host failures (JSON lines).", type=PATH)
@option("--image", "NAME", "Has Batsim as its entry point.", default=BATSIM_IMAGE)
@option(
    "--pull",
    None,
    "When to pull the image.",
    type=click.Choice(["missing", "always", "never"]),
    default="missing",
)
@option("--docker-host", "ADDRESS", "Where the engine listens; if not given, as for the command `docker`.")
@option(
    "--network", "NAME", "The container's network. Default: that of this machine (host); on Docker Desktop, bridge."
)
@option(
    "-b --bind", "ADDRESS", "Where to listen for the container.", callback=read_address, default="tcp://127.0.0.1:*"
)
@record_option
@timeout_option
@clock_option
@click.argument("arguments", nargs=-1, metavar="[-- BATSIM'S OWN ARGUMENTS]")
def command(request: BatsimRequest) -> None:
    """Start Batsim in a container, and make decisions with ALGORITHM until the simulation ends.

    Batsim's log goes to stderr, its output files to the prefix given to -e. The container is always removed at the end.

    Needs a container engine with Docker's interface, and the extra `docker`: pip install '.[docker]' in a clone.
    """
    choice, timeout = request.choice, request.timeout
    choice.check_named()
    if not request.bind.startswith("tcp://"):
        raise click.UsageError("'--bind' must be a tcp address: a container has no other way to us")
    _check_files(request)
    _check_demands(request)
    described, prefix = _inputs(request), request.inputs.export
    with decision_spool(prefix) as decisions:
        session = choice.session(None if decisions is None else decisions.add)
        session.warn_of_endless_tasks()
        with _batsim(request) as (container, socket), recording(request.record, choice.resolved.header()) as recorder:
            try:
                serve(session, socket, record=None if recorder is None else recorder.record, timeout=timeout)
            except TransportError as error:
                raise _explained(error, container, session, request.image) from error
            _await_end(container, timeout)
        if prefix is not None:
            settings = {"image": request.image, "arguments": request.arguments}
            files = {"jobs": Path(prefix + BATSIM_4.jobs)}
            write_served_run(
                prefix,
                choice.resolved,
                session,
                described,
                this_call(),
                settings=settings,
                results=files,
                decisions=decisions,
            )
    say(f"the simulation ended at t={seconds(session.now)} after {counted(session.messages, 'message')}", err=True)


def _check_files(request: BatsimRequest) -> None:
    """Check files before the engine is used: Batsim's own message would come late, and name a file in the container."""
    inputs = request.inputs
    read = [("-p", inputs.platform), *(("-w", path) for path in inputs.workloads), ("--events", inputs.events)]
    results = result_paths(inputs.export, machine_states=True, energy=True, decisions=True)
    written = [("--record", request.record), *(("-e", path) for path in results)]
    check_choice_apart(request.choice, read, written)
    for _, path in read:
        if path is not None:
            _check_readable(path)
    check_writable(results)
    for path in results:
        make_folder(path)


def _check_demands(request: BatsimRequest) -> None:
    """Check before the run whether Batsim will share hosts, if jobs request parts of them. OptionError, InputError."""
    choice = request.choice.resolved
    scheduler = load_from_here(choice.algorithm, choice.options)
    if "--enable-compute-sharing" in request.arguments or not scheduler.places_tasks:
        return
    for path in request.inputs.workloads:
        if DEMAND_KEY in path.read_bytes():  # other files need not be read
            workload = read_workload(path, simulated_only=False, limits=current_limits())
            check_workload(scheduler, workload, sharing=False)


def _inputs(request: BatsimRequest) -> RunInputs:
    """Describe the files that Batsim and the algorithm read. InputError."""
    inputs = request.inputs
    return RunInputs(
        platform_file(inputs.platform),
        tuple(workload_file(path) for path in inputs.workloads),
        (*other_files(events=inputs.events), *files_of_choice(request.choice)),
    )


def _check_readable(path: Path) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(str(path), "", f"cannot be read: {error.strerror or error}") from error


@contextmanager
def _batsim(request: BatsimRequest) -> Iterator[tuple[Container, RepSocket]]:
    """Start Batsim; yield its container, which is removed at the end, and the socket it connects to. TransportError."""
    require("docker", "batsim", "docker")
    engines = importlib.import_module("batsched_py.containers.engine")  # it imports packages of an extra
    with engines.connected(request.docker_host) as engine:
        engine.fetch(request.image, request.pull, lambda line: say(line, err=True))
        network = request.network or ("bridge" if engine.is_desktop else HOST_NETWORK)
        if network != HOST_NETWORK and not engine.is_desktop and "//127." in request.bind:
            raise click.UsageError(
                f"'--network {network}' does not reach {request.bind}: '--bind' must name an address of the network"
            )
        with RepSocket(request.bind, current_limits()) as socket:
            say(f"listens on {socket.address} for {request.image}", err=True)
            launch = batsim(
                request.inputs,
                request.arguments,
                image=request.image,
                socket=_seen_from(network, socket.address),
                user="0:0" if engine.is_rootless else f"{os.getuid()}:{os.getgid()}",
                network=network,
                named=network != HOST_NETWORK,
            )
            with _container(engine, launch) as container:
                socket.watch = container.check
                yield container, socket


def _seen_from(network: str, address: str) -> str:
    """Return the address under which a container of this network reaches this process."""
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    if network != HOST_NETWORK:
        return f"tcp://{HOST_NAME}:{port}"
    return f"tcp://127.0.0.1:{port}" if host in ("0.0.0.0", "[::]") else address  # noqa: S104 - that is all of them


@contextmanager
def _container(engine: Engine, launch: Launch) -> Iterator[Container]:
    """Start a container, and remove it at the end, even after a signal during its creation."""
    name = f"batsched-py-{os.getpid()}-{secrets.token_hex(4)}"
    container = None
    try:
        with held_back():
            container = engine.create(launch, name)
            container.start(lambda line: say(f"batsim | {line.expandtabs()}", err=True))
        yield container
    finally:
        with held_back():
            try:
                engine.discard(name)
            except EngineError as error:  # the error that ended the run is more important
                warn(str(error))
            if container is not None:
                container.join(_LINGERING)


def _explained(error: TransportError, container: Container, session: Session, image: str) -> TransportError:
    """Add Batsim's exit to the error, if it has ended: the connection shows only that it was closed."""
    container.wait(_LINGERING)
    ending = container.ending
    if ending is None:
        return error
    when = f"at t={seconds(session.now)}, before SIMULATION_ENDS" if session.messages else "before it connected"
    failure = f"Batsim ({image}) ended {when}: {ending}"
    return TransportError("; ".join(part for part in (failure, session.deadlock()) if part))


def _await_end(container: Container, timeout: float | None) -> None:
    """Wait until Batsim has written its files after the simulation. TransportError if it fails."""
    if not container.wait(timeout):
        raise TransportError(f"Batsim has not ended within {timeout:g} s after the simulation")
    if container.failed:
        raise TransportError(f"Batsim ended after the simulation: {container.ending}")
