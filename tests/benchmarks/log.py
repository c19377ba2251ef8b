"""A real log, end to end: read, convert, simulate, write."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from batsched_py.results.result_files import write_jobs, write_schedule
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.swf import read_swf
from tests.benchmarks.growth import longest_queue, peak_megabytes
from tests.benchmarks.inputs import direct, new_session
from tests.benchmarks.timing import Effort, Timing, enough_left
from tests.benchmarks.yardstick import Yardstick
from tests.platforms import plain_platform

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Replayed:
    """A log that was simulated with EASY, walltime = run time.

    Attributes:
        jobs: that were kept.
        timing: of all phases together.
        phases: CPU seconds of each in the fastest of the runs.
        longest_queue: most jobs that were left waiting by a decision.
        peak: megabytes of memory.
    """

    jobs: int
    timing: Timing
    phases: dict[str, float]
    longest_queue: int
    peak: float


class _Phases:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def run(self, name: str, action: Callable[[], Outcome]) -> Outcome:
        began = time.process_time()
        outcome = action()
        self.seconds[name] = time.process_time() - began
        return outcome

    def total(self) -> float:
        return sum(self.seconds.values())


def measure_log(path: Path, hosts: int, effort: Effort) -> Replayed:
    """The whole way, several times; to be run in a fresh process."""
    yardstick = Yardstick()
    runs: list[_Phases] = []
    while enough_left([run.total() for run in runs], effort):
        yardstick.sample()
        phases = _Phases()
        jobs, messages, longest = _run(path, hosts, phases)
        runs.append(phases)
        yardstick.sample()
    fastest = min(runs, key=_Phases.total)
    timing = Timing.of([run.total() for run in runs], messages, yardstick)
    return Replayed(jobs, timing, fastest.seconds, longest, peak_megabytes())


def _run(path: Path, hosts: int, phases: _Phases) -> tuple[int, int, int]:
    """Jobs, messages, longest queue."""
    log = phases.run("read the log", lambda: read_swf(path))
    workload, _ = phases.run("convert", lambda: clean(log, CleaningRules(hosts=hosts, walltime="run")))
    platform, session = plain_platform(hosts), new_session("easy")
    simulation = phases.run("prepare", lambda: Simulation(platform, [workload]))
    result = simulation.run(direct(session), clock=time.process_time)
    phases.seconds |= {"decide": result.deciding_seconds, "simulate": result.simulating_seconds}
    with TemporaryDirectory() as folder:
        phases.run("write jobs.csv", lambda: write_jobs(Path(folder) / "out_jobs.csv", result))
        phases.run("write schedule.csv", lambda: write_schedule(Path(folder) / "out_schedule.csv", result))
    return len(workload.jobs), result.messages, longest_queue(result.jobs)
