"""Growth: what a message costs when jobs, hosts and the queue become many."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from batsched_py.results.records import JobRecord, Result
from tests.benchmarks.inputs import direct, new_session, new_simulation, poisson_workload
from tests.benchmarks.timing import Effort, Timing, measure
from tests.benchmarks.yardstick import Yardstick

LOADS = (0.9, 1.3)
#: (jobs, hosts): more and more jobs, then more and more hosts.
SIZES = ((1_000, 128), (10_000, 128), (100_000, 128), (10_000, 1_024), (10_000, 10_240))
#: Name in the table -> algorithm, options.
ALGORITHMS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "fcfs": ("fcfs", {}),
    "easy, reserve=counts": ("easy", {"reserve": "counts"}),
    "easy, reserve=hosts": ("easy", {"reserve": "hosts"}),
}


@dataclass(frozen=True, slots=True)
class Growth:
    """One run, session and simulator in process.

    Attributes:
        jobs, hosts, load: of the workload.
        timing: of all of it.
        deciding: CPU seconds in the session, of `timing.seconds`.
        longest_queue: most jobs that were left waiting by a decision.
        peak: megabytes of memory, the interpreter and the workload included.
    """

    jobs: int
    hosts: int
    load: float
    timing: Timing
    deciding: float
    longest_queue: int
    peak: float


def measure_growth(algorithm: str, jobs: int, hosts: int, load: float, effort: Effort) -> Growth:
    """One row; to be run in a fresh process, or `peak` is that of another one."""
    workload = poisson_workload(jobs, hosts, load)
    name, options = ALGORITHMS[algorithm]

    def prepare() -> Callable[[], Result]:
        simulation, session = new_simulation(workload), new_session(name, options)
        return lambda: simulation.run(direct(session), clock=time.process_time)

    def note(result: Result) -> None:
        noted.append((result.deciding_seconds, result.messages, longest_queue(result.jobs)))

    noted: list[tuple[float, int, int]] = []
    yardstick = Yardstick()
    samples = measure(prepare, effort, yardstick, note)
    deciding, messages, longest = min(noted)
    timing = Timing.of(samples, messages, yardstick)
    return Growth(jobs, hosts, load, timing, deciding, longest, peak_megabytes())


def longest_queue(records: Iterable[JobRecord]) -> int:
    """The most jobs that waited after all decisions of an instant."""
    changes: dict[float, int] = {}
    for record in records:
        for time_, change in ((record.job.submit_time, 1), (record.start, -1)):
            changes[time_] = changes.get(time_, 0) + change
    longest = waiting = 0
    for time_ in sorted(changes):
        waiting += changes[time_]
        longest = max(longest, waiting)
    return longest


def peak_megabytes() -> float:
    """Return the peak of this process so far; macOS counts bytes, others kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
