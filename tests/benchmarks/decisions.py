"""The cost of a decision while a queue of a given length waits for busy hosts: bytes in, bytes out, in process."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from heapq import heappop, heappush
from typing import Any, Final

import orjson

from batsched_py.model.job import Job
from batsched_py.model.workload import Workload
from tests.benchmarks.inputs import new_session, new_simulation, poisson_workload

QUEUES: Final = (10, 100, 1_000, 10_000)
HOSTS: Final = (128, 1_024, 16_384)
ALGORITHMS: Final = ("fcfs", "easy", "conservative")

#: Decisions that are not measured, and those that are, of each kind; fewer if they take more than BUDGET CPU seconds.
WARM_UP: Final = 200
SAMPLES: Final = 1_000
BUDGET: Final = 6.0

#: Decisions that are measured at least, whatever they cost.
_FEWEST: Final = 5
#: Jobs beside those that wait and run: enough for the warm-up and all samples.
_SPARE: Final = 8_000


class Kind(StrEnum):
    """The subject of the message that a decision answers."""

    ARRIVAL = "arrival"
    COMPLETION = "completion"
    CALL = "call"


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds of a decision, and how many were measured."""

    median: float
    mean: float
    samples: int


@dataclass(frozen=True, slots=True)
class Decisions:
    """One algorithm in one steady state.

    Attributes:
        arrival: a job comes; the hosts are busy.
        completion: a job ends; what can start does.
        waiting: jobs that waited on average.
        running: jobs that ran on average.
    """

    algorithm: str
    queue: int
    hosts: int
    arrival: Cost
    completion: Cost
    waiting: float
    running: float


def measure_decisions(algorithm: str, queue: int, hosts: int) -> Decisions:
    """To be run in a fresh process: the garbage is its own."""
    steady = Steady(algorithm, queue, hosts)
    gc.collect()
    gc.freeze()
    while steady.wants_more(WARM_UP):
        steady.step()
    steady.forget()
    while steady.wants_more(SAMPLES):
        steady.step()
    seen = steady.seen
    return Decisions(
        algorithm,
        queue,
        hosts,
        _cost(seen[Kind.ARRIVAL]),
        _cost(seen[Kind.COMPLETION]),
        statistics.fmean(steady.waited),
        statistics.fmean(steady.ran),
    )


def _cost(samples: list[float]) -> Cost:
    return Cost(statistics.median(samples), statistics.fmean(samples), len(samples))


class Steady:
    """A machine whose queue is filled up after each completion: one job comes for each that was started.

    Jobs are those of the workloads of the other benchmarks: sizes up to a quarter of the hosts, run times and walltimes
    spread widely. Arrivals come one by one, each in a message of its own, at the instant of the completion.
    """

    def __init__(self, algorithm: str, queue: int, hosts: int) -> None:
        workload = poisson_workload(queue + hosts + _SPARE, hosts, 1.3)
        self._answer = new_session(algorithm).answer
        self._runs = {f"w0!{job.id}": _seconds(workload, job) for job in workload.jobs}
        self._coming = iter(workload.jobs)
        #: (instant, order of asking, job id, its hosts); a call has no job.
        self._due: list[tuple[float, int, str, str]] = []
        self._asked = 0
        self._waiting = 0
        self._calls = 0
        self._now = 0.0
        self.forget()
        self._answer(_opening(workload))
        self._fill(queue)
        self.forget()

    def forget(self) -> None:
        """Measure anew."""
        self.seen: dict[Kind, list[float]] = {kind: [] for kind in Kind}
        #: Jobs waiting, and running, before each step.
        self.waited: list[int] = []
        self.ran: list[int] = []

    def wants_more(self, samples: int) -> bool:
        """Return True until there are so many of both kinds, or they took long enough."""
        spent = sum(map(sum, self.seen.values()))
        fewest = min(len(self.seen[Kind.ARRIVAL]), len(self.seen[Kind.COMPLETION]))
        return fewest < samples and (spent < BUDGET or fewest < _FEWEST)

    def step(self) -> None:
        """The next job ends, or the next call is due; then the queue is filled up."""
        self.waited.append(self._waiting)
        self.ran.append(len(self._due) - self._calls)
        self._now, _, job_id, hosts = heappop(self._due)
        if not job_id:
            self._calls -= 1
            started = self._tell(Kind.CALL, {"timestamp": self._now, "type": "REQUESTED_CALL", "data": {}})
        else:
            data = {"job_id": job_id, "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": hosts}
            started = self._tell(Kind.COMPLETION, {"timestamp": self._now, "type": "JOB_COMPLETED", "data": data})
        while started:
            self._waiting += 1
            started += self._tell(Kind.ARRIVAL, self._submission()) - 1

    def _fill(self, queue: int) -> None:
        """Submit jobs until `queue` of them wait; many at once, as this is not measured."""
        while self._waiting < queue:
            missing = max(1, queue - self._waiting)
            self._waiting += missing
            self._tell(Kind.ARRIVAL, *(self._submission() for _ in range(missing)))

    def _tell(self, kind: Kind, *events: dict[str, Any]) -> int:
        """Have it answered; how many jobs were started."""
        request = orjson.dumps({"now": self._now, "events": events})
        began = time.thread_time()
        reply = self._answer(request)
        self.seen[kind].append(time.thread_time() - began)
        started = 0
        for event in orjson.loads(reply)["events"]:
            data = event["data"]
            self._asked += 1
            if event["type"] == "EXECUTE_JOB":
                job_id = data["job_id"]
                heappush(self._due, (self._now + self._runs[job_id], self._asked, job_id, data["alloc"]))
                started += 1
            elif event["type"] == "CALL_ME_LATER":
                heappush(self._due, (data["timestamp"], self._asked, "", ""))
                self._calls += 1
        self._waiting -= started
        return started

    def _submission(self) -> dict[str, Any]:
        job = next(self._coming)
        job_id = f"w0!{job.id}"
        described = {
            "id": job_id,
            "subtime": self._now,
            "res": job.size,
            "walltime": job.walltime,
            "profile": job.profile,
        }
        return {"timestamp": self._now, "type": "JOB_SUBMITTED", "data": {"job_id": job_id, "job": described}}


def _seconds(workload: Workload, job: Job) -> float:
    return float(workload.profiles[job.profile].members["delay"])


class _HeardError(Exception):
    """The end of a simulation of which nothing more is needed."""


def _opening(workload: Workload) -> bytes:
    """The simulator's first message for hosts like these."""
    said: list[bytes] = []

    def hear(request: bytes) -> bytes:
        said.append(request)
        raise _HeardError

    with suppress(_HeardError):
        new_simulation(workload).run(hear)
    return said[0]


def markdown(rows: Sequence[Decisions]) -> Iterator[str]:
    """The lines of the page's table: for each number of hosts and waiting jobs, arrival and completion."""
    names = list(dict.fromkeys(row.algorithm for row in rows))
    cells = {(row.algorithm, row.hosts, row.queue): row for row in rows}
    yield "| hosts | queue | " + " | ".join(f"`{name}`, arrival | `{name}`, completion" for name in names) + " |"
    yield "|" + "---|" * (2 + 2 * len(names))
    for hosts in HOSTS:
        for queue in QUEUES:
            line = [f"{hosts:,}".replace(",", " "), f"{queue:,}".replace(",", " ")]
            for name in names:
                row = cells[name, hosts, queue]
                line += [_both(row.arrival), _both(row.completion)]
            yield "| " + " | ".join(line) + " |"


def _both(cost: Cost) -> str:
    """Median and mean, in microseconds."""
    return f"{_short(cost.median * 1e6)} ({_short(cost.mean * 1e6)})"


def _short(number: float) -> str:
    return f"{number:.1f}" if number < 10 else f"{number:,.0f}".replace(",", " ")
