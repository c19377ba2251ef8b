"""`batsched-py batsim`: run Batsim in a container and decide for it."""

from __future__ import annotations

import importlib
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct

from batsched_py.cli.shared.algorithm import Choice, recording
from batsched_py.cli.shared.extras import require
from batsched_py.cli.shared.output import result_files
from batsched_py.cli.shared.output_paths import check_apart, check_writable, make_folder
from batsched_py.cli.shared.parameters import (
    PATH,
    algorithm_options,
    clock_option,
    debug_option,
    limit_option,
    read_address,
    record_option,
    scheduler_option,
    timeout_option,
    told_limits,
)
from batsched_py.cli.shared.simulation_options import platform_option, workloads_option
from batsched_py.cli.shared.terminal import say, warn
from batsched_py.containers.launch import BATSIM_IMAGE, HOST_NAME, HOST_NETWORK, Inputs, Launch, batsim
from batsched_py.errors import EngineError, InputError, TransportError
from batsched_py.session.serve import serve
from batsched_py.session.session import Session
from batsched_py.signals import held_back
from batsched_py.transport.zmq_rep import RepSocket
from batsched_py.wording import counted, seconds

if TYPE_CHECKING:
    from batsched_py.containers.container import Container
    from batsched_py.containers.engine import Engine, Pull

#: Seconds between the end of Batsim's connection and that of its container, after which we stop asking how it ended.
_LINGERING: Final = 2.0


class _Place(Struct, frozen=True):
    """The place where Batsim runs and finds us, as a user gave it: the engine, the image, the network."""

    docker_host: str | None
    image: str
    pull: Pull
    network: str | None
    bind: str


@click.command("batsim")
@platform_option
@workloads_option
@scheduler_option
@algorithm_options
@click.option("-e", "--export", metavar="PREFIX", help="Let Batsim write PREFIX_jobs.csv and its other files.")
@click.option("--events", type=PATH, metavar="FILE", help="What happens to the machines (JSON lines).")
@click.option("--image", default=BATSIM_IMAGE, show_default=True, metavar="NAME", help="Has Batsim as its entry point.")
@click.option(
    "--pull",
    type=click.Choice(["missing", "always", "never"]),
    default="missing",
    show_default=True,
    help="When to get the image from its registry.",
)
@click.option(
    "--docker-host", metavar="ADDRESS", help="Where the engine listens; if not given, as for the command `docker`."
)
@click.option(
    "--network",
    metavar="NAME",
    help="The container's network. Default: that of this machine (host); on Docker Desktop, bridge.",
)
@click.option(
    "-b",
    "--bind",
    callback=read_address,
    default="tcp://127.0.0.1:*",
    show_default=True,
    metavar="ADDRESS",
    help="Where to listen for the container.",
)
@record_option
@timeout_option
@clock_option
@limit_option
@debug_option
@click.argument("arguments", nargs=-1, metavar="[-- BATSIM'S OWN ARGUMENTS]")
def command(
    *,
    platform: Path,
    workloads: Sequence[Path],
    scheduler: str | None,
    assignments: Mapping[str, str],
    options_file: Path | None,
    export: str | None,
    events: Path | None,
    record: Path | None,
    timeout: float | None,
    clock: str,
    arguments: Sequence[str],
    image: str,
    pull: Pull,
    docker_host: str | None,
    network: str | None,
    bind: str,
) -> None:
    """Start Batsim in a container, and decide with ALGORITHM until the simulation ends.

    Its log goes to stderr, its files to where -e says. The container is removed, however the run ends.

    Needs a container engine with Docker's interface, and the extra `docker`: pip install 'batsched-py[docker]'.
    """
    if scheduler is None:
        raise click.UsageError("Missing option '-s': which algorithm shall decide?")
    if not bind.startswith("tcp://"):
        raise click.UsageError("'--bind' must be a tcp address: a container has no other way to us")
    inputs = Inputs(platform=platform, workloads=tuple(workloads), events=events, export=export)
    _check_files(inputs, record, options_file)
    choice = Choice(scheduler, assignments, options_file, clock)
    session = choice.session()
    place = _Place(docker_host, image, pull, network, bind)
    with _batsim(place, inputs, arguments) as (container, socket), recording(record, choice.header()) as recorder:
        try:
            serve(session, socket, record=None if recorder is None else recorder.record, timeout=timeout)
        except TransportError as error:
            raise _explained(error, container, session, image) from error
        _await_end(container, timeout)
    say(f"the simulation ended at t={seconds(session.now)} after {counted(session.messages, 'message')}", err=True)


def _check_files(inputs: Inputs, record: Path | None, options_file: Path | None) -> None:
    """Before an engine is asked: Batsim's own message would come late, and name a file of the container."""
    read = [("-p", inputs.platform), *(("-w", path) for path in inputs.workloads), ("--events", inputs.events)]
    results = list(result_files(inputs.export, machine_states=True, energy=True))
    written = [("--record", record), *(("-e", path) for path in results)]
    check_apart([*read, ("--options-file", options_file)], written)
    for _, path in read:
        if path is not None:
            _check_readable(path)
    check_writable(results)
    for path in results:
        make_folder(path)


def _check_readable(path: Path) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(str(path), "", f"cannot be read: {error.strerror or error}") from error


@contextmanager
def _batsim(place: _Place, inputs: Inputs, arguments: Sequence[str]) -> Iterator[tuple[Container, RepSocket]]:
    """Batsim, started, and the socket on which it will be heard; removed at the end. TransportError."""
    require("docker", "batsim", "docker")
    engines = importlib.import_module("batsched_py.containers.engine")  # what it imports comes with the extra
    with engines.connected(place.docker_host) as engine:
        engine.fetch(place.image, place.pull, lambda line: say(line, err=True))
        network = place.network or ("bridge" if engine.is_desktop else HOST_NETWORK)
        if network != HOST_NETWORK and not engine.is_desktop and "//127." in place.bind:
            raise click.UsageError(
                f"'--network {network}' does not reach {place.bind}: '--bind' must name an address of the network"
            )
        with RepSocket(place.bind, told_limits()) as socket:
            say(f"listens on {socket.address} for {place.image}", err=True)
            launch = batsim(
                inputs,
                arguments,
                image=place.image,
                socket=_seen_from(network, socket.address),
                user="0:0" if engine.is_rootless else f"{os.getuid()}:{os.getgid()}",
                network=network,
                named=network != HOST_NETWORK,
            )
            with _container(engine, launch) as container:
                socket.watch = container.check
                yield container, socket


def _seen_from(network: str, address: str) -> str:
    """The address at which a container of this network finds us."""
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    if network != HOST_NETWORK:
        return f"tcp://{HOST_NAME}:{port}"
    return f"tcp://127.0.0.1:{port}" if host in ("0.0.0.0", "[::]") else address  # noqa: S104 - that is all of them


@contextmanager
def _container(engine: Engine, launch: Launch) -> Iterator[Container]:
    """Started; nothing is left of it at the end, nor of one that was being made when a signal came."""
    name = f"batsched-py-{os.getpid()}-{secrets.token_hex(4)}"
    container = None
    try:
        with held_back():
            container = engine.create(launch, name)
            container.start(_hear)
        yield container
    finally:
        with held_back():
            try:
                engine.discard(name)
            except EngineError as error:  # whatever ended the run is more important
                warn(str(error))
            if container is not None:
                container.join(_LINGERING)


def _hear(line: str) -> None:
    say(f"batsim | {line.expandtabs()}", err=True)


def _explained(error: TransportError, container: Container, session: Session, image: str) -> TransportError:
    """Add to the error how Batsim ended, if it has: its connection says no more than that it is gone."""
    container.wait(_LINGERING)
    ending = container.ending
    if ending is None:
        return error
    when = f"at t={seconds(session.now)}, before SIMULATION_ENDS" if session.messages else "before it connected"
    story = f"Batsim ({image}) ended {when}: {ending}"
    return TransportError("; ".join(part for part in (story, session.standstill()) if part))


def _await_end(container: Container, timeout: float | None) -> None:
    """Batsim writes its files after the simulation. TransportError if it fails then."""
    if not container.wait(timeout):
        raise TransportError(f"Batsim has not ended within {timeout:g} s after the simulation")
    if container.failed:
        raise TransportError(f"Batsim ended after the simulation: {container.ending}")
