"""`batsched-py serve` as users run it: a process of its own, the simulator as its peer, and what it cost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from batsched_py.model.workload import Workload
from batsched_py.simulator.wire.scheduler_link import Exchange
from batsched_py.transport.zmq_req import ReqSocket
from tests.benchmarks.growth import longest_queue
from tests.benchmarks.inputs import new_simulation, poisson_workload
from tests.benchmarks.wire import ANY_PORT

Outcome = TypeVar("Outcome")

#: Seconds until a child that does not answer is given up; conservative C++ needed 65 ms for one message.
PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class Run:
    """One run of `serve`.

    Attributes:
        cpu: seconds of its process from its start to its end, user and system, all threads.
        wall: seconds from the first request to the last reply.
        messages: requests answered.
        longest_queue: most jobs that were left waiting by a decision.
    """

    cpu: float
    wall: float
    messages: int
    longest_queue: int


def serve_run(algorithm: str, workload: Workload, options: Mapping[str, str] | None = None) -> Run:
    """A whole simulation against a process of its own."""

    def talk(exchange: Exchange) -> Run:
        simulation = new_simulation(workload)
        began = time.perf_counter()
        result = simulation.run(exchange)
        return Run(0.0, time.perf_counter() - began, result.messages, longest_queue(result.jobs))

    run, cpu = with_server(algorithm, talk, options)
    return Run(cpu, run.wall, run.messages, run.longest_queue)


def start_up(algorithm: str, repeats: int) -> float:
    """CPU seconds of a process that serves one job: what is left when a run has nothing to decide."""
    workload = poisson_workload(1, 128, 0.9)
    return min(serve_run(algorithm, workload).cpu for _ in range(repeats))


def bare_interpreter(repeats: int) -> float:
    """CPU seconds of a Python that does nothing."""
    return min(wait_for(subprocess.Popen([sys.executable, "-c", "pass"])) for _ in range(repeats))


def with_server(
    algorithm: str, talk: Callable[[Exchange], Outcome], options: Mapping[str, str] | None = None
) -> tuple[Outcome, float]:
    """Return the result of `talk`, which plays a simulation to its end, and the CPU seconds of the whole process."""
    command = [str(Path(sys.executable).with_name("batsched-py")), "serve", "-s", algorithm, "-b", ANY_PORT]
    for name, value in (options or {}).items():
        command += ["-o", f"{name}={value}"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment())
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        if " listens on " not in said:
            raise RuntimeError(f"{' '.join(command)}: {said}{process.stderr.read()}")
        with ReqSocket(said.split()[-1], answer_timeout=PATIENCE) as socket:
            outcome = talk(socket.exchange)
        process.stderr.read()  # it says goodbye
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        process.stderr.close()
    return outcome, wait_for(process)


def wait_for(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> float:
    """Return the CPU seconds of a process that ends by itself; RuntimeError if it fails."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def environment() -> dict[str, str]:
    """Ours, but compiled modules are kept: as for everybody who has run the command once."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
