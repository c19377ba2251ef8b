"""`batsched-py serve`: decide for a Batsim that connects over ZeroMQ."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click

from batsched_py.cli.shared.algorithm import Choice, recording
from batsched_py.cli.shared.output_paths import check_apart
from batsched_py.cli.shared.parameters import (
    algorithm_options,
    clock_option,
    debug_option,
    limit_option,
    live_option,
    read_address,
    record_option,
    scheduler_option,
    timeout_option,
    told_limits,
)
from batsched_py.cli.shared.redis_place import RedisPlace, allow_redis_option, redis_option, redis_prefix_option
from batsched_py.cli.shared.terminal import say
from batsched_py.session.serve import serve
from batsched_py.session.session import Session
from batsched_py.transport.connection import Connection
from batsched_py.transport.zmq_rep import RepSocket
from batsched_py.wording import counted, seconds


def _watched(session: Session, name: str, connection: Connection) -> AbstractContextManager[Connection]:
    """The connection, with a live view of what passes through it."""
    module = importlib.import_module("batsched_py.cli.shared.live")  # draws, which takes long to import
    watched: AbstractContextManager[Connection] = module.watched_session(session, name, connection)
    return watched


@click.command("serve")
@scheduler_option
@click.option(
    "-b",
    "--bind",
    callback=read_address,
    default="tcp://127.0.0.1:28000",
    show_default=True,
    metavar="ADDRESS",
    help="Where to listen; the port may be * for a free one.",
)
@algorithm_options
@record_option
@timeout_option
@clock_option
@redis_option
@redis_prefix_option
@allow_redis_option
@live_option
@limit_option
@debug_option
def command(
    *,
    scheduler: str | None,
    bind: str,
    assignments: Mapping[str, str],
    options_file: Path | None,
    record: Path | None,
    timeout: float | None,
    clock: str,
    redis_address: tuple[str, int] | None,
    redis_prefix: str | None,
    allowed_redis: tuple[str, ...],
    live: bool,
) -> None:
    """Listen for Batsim and decide with ALGORITHM until the simulation ends.

    Start Batsim with the same address: batsim -s tcp://127.0.0.1:28000 ...

    When the algorithm fails, Batsim is told to stop; it does not wait for ever.
    """
    if scheduler is None:
        raise click.UsageError("Missing option '-s': which algorithm shall decide?")
    check_apart([("--options-file", options_file)], [("--record", record)])
    redis = RedisPlace(redis_address, redis_prefix, allowed_redis)
    choice = Choice(scheduler, assignments, options_file, clock, redis=redis)
    session = choice.session()
    # The recording is opened last: it must not replace an older one if nothing can be recorded.
    with RepSocket(bind, told_limits()) as socket, recording(record, choice.header()) as recorder:
        say(f"{scheduler} listens on {socket.address}", err=True)
        with _watched(session, scheduler, socket) if live else nullcontext(socket) as connection:
            serve(session, connection, record=None if recorder is None else recorder.record, timeout=timeout)
    say(f"the simulation ended at t={seconds(session.now)} after {counted(session.messages, 'message')}", err=True)
