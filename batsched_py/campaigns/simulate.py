"""One simulation in one call: a platform, workloads, an algorithm, and the metrics of the schedule."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from batsched_py.campaigns.class_state import changed_state, class_state, leak_line
from batsched_py.campaigns.inputs import PlatformLike, WorkloadLike, as_platform, as_workload, origin_of
from batsched_py.campaigns.run import Run, RunOrigin
from batsched_py.example_files import path_or_example
from batsched_py.model.decision_row import DecisionRow
from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.reporting.algorithm_files import files_of_algorithm
from batsched_py.reporting.metrics.summary import summarise
from batsched_py.runs.run_description import Call, Decider, RunInputs, plain_settings, platform_file
from batsched_py.scheduling.base import Scheduler
from batsched_py.session.clock import parse_clock
from batsched_py.session.decision_log import PassOn
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import DEFAULTS, Simulation
from batsched_py.simulator.wire.scheduler_link import DirectExchange
from batsched_py.traces.lublin import Drawn


def simulate(
    platform: PlatformLike,
    workload: WorkloadLike | Sequence[WorkloadLike],
    algorithm: str | type[Scheduler[Any]],
    options: Mapping[str, Any] = MappingProxyType({}),
    *,
    settings: Settings = DEFAULTS,
    clock: str = "zero",
    warn: Callable[[str], None] | None = None,
    trace: bool = False,
    decisions: bool = False,
    log: PassOn | None = None,
) -> Run:
    """Simulate through the same messages as `batsched-py simulate`, with the same result.

    Args:
        platform: a SimGrid file, or a platform.
        workload: a Batsim file, a workload or a model to draw it from, or several of them.
        algorithm: a name as after `-s`, or a class; a file's path is relative to the current folder.
        options: options of the algorithm; texts as after `-o`, or values.
        settings: the options of `batsched-py simulate`.
        clock: the time that decisions take, as after `--clock`.
        warn: called with each warning, one line; None to ignore warnings, except those about state kept in a given
            class, which are issued as Python warnings.
        trace: keep the rows of Batsim's trace files, in `result.trace`.
        decisions: keep holds, promises and rejections, so that `explain` knows the reasons and `write` writes them.
        log: called with batches of rows of holds, promises and rejections.

    All errors are BatschedErrors, which the command shows in one line: PlatformError and WorkloadError for files,
    PluginError and OptionError for the algorithm, AlgorithmError, RefusedError and DeadlockError for its decisions.
    """
    call, rows = Call(), list[DecisionRow]()
    scheduler = load(algorithm) if isinstance(algorithm, str) else algorithm
    before = class_state(scheduler)
    session = Session(
        scheduler,
        options,
        clock=parse_clock(clock, time.perf_counter),
        warn=warn,
        log=_log(rows if decisions else None, log),
        features=settings.features,
        compute_sharing=settings.compute_sharing,
    )
    given = [workload] if isinstance(workload, (str, os.PathLike, Workload, Drawn)) else workload
    workloads = [as_workload(one) for one in given]
    machine = as_platform(platform)
    inputs = _inputs(platform, given, workloads, algorithm, options)
    simulation = Simulation(machine, workloads, settings, trace=trace, warn=warn)
    result = simulation.run(DirectExchange(session.answer, session.answer_unwritten))
    if session.scheduler.reads_waits:
        result = simulation.with_latency_told(result)
    result = replace(result, tables=session.tables())
    if not isinstance(algorithm, str):  # an algorithm given by its name is loaded anew for the next run
        leaked = changed_state(before, class_state(scheduler))
        if leaked and warn is not None:
            warn(leak_line(leaked))
        elif leaked:
            warnings.warn(leak_line(leaked), stacklevel=2)
    origin = RunOrigin(
        inputs,
        Decider(_name(algorithm), session.options, session.given),
        plain_settings(settings, result.features, clock=clock, requests=False),
        call,
        rows if decisions else None,
    )
    return Run(summarise(result), result, dict(session.rejections), scheduler.name, dict(options), origin)


def _log(rows: list[DecisionRow] | None, log: PassOn | None) -> PassOn | None:
    """Return the receiver of rows: they are kept, passed on, both, or not made at all."""
    if rows is None:
        return log

    def receive(some: Sequence[DecisionRow]) -> None:
        rows.extend(some)
        if log is not None:
            log(some)

    return receive


def _inputs(
    platform: PlatformLike,
    given: Sequence[WorkloadLike],
    workloads: Sequence[Workload],
    algorithm: str | type[Scheduler[Any]],
    options: Mapping[str, Any],
) -> RunInputs:
    """Describe the files that a run reads, as they are before it. InputError."""
    return RunInputs(
        None if isinstance(platform, Platform) else platform_file(path_or_example(Path(platform))),
        tuple(map(origin_of, given, workloads)),
        files_of_algorithm(algorithm, options) if isinstance(algorithm, str) else (),
    )


def _name(algorithm: str | type[Scheduler[Any]]) -> str:
    """Return the algorithm as after `-s`."""
    return algorithm if isinstance(algorithm, str) else f"{algorithm.__module__}:{algorithm.__qualname__}"
