"""The yardstick: FCFS and a simulator for it in the barest loop that still speaks JSON; no checks, no types.

It imports nothing of batsched_py, so that it stays as it is when batsched_py becomes faster or slower.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import orjson

HOSTS = 128
JOBS = 2000

_KINDS = ("JOB_COMPLETED", "JOB_SUBMITTED")


class BareJob(NamedTuple):
    """Times in seconds."""

    submit: float
    run: float
    size: int


class BareFcfs:
    """Requests in, replies out; free hosts are the bits of an int."""

    def __init__(self, hosts: int) -> None:
        self.free = (1 << hosts) - 1
        self.queue: deque[tuple[str, int]] = deque()
        self.running: dict[str, int] = {}

    def answer(self, request: bytes) -> bytes:
        message = orjson.loads(request)
        now, queue = message["now"], self.queue
        for event in message["events"]:
            if event["type"] == "JOB_SUBMITTED":
                job = event["data"]["job"]
                queue.append((job["id"], job["res"]))
            elif event["type"] == "JOB_COMPLETED":
                self.free |= self.running.pop(event["data"]["job_id"])
        started = []
        while queue and queue[0][1] <= self.free.bit_count():
            name, size = queue.popleft()
            hosts = self.running[name] = self.take(size)
            started.append({"timestamp": now, "type": "EXECUTE_JOB", "data": {"job_id": name, "alloc": spell(hosts)}})
        return orjson.dumps({"now": now, "events": started})

    def take(self, size: int) -> int:
        """The lowest free hosts."""
        rest = self.free
        for _ in range(size):
            rest &= rest - 1
        taken = self.free ^ rest
        self.free = rest
        return taken


def spell(bits: int) -> str:
    """As an interval set."""
    runs = []
    while bits:
        low = (bits & -bits).bit_length() - 1
        filled = bits + (1 << low)
        high = (filled & -filled).bit_length() - 2
        runs.append(f"{low}-{high}" if high > low else str(low))
        bits &= filled
    return " ".join(runs)


def simulate(jobs: Sequence[BareJob], answer: Callable[[bytes], bytes]) -> int:
    """Play the jobs against a decision process; the number of messages."""
    named = {f"w0!{number}": job for number, job in enumerate(jobs)}
    heap = [(job.submit, 1, name, "") for name, job in named.items()]
    heapify(heap)
    messages = 0
    while heap:
        now = heap[0][0]
        events = []
        while heap and heap[0][0] == now:
            _, submitted, name, hosts = heappop(heap)
            data: dict[str, Any] = {"job_id": name, "job_state": "COMPLETED_SUCCESSFULLY", "alloc": hosts}
            if submitted:
                described = {"id": name, "subtime": now, "res": named[name].size, "walltime": 2000, "profile": "d"}
                data = {"job_id": name, "job": described}
            events.append({"timestamp": now, "type": _KINDS[submitted], "data": data})
        reply = orjson.loads(answer(orjson.dumps({"now": now, "events": events})))
        messages += 1
        for event in reply["events"]:
            name = event["data"]["job_id"]
            heappush(heap, (event["timestamp"] + named[name].run, 0, name, event["data"]["alloc"]))
    return messages


def bare_jobs(count: int = JOBS) -> list[BareJob]:
    """Jobs that hardly wait on HOSTS hosts."""
    rng, jobs, clock = random.Random(0), [], 0.0
    for _ in range(count):
        clock += rng.expovariate(1 / 150)
        jobs.append(BareJob(round(clock, 3), round(rng.uniform(10, 2000), 3), rng.randint(1, 16)))
    return jobs


class Yardstick:
    """Measures the bare loop, again and again: the least of it is this machine's speed meanwhile."""

    def __init__(self) -> None:
        self._jobs = bare_jobs()
        #: CPU seconds for each message of the bare loop, both of its ends together; infinite before the first sample.
        self.per_message = float("inf")

    def sample(self) -> None:
        """Measure a few times; about 0.1 s."""
        for _ in range(4):
            peer = BareFcfs(HOSTS)
            began = time.process_time()
            messages = simulate(self._jobs, peer.answer)
            self.per_message = min(self.per_message, (time.process_time() - began) / messages)
