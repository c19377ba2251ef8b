"""Whole runs of backfilling with jobs that request parts of hosts: no capacity is exceeded, and promises are kept.

The checker reads the messages alone. It counts by itself, and shares no code with planning, the state or the simulator.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.model.demand import WHOLE, TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.platform import Platform
from batsched_py.model.profile import parse_profile
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.model.workload import Workload
from batsched_py.session.session import Session
from tests.platforms import plain_platform
from tests.recorded_run import RecordedRun

#: Cores, MiB, GPUs and their model, FPGAs of each host.
HOSTS = [(4, 16, 0, "", 0), (4, 16, 0, "", 1), (8, 32, 2, "T4", 0), (8, 32, 2, "T4", 1), (8, 16, 4, "A100", 2)]
LICENCES = 3

#: Algorithms with options, and whether starts may move to later: a new job may be served before others.
BACKFILLING: list[tuple[str, dict[str, str], bool]] = [
    ("easy", {}, True),
    ("easy", {"packing": "gpu_clustering", "backfill_order": "sjf"}, True),
    ("easy", {"reserve": "hosts", "packing": "worst_fit", "arrivals": "one_by_one"}, True),
    ("easy", {"order": "sjf", "backfill_order": "desc_area"}, False),
    ("backfill", {"depth": "3", "packing": "dot_product"}, True),
    ("backfill", {"depth": "2", "reserve": "hosts", "selection": "contiguous"}, True),
    ("conservative", {}, True),
    ("conservative", {"packing": "fgd"}, True),
    ("conservative", {"reserve": "hosts", "packing": "gpu_packing"}, True),
    ("conservative", {"order": "asc_size", "promises": "in_turn"}, True),
    ("conservative", {"slack": "2", "packing": "first_fit"}, True),
]


def machine() -> Platform:
    """Five hosts of four kinds."""
    plain = plain_platform(len(HOSTS))
    compute = [host for host in plain.hosts if host.name != "master_host"]
    hosts = [host for host in plain.hosts if host.name == "master_host"]
    for host, (cores, memory, gpus, model, fpgas) in zip(compute, HOSTS, strict=True):
        own = {"mem": str(memory), "gpus": str(gpus), "gpu_model": model, "licences": f"matlab:{LICENCES}"}
        hosts.append(replace(host, cores=cores, properties={**own, **({"capacity": f"fpga:{fpgas}"} if fpgas else {})}))
    return replace(plain, hosts=tuple(hosts))


def drawn_demand(chance: random.Random) -> JobDemand:
    """A demand that the machine meets at some time, or never."""
    gpus = chance.choice((0, 0, 0, 1, 1, 2, 4))
    task = TaskDemand(
        cores=chance.choice((500, 1000, 2000, 4000)),
        memory=chance.choice((0, 2, 8)),
        gpus=gpus,
        share=chance.choice((WHOLE, WHOLE, 500, 300)) if gpus else WHOLE,
        models=chance.choice(((), (), ("A100",), ("T4", "A100"))) if gpus else (),
        exclusive=chance.random() < 0.08,
        others=chance.choice(((), (), (), (("fpga", 1),))),
    )
    licences = chance.choice(((), (), (("matlab", 1),), (("matlab", 2),)))
    return JobDemand(tasks=chance.choice((1, 1, 2, 3)), task=task, spread=chance.random() < 0.2, licences=licences)


def drawn_workload(seed: int, jobs: int = 30) -> Workload:
    """Jobs with demands, and a fifth with whole hosts, some of which come first."""
    chance = random.Random(seed)
    made: list[Job] = []
    profiles: dict[str, Any] = {}
    at = 0.0
    for number in range(jobs):
        at += chance.choice((0, 0, 1, 1, 2, 4))
        walltime = chance.randint(1, 20)
        run = walltime if chance.random() < 0.3 else chance.randint(1, walltime)
        profiles[f"d{run}"] = parse_profile(f"d{run}", {"type": "delay", "delay": run})
        whole = chance.random() < 0.2 or number < seed % 5
        demand = None if whole else drawn_demand(chance)
        size = chance.randint(1, 3) if demand is None else demand.tasks
        made.append(
            Job.create(
                f"{number:03}", size=size, profile=f"d{run}", submit_time=at, walltime=float(walltime), demand=demand
            )
        )
    return Workload("drawn", len(HOSTS), tuple(made), profiles)


class RoomChecker:
    """The amounts that tasks use of each host, by the messages."""

    def __init__(self, jobs: Workload) -> None:
        self._jobs = {f"w0!{job.id}": job for job in jobs.jobs}
        #: Job id -> host -> amounts by name.
        self._running: dict[str, dict[int, Counter[str]]] = {}
        self.most = 0

    def watch(self, _session: Session, request: bytes, reply: bytes) -> None:
        """After each exchange: ends first, then starts."""
        for event in json.loads(request)["events"]:
            if event["type"] == "JOB_COMPLETED":
                del self._running[event["data"]["job_id"]]
        for command in json.loads(reply)["events"]:
            if command["type"] == "EXECUTE_JOB":
                self._start(command["data"])
                self._check()
        shared = Counter(host for uses in self._running.values() for host in uses)
        self.most = max([self.most, *shared.values()])

    def _start(self, data: dict[str, Any]) -> None:
        job, hosts = self._jobs[data["job_id"]], [int(host) for host in expanded(data["alloc"])]
        uses: dict[int, Counter[str]] = {host: Counter() for host in hosts}
        if "task_gpus" not in data:
            assert job.demand is None
            assert len(hosts) == job.size
            for host in hosts:
                uses[host]["whole"] = 1
        else:
            assert job.demand is not None
            task, gpus = job.demand.task, data["task_gpus"]
            assert len(gpus) == job.size
            places = data.get("mapping", {str(number): str(number) for number in range(job.size)})
            for number, own in enumerate(gpus):
                use = uses[hosts[int(places[str(number)])]]
                use["tasks"] += 1
                if task.exclusive:
                    use["whole"] += 1
                    continue
                assert len(own) == len(set(own)) == task.gpus
                use.update({"cores": task.cores, "memory": task.memory})
                use.update(dict(task.others))
                use.update({f"gpu{gpu}": task.share for gpu in own})
                for _ in own:
                    host = hosts[int(places[str(number)])]
                    assert not task.models or HOSTS[host][3] in task.models
            assert not job.demand.spread or len(hosts) == job.size
        self._running[data["job_id"]] = uses

    def _check(self) -> None:
        """No host has more in use than there is; a whole one has nothing else."""
        for host, (cores, memory, gpus, _, fpgas) in enumerate(HOSTS):
            there = Counter({"cores": cores * WHOLE, "memory": memory, "fpga": fpgas})
            there.update({f"gpu{gpu}": WHOLE for gpu in range(gpus)})
            uses = [use[host] for use in self._running.values() if host in use]
            if any(use["whole"] for use in uses):
                assert len(uses) == 1
                assert uses[0]["whole"] == 1
                continue
            total = sum(uses, Counter[str]())
            for name, amount in total.items():
                assert name == "tasks" or amount <= there[name], (host, name, amount)
        licences = sum(
            number
            for job_id in self._running
            if (demand := self._jobs[job_id].demand) is not None
            for _, number in demand.licences
        )
        assert licences <= LICENCES


def expanded(alloc: str) -> list[int]:
    """Return the hosts of "0-2 4"."""
    found: list[int] = []
    for part in alloc.replace(",", " ").split():
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return found


class Starts:
    """The starts that each job was promised, and its start."""

    def __init__(self) -> None:
        #: Job id -> its promised starts, in order.
        self.promised: dict[str, list[float]] = {}
        self.started: dict[str, float] = {}

    def watch(self, session: Session) -> None:
        """After each exchange."""
        for job_id, slot in session.plan.promises.items():
            self.promised.setdefault(job_id, []).append(slot.start)


def play(name: str, options: dict[str, str], seed: int, settings: Settings = DEFAULTS) -> tuple[RecordedRun, Starts]:
    """A whole run, watched by the checker."""
    jobs = drawn_workload(seed)
    checker, promises = RoomChecker(jobs), Starts()

    def watch(session: Session, request: bytes, reply: bytes) -> None:
        checker.watch(session, request, reply)
        promises.watch(session)

    talk = RecordedRun(name, options, watch=watch)
    result = talk.run([jobs], settings, on=machine())
    rejected = {record.job.id for record in result.jobs if not record.hosts}
    assert len(result.jobs) == len(jobs.jobs)
    assert len(rejected) < len(jobs.jobs) / 2
    assert checker.most > 1, "no host was shared: the test shows nothing"
    promises.started = {record.job.id: record.start for record in result.jobs if record.job.id not in rejected}
    return talk, promises


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("name", "options", "kept"), BACKFILLING, ids=str)
def test_no_capacity_is_exceeded_and_promises_are_kept(
    name: str, options: dict[str, str], kept: bool, seed: int
) -> None:
    """Every job starts at its first promise or before, and promises only move to earlier starts."""
    _, promises = play(name, options, seed)
    if kept:
        assert promises.promised, "no job was promised a start: the test shows nothing"
        for job_id, starts in promises.promised.items():
            assert starts == sorted(starts, reverse=True), job_id
            assert promises.started[job_id] <= starts[-1], job_id


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_all_jobs_run_when_messages_take_time(name: str) -> None:
    """Ends are announced late, promised starts come late, and no capacity is exceeded."""
    for seed in range(4):
        play(name, {}, seed, Settings(message_latency=True))


def test_a_run_is_repeated_exactly() -> None:
    """The same input gives the same bytes."""
    first, second = play("easy", {}, 3)[0], play("easy", {}, 3)[0]
    assert first.exchanges == second.exchanges
    assert math.isfinite(first.session.now)
