"""The CPU time of C++ batsched and of `serve` for the same workloads: both of them over JSON and ZeroMQ."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import orjson

from batsched_py.protocol.stopping import check_stop
from batsched_py.simulator.wire.scheduler_link import Exchange
from tests.benchmarks.inputs import poisson_workload, record
from tests.benchmarks.served import Run, bare_interpreter, serve_run, start_up, with_server
from tests.benchmarks.timing import Effort, enough_left
from tests.benchmarks.wire import pin, play, serve_bare, wire_core
from tests.benchmarks.yardstick import HOSTS


@dataclass(frozen=True, slots=True)
class Cpp:
    """CPU seconds of batsched's process for one workload; None: it was stopped after 400 s, or not tried.

    Batsched 1.4 (C++), driven by Batsim 4.2.1 over ZeroMQ on loopback, all pinned to one core of a virtual machine with
    two cores of an AMD EPYC that was otherwise quiet. The workloads are those of `poisson_workload`.
    """

    jobs: int
    hosts: int
    load: float
    fcfs_fast: float
    easy_bf_fast: float
    easy_bf: float | None
    conservative_bf: float | None


MEASURED: Final = (
    Cpp(1_000, 128, 0.9, 0.07, 0.06, 0.13, 0.15),
    Cpp(1_000, 128, 1.3, 0.08, 0.08, 0.85, 1.9),
    Cpp(1_000, 1_024, 0.9, 0.07, 0.08, 0.25, 0.31),
    Cpp(1_000, 1_024, 1.3, 0.07, 0.09, 0.63, 0.94),
    Cpp(10_000, 128, 0.9, 0.5, 0.6, 2.8, 4.6),
    Cpp(10_000, 128, 1.3, 0.5, 0.9, 74.6, 208),
    Cpp(10_000, 1_024, 0.9, 0.6, 0.6, 5.6, 8.2),
    Cpp(10_000, 1_024, 1.3, 0.5, 0.9, 128, 203),
    Cpp(100_000, 128, 0.9, 6.6, 6.9, 48, 84),
    Cpp(100_000, 128, 1.3, 6.1, 53, None, None),
    Cpp(100_000, 1_024, 0.9, 6.6, 8.2, 80, 185),
    Cpp(100_000, 1_024, 1.3, 6.3, 45, None, None),
)

#: Algorithm of ours -> those of batsched it is compared with.
RIVALS: Final = {
    "easy": ("easy_bf_fast", "easy_bf"),
    "conservative": ("conservative_bf",),
    "fcfs": ("fcfs_fast",),
}

#: Jobs that the message of a burst submits, all at once.
BURST: Final = 1_000


@dataclass(frozen=True, slots=True)
class Compared:
    """One workload: what C++ needed, and the run of ours that took the least CPU time, start-up included."""

    theirs: Cpp
    ours: Run
    repeats: int


@dataclass(frozen=True, slots=True)
class Ground:
    """The base costs beneath the measurements of one algorithm, in CPU seconds.

    Attributes:
        interpreter: a Python that does nothing.
        start_up: `serve` with one job; is taken from each run.
        bare: microseconds of CPU of a message in the bare ZeroMQ loop: a REP socket, orjson, FCFS on bitmasks.
    """

    interpreter: float
    start_up: float
    bare: float


def measure_ground(algorithm: str) -> Ground:
    """Pins the calling process to one core, and with it all that it starts."""
    core = wire_core()
    pin(core)
    requests = record("fcfs", 3_000, HOSTS, 0.6).requests
    bare = min(play(serve_bare, requests, core)[0] for _ in range(5)) / len(requests) * 1e6
    serve_run(algorithm, poisson_workload(1, HOSTS, 0.9))  # modules are compiled once
    return Ground(bare_interpreter(5), start_up(algorithm, 7), bare)


def compare(algorithm: str, theirs: Cpp, effort: Effort) -> Compared:
    """One row; pins like `measure_ground`."""
    pin(wire_core())
    workload = poisson_workload(theirs.jobs, theirs.hosts, theirs.load)
    runs: list[Run] = []
    while enough_left([run.wall for run in runs], effort):
        runs.append(serve_run(algorithm, workload))
    return Compared(theirs, min(runs, key=lambda run: run.cpu), len(runs))


def measure_burst(algorithm: str, repeats: int) -> float:
    """Wall-clock seconds of the one exchange that submits BURST jobs to 128 idle hosts; the least of several."""
    pin(wire_core())
    return min(with_server(algorithm, _submit_at_once)[0] for _ in range(repeats))


def _submit_at_once(exchange: Exchange) -> float:
    """The seconds of the large exchange; then the simulation ends, the jobs still waiting."""
    requests = iter(record("filler", 1, HOSTS, 0.9).requests)
    opening = next(requests)
    exchange(opening)
    request = orjson.dumps({"now": 1.0, "events": list(_submissions(BURST))})
    began = time.perf_counter()
    reply = exchange(request)
    seconds = time.perf_counter() - began
    check_stop(reply)
    exchange(orjson.dumps({"now": 2.0, "events": [{"timestamp": 2.0, "type": "SIMULATION_ENDS", "data": {}}]}))
    return seconds


def _submissions(jobs: int) -> Iterator[dict[str, object]]:
    for job in poisson_workload(jobs, HOSTS, 1.3).jobs:
        job_id = f"w0!{job.id}"
        described = {"id": job_id, "subtime": 1.0, "res": job.size, "walltime": job.walltime, "profile": job.profile}
        yield {"timestamp": 1.0, "type": "JOB_SUBMITTED", "data": {"job_id": job_id, "job": described}}


def ground_line(algorithm: str, ground: Ground) -> str:
    """Return a line with the base costs of each run and the present speed of this machine."""
    return (
        f"{algorithm}: start-up {ground.start_up:.3f} s of CPU (a bare interpreter {ground.interpreter:.3f} s), "
        f"taken from each run; the bare ZeroMQ loop {ground.bare:.0f} us of CPU a message"
    )


def table_head(algorithm: str) -> str:
    """The first two lines of the page's table."""
    head = ["jobs", "hosts", "load", "longest queue", f"`{algorithm}`, CPU s", "us/message"]
    for rival in RIVALS[algorithm]:
        head += [f"C++ `{rival}`, CPU s", "batsched-py / C++"]
    head.append("whole run, s")
    return f"| {' | '.join(head)} |\n" + "|" + "---|" * len(head)


def table_row(algorithm: str, row: Compared, ground: Ground) -> str:
    """One line of it."""
    theirs, ours = row.theirs, row.ours
    net = ours.cpu - ground.start_up
    cells = [_grouped(theirs.jobs), _grouped(theirs.hosts), f"{theirs.load}", _grouped(ours.longest_queue)]
    cells += [_seconds(net), f"{net / ours.messages * 1e6:.0f}"]
    for rival in RIVALS[algorithm]:
        needed: float | None = getattr(theirs, rival)
        cells += ["-", "-"] if needed is None else [f"{needed:g}", f"{net / needed:.2g}"]
    return f"| {' | '.join([*cells, _seconds(ours.wall)])} |"


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}"


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")
