"""One simulation in one call: a platform, workloads, an algorithm, and the figures of the schedule."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from batsched_py.brief import Brief
from batsched_py.model.platform import Platform
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.reporting.metrics.metrics import Metrics, measure
from batsched_py.scheduling.base import Scheduler
from batsched_py.session.clock import parse_clock
from batsched_py.session.session import Session
from batsched_py.simulator.records import Result
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.simulation import DEFAULTS, Simulation
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform

#: A file, or what was read from one or made.
PlatformLike = Platform | str | os.PathLike[str]
WorkloadLike = Workload | str | os.PathLike[str]


class Run(Brief, frozen=True):
    """What a simulation left behind.

    Attributes:
        metrics: the figures of the schedule: mean wait, bounded slowdown... (docs/simulator.md defines them).
        result: a record of each job, and figures of the run.
        rejections: job id -> why it was rejected.
    """

    metrics: Metrics
    result: Result
    rejections: Mapping[str, str]


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
) -> Run:
    """Simulate, through the same messages as `batsched-py simulate`, and with the same result.

    Args:
        platform: a SimGrid file, or a platform.
        workload: a Batsim file, a workload, or several of them.
        algorithm: what comes after `-s`, or a class; a file's path is taken from the current folder.
        options: of the algorithm; texts as after `-o`, or values.
        settings: what `simulate` has options for.
        clock: how long decisions take, as after `--clock`.
        warn: receives one line for each thing that is strange but legal; None if nobody listens.
        trace: keep the rows of Batsim's trace files, in `result.trace`.

    Raises what the command says in one line, all of it a BatschedError: PlatformError and WorkloadError for files,
    PluginError and OptionError for the algorithm, AlgorithmError, RefusedError and DeadlockError for what it decides.
    """
    scheduler = load(algorithm) if isinstance(algorithm, str) else algorithm
    session = Session(scheduler, options, clock=parse_clock(clock, time.perf_counter), warn=warn)
    given = [workload] if isinstance(workload, (str, os.PathLike, Workload)) else workload
    workloads = [one if isinstance(one, Workload) else read_workload(Path(one)) for one in given]
    machine = platform if isinstance(platform, Platform) else read_platform(Path(platform))
    result = Simulation(machine, workloads, settings, trace=trace).run(session.answer)
    return Run(measure(result.jobs, result.host_count), result, dict(session.rejections))
