"""The cost of --record: runs with it and without it in turn, as shares of the run without."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from batsched_py.cli.__main__ import GARBAGE
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import Recorder
from tests.benchmarks.inputs import Recording, direct, new_session, new_simulation, record, recorder
from tests.benchmarks.parts import LOAD
from tests.benchmarks.timing import Effort
from tests.benchmarks.wire import pin, play, serve_compressed, serve_easy, serve_recorded, wire_core
from tests.benchmarks.yardstick import HOSTS

#: Short runs, many times: a difference of a few per cent is seen only between the fastest of many.
JOBS = 3000
RUNS = 6


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost that recording adds to a run.

    Attributes:
        name: of the run.
        share: by which the fastest run with it takes longer than the fastest without.
        microseconds: of a message without it.
        added: microseconds of a message that it adds.
        size: of the recording, bytes for each message.
    """

    name: str
    share: float
    microseconds: float
    added: float
    size: float


def measure_recording(effort: Effort) -> list[Cost]:
    """Simulations in process, and `serve` over ZeroMQ on one core; pins the calling process, too."""
    recording = record("easy", JOBS, HOSTS, LOAD)
    core = wire_core()
    pin(core)
    gc.set_threshold(GARBAGE)

    def served(server: Callable[..., None]) -> Callable[[], float]:
        return lambda: play(server, recording.requests, core)[0]

    simulated = [_simulated(recording, name) for name in (None, "run.jsonl", "run.jsonl.gz")]
    serving = [served(server) for server in (serve_easy, serve_recorded, serve_compressed)]
    return [
        *_costs("simulate", simulated, recording, effort.repeats * RUNS, gathers=True),
        *_costs("serve", serving, recording, effort.repeats * RUNS // 3, gathers=False),
    ]


def _costs(
    command: str, runs: list[Callable[[], float]], recording: Recording, repeats: int, *, gathers: bool
) -> list[Cost]:
    """The runs return CPU seconds: without a recording, with one, with a compressed one; they take turns."""
    fastest = [min(samples) for samples in zip(*([run() for run in runs] for _ in range(repeats)), strict=True)]
    messages = len(recording.requests)
    plain, *kept = (seconds / messages * 1e6 for seconds in fastest)
    sizes = (_size(recording, name, gathers=gathers) / messages for name in ("run.jsonl", "run.jsonl.gz"))
    names = (f"{command}, JSON lines", f"{command}, compressed")
    return [
        Cost(name, cost / plain - 1, plain, cost - plain, size)
        for name, cost, size in zip(names, kept, sizes, strict=True)
    ]


def _simulated(recording: Recording, name: str | None) -> Callable[[], float]:
    """CPU seconds of a simulation; files are made and closed outside of them."""

    def measured() -> float:
        simulation, session = new_simulation(recording.workload), new_session("easy")
        if name is None:
            return _seconds(lambda: simulation.run(direct(session)))
        with recorder(name) as kept:

            def exchange(request: bytes) -> bytes:
                reply = session.answer(request)
                kept.gather(request, reply)
                return reply

            return _seconds(lambda: simulation.run(exchange))

    return measured


def _seconds(action: Callable[[], object]) -> float:
    gc.collect()
    began = time.process_time()
    action()
    return time.process_time() - began


def _size(recording: Recording, name: str, *, gathers: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        with Recorder(path, Header("easy")) as kept:
            keep = kept.gather if gathers else partial(kept.record, is_json=True)
            for request, reply in zip(recording.requests, recording.replies, strict=True):
                keep(request, reply)
        return path.stat().st_size
