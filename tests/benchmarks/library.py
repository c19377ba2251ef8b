"""A message of Batsim 5 in its own process, by a library, and over ZeroMQ: elapsed time until the answer."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from tests.benchmarks.inputs import record
from tests.benchmarks.parts import LOAD
from tests.benchmarks.timing import Effort, Timing, enough_left
from tests.benchmarks.wire import pin, play, serve_easy, serve_fcfs, wire_core
from tests.benchmarks.yardstick import HOSTS, Yardstick
from tests.edc_driver import compile_driver, compile_library, conversation
from tests.edc_driver import play as play_library

#: Algorithm -> its `serve` in a process of its own.
SERVERS: dict[str, Callable[[Connection, int], None]] = {"fcfs": serve_fcfs, "easy": serve_easy}


@dataclass(frozen=True, slots=True)
class Row:
    """Elapsed times of the same messages, from the request to the reply.

    Attributes:
        algorithm: that decides.
        socket: of a client over ZeroMQ, both ends on one core.
        library: of a program in C that calls a library.
    """

    algorithm: str
    socket: Timing
    library: Timing


def measure_library(jobs: int, effort: Effort) -> list[Row]:
    """Both in turn; the messages are those of `jobs` jobs."""
    core = wire_core()
    pin(core)
    with tempfile.TemporaryDirectory() as folder:
        return [_measure(name, jobs, effort, Path(folder), core) for name in SERVERS]


def markdown(rows: Sequence[Row]) -> Iterator[str]:
    """The table of docs/performance.md."""
    yield "| decides | messages | over ZeroMQ | x yardstick | by a library | x yardstick | library / ZeroMQ |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        socket, library = row.socket.microseconds, row.library.microseconds
        yield (
            f"| `{row.algorithm}` | {row.socket.messages} | {socket:.1f} us | {row.socket.ratio:.1f} |"
            f" {library:.1f} us | {row.library.ratio:.1f} | {library / socket:.2f} |"
        )


def _measure(name: str, jobs: int, effort: Effort, folder: Path, core: int | None) -> Row:
    requests = record(name, jobs, HOSTS, LOAD, "v5").requests
    program, library = compile_driver(folder), compile_library(folder, f"lib{name}.so", "-s", name)
    calls = conversation(requests[1:])
    yardstick = Yardstick()
    socket: list[float] = []
    inside: list[float] = []
    while enough_left(socket, effort):
        yardstick.sample()
        socket.append(play(SERVERS[name], requests, core)[1])
        answers = play_library(program, [library], calls, folder).answers[1:-1]
        assert len(answers) == len(requests) - 1
        assert all(answer.result == 0 for answer in answers)
        inside.append(sum(answer.nanoseconds for answer in answers) / 1e9)
        yardstick.sample()
    count = len(requests) - 1
    return Row(name, Timing.of(socket, count, yardstick), Timing.of(inside, count, yardstick))
