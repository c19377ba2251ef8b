"""Redis: what a burst of submissions costs when a real server on loopback holds the jobs, and when the message does."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from batsched_py.metadata.redis_store import RedisStore
from batsched_py.metadata.store import JobStore
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.delay_workload import DelayJob, delay_workload
from tests.benchmarks.timing import Effort, enough_left
from tests.benchmarks.yardstick import HOSTS
from tests.platforms import plain_platform
from tests.redis_server import running

#: A measurement takes a tenth of a second, and other programs disturb it: many are needed for a trustworthy least.
MORE = 4


@dataclass(frozen=True, slots=True)
class Burst:
    """Seconds that a session takes for the message that submits all jobs; `place` says where they are described.

    CPU seconds are those of its process alone; on the wall it also waits for the server.
    """

    place: str
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)


class _EnoughError(Exception):
    """The simulation has said what was wanted."""


def measure_stored(jobs: int, effort: Effort) -> list[Burst]:
    """Both ways, measured in turn."""
    workload = delay_workload(
        f"{jobs} jobs at once", HOSTS, [DelayJob(1.0, n, 10.0 + n % 50, 1 + n % 4, 100.0 + n % 7) for n in range(jobs)]
    )
    in_message, in_redis = Burst("in the message"), Burst("in Redis")
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as port:
        store = RedisStore("127.0.0.1", port, "bench")
        told, named = _requests(workload, None), _requests(workload, store)
        while enough_left(in_redis.wall, Effort(effort.repeats * MORE, effort.budget)):
            _measure(in_message, told, None)
            _measure(in_redis, named, store)
        store.close()
    return [in_message, in_redis]


def _requests(workload: Workload, store: JobStore | None) -> list[bytes]:
    """SIMULATION_BEGINS, and the burst; the jobs are put into the store."""
    requests: list[bytes] = []

    def exchange(request: bytes) -> bytes:
        requests.append(request)
        if len(requests) == 2:
            raise _EnoughError
        return b'{"now": 0.0, "events": []}'

    try:
        Simulation(plain_platform(HOSTS), [workload], Settings(), store=store).run(exchange)
    except _EnoughError:
        return requests
    raise AssertionError("the workload has no jobs")


def _measure(burst: Burst, requests: list[bytes], store: JobStore | None) -> None:
    session = Session(load("easy"), open_store=None if store is None else _give(store))
    session.answer(requests[0])
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    session.answer(requests[1])
    burst.cpu.append(time.process_time() - cpu)
    burst.wall.append(time.perf_counter() - wall)


def _give(store: JobStore) -> Callable[[object], JobStore]:
    return lambda _: store
