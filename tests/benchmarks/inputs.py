"""Inputs of the measurements: seeded workloads, plain platforms, and recorded conversations."""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.simulator.wire.scheduler_link import DirectExchange
from batsched_py.traces.delay_workload import DelayJob, delay_workload
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import Recorder
from tests.platforms import plain_platform


def poisson_workload(jobs: int, hosts: int, load: float) -> Workload:
    """Delay jobs whose area is the share `load` of hosts * time; the same arguments, the same jobs.

    Arrivals are Poisson. Sizes are 2**k, k uniform from 0 to log2(hosts) - 2, half of them moved to any number above
    2**(k-1). Run times are lognormal (median 600 s, sigma 1.4), from 10 s to 36 h. Walltimes are 1.05 to 4 times that.
    """
    rng = random.Random(f"{jobs}-{hosts}-1")
    top = int(math.log2(hosts)) - 2
    gaps = [rng.expovariate(1.0) for _ in range(jobs)]
    drawn = []
    for _ in range(jobs):
        power = rng.randint(0, top)
        jittered = power > 0 and rng.random() < 0.5
        size = rng.randint(2 ** (power - 1) + 1, 2**power) if jittered else 2**power
        run = round(min(129600.0, max(10.0, rng.lognormvariate(math.log(600), 1.4))), 3)
        drawn.append((size, run, round(run * rng.uniform(1.05, 4), 0) + 1))
    scale = sum(size * run for size, run, _ in drawn) / (hosts * load) / sum(gaps)
    placed, clock = [], 0.0
    for number, (gap, (size, run, walltime)) in enumerate(zip(gaps, drawn, strict=True)):
        clock += gap * scale
        placed.append(DelayJob(round(clock, 3), number, run, size, walltime))
    return delay_workload(f"{jobs} jobs, {hosts} hosts, load {load}", hosts, placed)


def new_session(scheduler: str, options: Mapping[str, str] | None = None) -> Session:
    """An algorithm of ours, about to begin."""
    return Session(load(scheduler), options)


def direct(session: Session) -> DirectExchange:
    """The exchange of a simulation in one process, as in `simulate`."""
    return DirectExchange(session.answer, session.answer_unwritten)


def new_simulation(workload: Workload, protocol: str = "v4") -> Simulation:
    """The workload on a platform of its size."""
    return Simulation(plain_platform(workload.host_count), [workload], Settings(protocol=protocol))


@dataclass(frozen=True, slots=True)
class Recording:
    """A whole conversation, as bytes, and the workload it was about."""

    workload: Workload
    requests: tuple[bytes, ...]
    replies: tuple[bytes, ...]


def record(scheduler: str, jobs: int, hosts: int, load: float, protocol: str = "v4") -> Recording:
    """Record the messages between the simulator and an algorithm."""
    workload = poisson_workload(jobs, hosts, load)
    session, requests, replies = new_session(scheduler), [], []

    def exchange(request: bytes) -> bytes:
        reply = session.answer(request)
        requests.append(request)
        replies.append(reply)
        return reply

    new_simulation(workload, protocol).run(exchange)
    return Recording(workload, tuple(requests), tuple(replies))


@contextmanager
def recorder(name: str) -> Iterator[Recorder]:
    """Record as --record does, to a file of this name that is gone at the end."""
    with tempfile.TemporaryDirectory() as folder, Recorder(Path(folder, name), Header("easy")) as kept:
        yield kept
