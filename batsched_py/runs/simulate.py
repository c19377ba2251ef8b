"""One simulation in one call: a platform, workloads, an algorithm, and the metrics of the schedule."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from batsched_py.model.decision_row import DecisionRow
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import AlgorithmLike, name_of
from batsched_py.reporting.algorithm_files import files_of_algorithm
from batsched_py.reporting.metrics.machine_groups import EnergySignals
from batsched_py.runs.choice import Choice, settings_of
from batsched_py.runs.inputs import PlatformLike, WorkloadLike, as_platform, as_workload, origin_of, platform_origin
from batsched_py.runs.run_description import Call, Decider, RunInputs, RunOrigin, plain_settings
from batsched_py.runs.session_run import run_algorithm
from batsched_py.runs.simulated_run import SimulatedRun, simulated_run
from batsched_py.session.decision_log import PassOn
from batsched_py.traces.lublin import Drawn


def simulate(
    platform: PlatformLike,
    workload: WorkloadLike | Sequence[WorkloadLike],
    algorithm: AlgorithmLike,
    options: Mapping[str, Any] = MappingProxyType({}),
    *,
    settings: Settings = DEFAULTS,
    clock: str = "zero",
    requests: bool = False,
    record: str | os.PathLike[str] | None = None,
    warn: Callable[[str], None] | None = None,
    trace: bool = False,
    decisions: bool = False,
    log: PassOn | None = None,
) -> SimulatedRun:
    """Simulate through the same messages as `batsched-py simulate`, with the same result and the same errors.

    Args:
        platform: a SimGrid file, or a platform.
        workload: a Batsim file, a workload or a model to draw it from, or several of them.
        algorithm: a name as after `-s`, or a class; a file's path is relative to the current folder.
        options: options of the algorithm; texts as after `-o`, or values.
        settings: the options of `batsched-py simulate`.
        clock: the time that decisions take, as after `--clock`.
        requests: allow external events to request jobs, as with `--requests`.
        record: file for a recording of all messages, as after `--record`.
        warn: called with each warning, one line; None to ignore warnings, except those about state kept in a given
            class, which are issued as Python warnings.
        trace: keep the rows of Batsim's trace files, in `result.trace`.
        decisions: keep holds, promises and rejections, so that `explain` knows the reasons and `write` writes them.
        log: called with batches of rows of holds, promises and rejections.

    All errors are BatschedErrors, which the command shows in one line: PlatformError and WorkloadError for files,
    PluginError and OptionError for the algorithm, AlgorithmError, RefusedError and DeadlockError for its decisions,
    TranscriptError for the recording.
    """
    call, rows = Call(), list[DecisionRow]() if decisions else None
    given = [workload] if isinstance(workload, (str, os.PathLike, Workload, Drawn)) else workload
    workloads = [as_workload(one) for one in given]
    machine = as_platform(platform)
    inputs = _inputs(platform, given, workloads, algorithm, options)
    choice = Choice(name_of(algorithm), options, clock, requests, compute_sharing=settings.compute_sharing)
    signals = EnergySignals(settings.carbon, settings.price)
    result, session = run_algorithm(
        machine,
        workloads,
        algorithm,
        choice,
        settings,
        trace=trace or signals.known,
        warn=warn,
        log=_log(rows, log),
        record=None if record is None else Path(record),
    )
    plain = plain_settings(settings_of(choice, settings), result.features, clock=clock, requests=requests)
    origin = RunOrigin(inputs, Decider(choice.algorithm, session.options, session.explicit_options), plain, call)
    name = " ".join([session.scheduler.name or "run", *(f"{key}={value}" for key, value in options.items())])
    return simulated_run(name, result, session.rejections, origin, rows, signals=signals)


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
    sources: Sequence[WorkloadLike],
    workloads: Sequence[Workload],
    algorithm: AlgorithmLike,
    options: Mapping[str, Any],
) -> RunInputs:
    """Describe the files that a run reads, as they are before it. InputError."""
    return RunInputs(
        platform_origin(platform),
        tuple(map(origin_of, sources, workloads)),
        files_of_algorithm(algorithm, options) if isinstance(algorithm, str) else (),
    )
