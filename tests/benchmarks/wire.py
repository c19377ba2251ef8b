"""The wire: a client plays recorded requests over loopback TCP against a decision process of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

import orjson
import zmq

from batsched_py.session.serve import RecordExchange, serve
from batsched_py.transport.zmq_rep import RepSocket
from tests.benchmarks.inputs import new_session, record, recorder
from tests.benchmarks.parts import LOAD
from tests.benchmarks.timing import Effort, Timing, enough_left
from tests.benchmarks.yardstick import HOSTS, BareFcfs, Yardstick

ANY_PORT = "tcp://127.0.0.1:*"


@dataclass(frozen=True, slots=True)
class Wire:
    """Both ends on one core, if `core` is not None.

    Attributes:
        rows: (decision process, CPU time of its process, wall-clock time of the client).
    """

    core: int | None
    rows: list[tuple[str, Timing, Timing]]


def measure_wire(jobs: int, effort: Effort) -> Wire:
    """Bare loops and our own `serve` loop, in turn; pins the calling process, too."""
    core = wire_core()
    pin(core)
    requests = record("fcfs", jobs, HOSTS, LOAD).requests
    for_easy = record("easy", jobs, HOSTS, LOAD).requests
    servers: list[tuple[str, Callable[[Connection, int], None], Sequence[bytes]]] = [
        ("bare REP, orjson echo", serve_echo, requests),
        ("bare REP, orjson, bare FCFS", serve_bare, requests),
        ("batsched-py serve, fcfs", serve_fcfs, requests),
        ("batsched-py serve, easy", serve_easy, for_easy),
    ]
    return Wire(core, [(name, *_repeat(server, played, core, effort)) for name, server, played in servers])


def serve_echo(pipe: Connection, messages: int) -> None:
    """Reads each request and writes it back."""
    _bare_loop(pipe, messages, lambda request: orjson.dumps(orjson.loads(request)))


def serve_bare(pipe: Connection, messages: int) -> None:
    """Decides as the yardstick does."""
    _bare_loop(pipe, messages, BareFcfs(HOSTS).answer)


def serve_fcfs(pipe: Connection, _messages: int) -> None:
    """Run as `batsched-py serve -s fcfs` does."""
    _our_loop(pipe, "fcfs")


def serve_easy(pipe: Connection, _messages: int) -> None:
    """Run as `batsched-py serve -s easy` does."""
    _our_loop(pipe, "easy")


def _bare_loop(pipe: Connection, messages: int, answer: Callable[[bytes], bytes]) -> None:
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        socket.bind(ANY_PORT)
        pipe.send(socket.get_string(zmq.LAST_ENDPOINT))
        began = time.process_time()
        for _ in range(messages):
            socket.send(answer(socket.recv()))
        pipe.send(time.process_time() - began)


def serve_recorded(pipe: Connection, _messages: int) -> None:
    """Run as `batsched-py serve -s easy --record RUN.jsonl` does."""
    with recorder("run.jsonl") as keep:
        _our_loop(pipe, "easy", keep.record)


def serve_compressed(pipe: Connection, _messages: int) -> None:
    """Run as `batsched-py serve -s easy --record RUN.jsonl.gz` does."""
    with recorder("run.jsonl.gz") as keep:
        _our_loop(pipe, "easy", keep.record)


def _our_loop(pipe: Connection, scheduler: str, record: RecordExchange | None = None) -> None:
    session = new_session(scheduler)
    with RepSocket(ANY_PORT) as socket:
        pipe.send(socket.address)
        began = time.process_time()
        serve(session, socket, record=record)
        pipe.send(time.process_time() - began)


def _repeat(
    server: Callable[[Connection, int], None], requests: Sequence[bytes], core: int | None, effort: Effort
) -> tuple[Timing, Timing]:
    yardstick = Yardstick()
    cpu: list[float] = []
    wall: list[float] = []
    while enough_left(wall, effort):
        yardstick.sample()
        for samples, seconds in zip((cpu, wall), play(server, requests, core), strict=True):
            samples.append(seconds)
        yardstick.sample()
    return Timing.of(cpu, len(requests), yardstick), Timing.of(wall, len(requests), yardstick)


def play(server: Callable[[Connection, int], None], requests: Sequence[bytes], core: int | None) -> tuple[float, float]:
    """CPU seconds of the server's process, all its threads together, and wall-clock seconds of the client."""
    ours, theirs = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_child, args=(server, theirs, len(requests), core))
    process.start()
    theirs.close()  # so that a child that dies is an EOFError here, not silence
    with zmq.Context() as context, context.socket(zmq.REQ) as socket:
        socket.connect(ours.recv())
        began = time.perf_counter()
        for request in requests:
            socket.send(request)
            socket.recv()
        wall = time.perf_counter() - began
    cpu = float(ours.recv())
    process.join()
    return cpu, wall


def _child(server: Callable[[Connection, int], None], pipe: Connection, messages: int, core: int | None) -> None:
    pin(core)
    server(pipe, messages)


def wire_core() -> int | None:
    """Return the core on which both ends of a conversation run, if this system can pin."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def pin(core: int | None) -> None:
    """Before ZeroMQ makes its threads, which inherit it."""
    if core is not None:
        os.sched_setaffinity(0, {core})
