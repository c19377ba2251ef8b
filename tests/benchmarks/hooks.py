"""Schedulers of pybatsim, decided by pybatsim and by `serve`: two processes that are sent the same recorded messages.

Neither has a simulator beside it, so that what is compared is the processor time of deciding alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from typing import Final

import orjson

from batsched_py.transport.zmq_req import ReqSocket
from tests.benchmarks.inputs import record
from tests.benchmarks.served import environment, wait_for
from tests.benchmarks.timing import Effort, enough_left
from tests.benchmarks.wire import pin, wire_core
from tests.pybatsim_runs import DATA

#: Schedulers of the tests that can decide for any workload; each has a file, by this name.
SCHEDULERS: Final = ("strictFcfs", "orderedFiller", "simpleEasy")
HOSTS: Final = 32
LOAD: Final = 0.9


@dataclass(frozen=True, slots=True)
class Decided:
    """CPU seconds of both processes for one conversation, without those for its first and last message alone."""

    scheduler: str
    messages: int
    theirs: float
    ours: float


def measure_hooks(environment_of_theirs: Path, jobs: int, effort: Effort) -> list[Decided]:
    """Measure each scheduler; ENVIRONMENT has pybatsim 3.2.1. Pins the calling process to one core."""
    pin(wire_core())
    with tempfile.TemporaryDirectory() as folder:
        return [_measure(name, environment_of_theirs, jobs, effort, Path(folder)) for name in SCHEDULERS]


def markdown(rows: Sequence[Decided]) -> Iterator[str]:
    """The table of docs/how-to/run-pybatsim.md."""
    yield "| scheduler | messages | pybatsim, us/message | `serve`, us/message | part of the time |"
    yield "|---|---|---|---|---|"
    for row in rows:
        theirs, ours = (seconds / row.messages * 1e6 for seconds in (row.theirs, row.ours))
        yield f"| `{row.scheduler}` | {row.messages} | {theirs:.0f} | {ours:.0f} | {ours / theirs:.2f} |"


def _measure(name: str, environment_of_theirs: Path, jobs: int, effort: Effort, folder: Path) -> Decided:
    file = copyfile(DATA / f"{name}.py", folder / f"{name}.py")
    requests = record(f"pybatsim:{file}", jobs, HOSTS, LOAD).requests
    address = f"ipc://{folder}/socket"
    theirs = [str(environment_of_theirs / "bin" / "pybatsim"), file.name, "-v", "error", "-s", address]
    ours = [sys.executable, "-m", "batsched_py", "serve", "-s", f"pybatsim:{file}", "-b", address, "--quiet"]
    samples: dict[str, list[float]] = {"theirs": [], "ours": []}
    answers: dict[str, list[object]] = {}
    spent: list[float] = []
    while enough_left(spent, effort):
        for side, command in (("theirs", theirs), ("ours", ours)):
            start_up, _ = _played(command, [requests[0], requests[-1]], folder, address)
            whole, answers[side] = _played(command, requests, folder, address)
            samples[side].append(whole - start_up)
        spent.append(samples["theirs"][-1] + samples["ours"][-1])
    assert answers["theirs"] == answers["ours"], name
    return Decided(name, len(requests), min(samples["theirs"]), min(samples["ours"]))


def _played(command: list[str], requests: Sequence[bytes], folder: Path, address: str) -> tuple[float, list[object]]:
    """Return the CPU seconds of a process from its start to its end, and its answers."""
    Path(address.removeprefix("ipc://")).unlink(missing_ok=True)
    process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL)
    try:
        with ReqSocket(address, answer_timeout=60.0) as socket:
            replies = [socket.exchange(request) for request in requests]
        return wait_for(process), [orjson.loads(reply)["events"] for reply in replies]
    except BaseException:
        process.kill()
        os.waitpid(process.pid, 0)
        raise
