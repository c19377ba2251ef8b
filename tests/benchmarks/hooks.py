"""Schedulers of pybatsim, decided by pybatsim and by batsched-py: two processes with the same recorded messages.

Neither has a simulator, so that what is compared is the processor time of deciding: over a socket, as `serve` does, and
with the messages in a file, as the two programs decide without ZeroMQ.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
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
from tests.clone import ROOT
from tests.pybatsim_runs import DATA

#: Schedulers of the tests that can decide for any workload; each has a file, by this name.
SCHEDULERS: Final = ("strictFcfs", "orderedFiller", "simpleEasy")
HOSTS: Final = 32
LOAD: Final = 0.9

#: Pybatsim with a file of messages instead of its socket. It prints its answers, and the seconds from the first request
#: to the last answer.
_THEIRS: Final = """
import sys, time
from batsim.network import NetworkHandler
requests, times, answers = iter(open(sys.argv.pop(1)).read().splitlines()), [], []
def receive(self, blocking=False):
    times[1:] = [time.process_time()]
    return next(requests)
def send(self, message):
    answers.append(message)
    times.append(time.process_time())
NetworkHandler.bind = NetworkHandler.close = lambda self: None
NetworkHandler.recv_string, NetworkHandler.send_string = receive, send
from batsim.cmds.launcher import main
try:
    main()
finally:
    print(*answers, times[-1] - times[0], sep=chr(10))
"""
#: The same for a session, with the garbage collection of the program.
_OURS: Final = """
import gc, sys, time
from batsched_py.cli.__main__ import GARBAGE
from batsched_py.plugins import load
from batsched_py.session.session import Session
requests, answers = open(sys.argv[1], "rb").read().splitlines(), []
gc.set_threshold(GARBAGE)
session = Session(load(sys.argv[2]))
began = time.process_time()
for request in requests:
    answers.append(session.answer(request))
    ended = time.process_time()
print(*(answer.decode() for answer in answers), ended - began, sep=chr(10))
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """CPU seconds of both processes for one conversation, without their start."""

    theirs: float
    ours: float

    @property
    def part(self) -> float:
        """Return the part of their time that ours is."""
        return self.ours / self.theirs


@dataclass(frozen=True, slots=True)
class Decided:
    """The times of a scheduler, with the messages in a file and over a socket."""

    scheduler: str
    messages: int
    alone: Pair
    wired: Pair


def measure_hooks(environment_of_theirs: Path, jobs: int, effort: Effort) -> list[Decided]:
    """Measure each scheduler; ENVIRONMENT has pybatsim 3.2.1. Pins the calling process to one core."""
    pin(wire_core())
    with tempfile.TemporaryDirectory() as folder:
        return [_measure(name, environment_of_theirs, jobs, effort, Path(folder)) for name in SCHEDULERS]


def markdown(rows: Sequence[Decided]) -> Iterator[str]:
    """The table of docs/how-to/run-pybatsim.md."""
    yield (
        "| scheduler | messages | alone: pybatsim, us/message | batsched-py | part |"
        " over a socket: pybatsim, us/message | batsched-py | part |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        cells = [f"`{row.scheduler}`", str(row.messages)]
        for pair in (row.alone, row.wired):
            cells += [f"{seconds / row.messages * 1e6:.0f}" for seconds in (pair.theirs, pair.ours)]
            cells.append(f"{pair.part:.2f}")
        yield f"| {' | '.join(cells)} |"


def _measure(name: str, environment_of_theirs: Path, jobs: int, effort: Effort, folder: Path) -> Decided:
    file = copyfile(DATA / f"{name}.py", folder / f"{name}.py")
    requests = record(f"pybatsim:{file}", jobs, HOSTS, LOAD).requests
    address = f"ipc://{folder}/socket"
    programs, python = environment_of_theirs / "bin", sys.executable
    theirs = [str(programs / "pybatsim"), file.name, "-v", "error", "-s", address]
    ours = [python, "-m", "batsched_py", "serve", "-s", f"pybatsim:{file}", "-b", address, "--quiet"]
    messages = str(folder / "messages")
    theirs_alone = [str(programs / "python"), "-c", _THEIRS, messages, file.name, "-v", "error"]
    ours_alone = [python, "-c", _OURS, messages, f"pybatsim:{file}"]

    def over_socket(command: list[str]) -> tuple[float, list[object]]:
        start_up, _ = _over_socket(command, [requests[0], requests[-1]], folder, address)
        whole, answers = _over_socket(command, requests, folder, address)
        return whole - start_up, answers

    Path(messages).write_bytes(b"\n".join(requests))
    return Decided(
        name,
        len(requests),
        _pair(lambda command: _alone(command, folder), theirs_alone, ours_alone, effort),
        _pair(over_socket, theirs, ours, effort),
    )


def _pair(
    play: Callable[[list[str]], tuple[float, list[object]]], theirs: list[str], ours: list[str], effort: Effort
) -> Pair:
    """Measure both in turn, the least of each; their answers must be the same."""
    before: list[float] = []
    after: list[float] = []
    while enough_left(before, effort):
        (slow, expected), (quick, answers) = play(theirs), play(ours)
        assert answers == expected, theirs
        before.append(slow)
        after.append(quick)
    return Pair(min(before), min(after))


def _over_socket(
    command: list[str], requests: Sequence[bytes], folder: Path, address: str
) -> tuple[float, list[object]]:
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


def _alone(command: list[str], folder: Path) -> tuple[float, list[object]]:
    """Return the CPU seconds from the first message to the last answer, and the answers."""
    paths = {**environment(), "PYTHONPATH": str(ROOT)} if command[2] == _OURS else environment()
    done = subprocess.run(command, cwd=folder, env=paths, stdout=subprocess.PIPE, check=True, text=True)
    lines = done.stdout.splitlines()
    # Pybatsim prints other lines, too.
    return float(lines[-1]), [orjson.loads(line)["events"] for line in lines if line.startswith("{")]
