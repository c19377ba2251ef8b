"""`batsched-py simulate`: run a workload on a platform without Batsim."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from batsched_py.cli.shared.algorithm import Choice
from batsched_py.cli.shared.console import Output, show_picture, show_table
from batsched_py.cli.shared.decider import our_decider, their_decider
from batsched_py.cli.shared.live import LOOK_EVERY, Watch, live_view
from batsched_py.cli.shared.output import result_files, rows_aside, write_result
from batsched_py.cli.shared.output_paths import check_apart, check_writable
from batsched_py.cli.shared.parameters import (
    algorithm_options,
    clock_option,
    connect_timeout_option,
    debug_option,
    limit_option,
    live_option,
    read_address,
    record_option,
    scheduler_option,
    told_limits,
)
from batsched_py.cli.shared.progress import simulation_bar
from batsched_py.cli.shared.redis_place import RedisPlace, redis_option
from batsched_py.cli.shared.simulation_options import (
    behaviour_options,
    check_behaviour,
    machine_options,
    named_platform,
    platform_option,
    read_external,
    workloads_option,
)
from batsched_py.cli.shared.terminal import say
from batsched_py.metadata.keys import DEFAULT_PREFIX
from batsched_py.metadata.store import JobStore
from batsched_py.protocol.events import Config
from batsched_py.reporting.metrics.summary import summary_table
from batsched_py.reporting.pictures.terminal.gantt import render
from batsched_py.reporting.pictures.terminal.live import stand_of_session, stand_of_simulation
from batsched_py.reporting.schedules.schedule import schedule_of
from batsched_py.session.session import Session
from batsched_py.simulator.records import Result
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.simulation import Simulation
from batsched_py.simulator.wire.scheduler_link import Exchange
from batsched_py.traces.batsim_json import read_workload

#: What is done while nobody decides.
_SIMULATING: Final = "simulating"


@click.command("simulate")
@platform_option
@workloads_option
@click.option(
    "--workload-name",
    "workload_names",
    multiple=True,
    metavar="NAME",
    callback=lambda _context, _option, names: names or None,
    help="What each workload is called in job ids, in their order.",
)
@scheduler_option
@algorithm_options
@click.option("-e", "--export", metavar="PREFIX", help="Write PREFIX_jobs.csv, PREFIX_schedule.csv and traces.")
@machine_options
@behaviour_options
@click.option("--sched-cfg", "scheduler_config", default="", metavar="JSON", help="Options, as Batsim sends them.")
@click.option("--enable-redis", is_flag=True, help="Keep jobs in Redis; messages only name them.")
@click.option("--redis-hostname", default="127.0.0.1", show_default=True, metavar="NAME", help="Where Redis is.")
@click.option(
    "--redis-port", type=click.IntRange(1, 65535), default=6379, show_default=True, metavar="N", help="Its port."
)
@click.option(
    "--redis-prefix", default=DEFAULT_PREFIX, show_default=True, metavar="PREFIX", help="What keys in Redis begin with."
)
@redis_option
@record_option
@clock_option
@click.option(
    "--socket",
    callback=read_address,
    metavar="ADDRESS",
    help="Ask the decision process that listens there, as Batsim does.",
)
@connect_timeout_option("With --socket: wait so long for somebody to listen.")
@click.option("--gantt", is_flag=True, help="Draw what happened.")
@live_option
@click.option("--quiet", is_flag=True, help="No progress bar and no summary.")
@limit_option
@debug_option
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
    clock: str,
    socket: str | None,
    connect_timeout: float,
    gantt: bool,
    live: bool,
    quiet: bool,
    enable_redis: bool,
    redis_address: tuple[str, int] | None,
    **settings: Any,
) -> None:
    """Play Batsim: run the jobs of the workloads on the platform as the algorithm decides.

    Each decision is checked as Batsim checks it. The algorithm is one of ours (-s), or any program that speaks Batsim's
    protocol (--socket).
    """
    if (scheduler is None) == (socket is None):
        raise click.UsageError("One of '-s' and '--socket' is needed: who decides?")
    if socket is not None and (assignments or options_file is not None or clock != "zero"):
        raise click.UsageError("'-o', '--options-file' and '--clock' go with '-s': another program has its own options")
    if redis_address is not None and not enable_redis:
        raise click.UsageError("'--redis' goes with '--enable-redis'")
    check_behaviour(settings)
    inputs = [("-p", platform), *(("-w", path) for path in workloads), ("--events", events)]
    traced = {"machine_states": settings["trace_machine_states"], "energy": settings["energy"]}
    results = result_files(export, **traced)
    outputs = [("--record", record), *(("-e", path) for path in results)]
    check_apart([*inputs, ("--options-file", options_file)], outputs)
    check_writable(results)  # before the run, which may be long: a wrong PREFIX is told at once
    machines = named_platform(platform, settings["master_host"])
    external = read_external(events, len(machines.hosts), forwarded=settings["forward_unknown_events"])
    told = Settings(external_events=external, **settings)
    jobs = [read_workload(path, limits=told_limits()) for path in workloads]
    redis = RedisPlace(redis_address, allowed=(told.redis_hostname,))  # a word of the user's
    # Whoever draws the jobs needs them all in memory.
    aside = nullcontext() if export is None or gantt else rows_aside(results, lists_rejected=not told.is_v14)
    with _store(redis if enable_redis else None, told) as store, aside as put_aside:
        simulation = Simulation(machines, jobs, told, store=store, trace=export is not None, pass_on=put_aside)
        if scheduler is not None:
            choice = Choice(scheduler, assignments, options_file, clock, redis=redis)
            watch = Watch(scheduler, _SIMULATING, look_every=LOOK_EVERY)
            decider = our_decider(choice, record, partial(_look_inside, watch, simulation))
        else:
            watch = Watch(str(socket), _SIMULATING, look_every=LOOK_EVERY)
            watch.follow(lambda: stand_of_simulation(simulation.status()))
            decider = their_decider(str(socket), connect_timeout, record)
        with decider as exchange:
            result = _run(simulation, exchange, watch if live else None, progress=not quiet)
        write_result(results, result)
    _show(result, gantt=gantt, summary=not quiet)


def _look_inside(watch: Watch, simulation: Simulation, session: Session) -> None:
    """Of our own algorithms it is known why jobs wait; how many will come only the simulation knows."""
    watch.follow(lambda: stand_of_session(session, simulation.job_count))


def _run(simulation: Simulation, exchange: Exchange, watch: Watch | None, *, progress: bool) -> Result:
    """To the end, with a live view, a progress bar, or neither."""
    with _unwatched():
        return _play(simulation, exchange, watch, progress=progress)


@contextmanager
def _unwatched() -> Iterator[None]:
    """What was read stays to the end of the run: the garbage collector need not look at it again and again."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _play(simulation: Simulation, exchange: Exchange, watch: Watch | None, *, progress: bool) -> Result:
    if watch is not None:
        with live_view(watch) as shown:
            return simulation.run(watch.exchange(exchange) if shown else exchange)
    with simulation_bar(wanted=progress) as told:
        return simulation.run(exchange, told)


@contextmanager
def _store(redis: RedisPlace | None, settings: Settings) -> Iterator[JobStore | None]:
    """Redis while it is used; None without. StoreError."""
    if redis is None:
        yield None
        return
    told = Config(
        redis_hostname=settings.redis_hostname,
        redis_port=settings.redis_port,
        redis_prefix=settings.redis_prefix,
    )
    with closing(redis.open(told)) as store:
        yield store


def _show(result: Result, *, gantt: bool, summary: bool) -> None:
    if gantt:
        console = Output()
        show_picture(console, render(schedule_of(result, ""), console.width))
    if summary:
        show_table(summary_table(result))
    for line in result.approximations:
        say(f"approximation: {line}", err=not summary)
