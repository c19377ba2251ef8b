"""EASY with jobs that request parts of hosts: its cost with three resources, one, and whole hosts, in one run."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from msgspec.structs import replace

from batsched_py.model.demand import WHOLE, TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.platform import Platform
from batsched_py.model.profile import Profile, parse_profile
from batsched_py.model.settings import DEFAULTS
from batsched_py.model.workload import Workload
from batsched_py.runs.choice import Choice
from batsched_py.runs.session_run import run_algorithm
from tests.platforms import plain_platform

JOBS: Final = 10_000
HOSTS: Final = 1_024
CORES: Final = 64
MEMORY: Final = 262_144
GPUS: Final = 8
#: Whole hosts; cores; cores, memory and GPUs.
Kind = Literal["whole hosts", "one resource", "three resources"]
KINDS: Final[tuple[Kind, ...]] = ("whole hosts", "one resource", "three resources")
#: Kind -> work that comes, as a part of what the scarcest resource can do. Tasks that request three resources leave
#: some of each unused, so that they queue at a lower load: these are loads at which queues are similar.
LOADS: Final[dict[Kind, float]] = {"whole hosts": 1.0, "one resource": 1.0, "three resources": 0.65}
#: What a task requests, on average: of cores as a part of a host, and as much or less of memory and GPUs.
PART: Final = 127 / 7 / CORES


@dataclass(frozen=True, slots=True)
class RoomRun:
    """The runs of one kind.

    Attributes:
        kind: what jobs request.
        seconds: CPU time of simulator and session: the least.
        most_waiting: jobs that waited at one time.
        waiting: jobs that waited on average, until the last one came.
    """

    kind: Kind
    seconds: float
    most_waiting: int
    waiting: float


def measure_rooms(jobs: int = JOBS, hosts: int = HOSTS, repeats: int = 2) -> list[RoomRun]:
    """Run all kinds by turns, so often."""
    machine = _machine(hosts)
    workloads = {kind: _workload(kind, jobs, hosts) for kind in KINDS}
    found: dict[Kind, tuple[float, int, float]] = {}
    for _ in range(repeats):
        for kind, jobs_of_kind in workloads.items():
            seconds, most, mean = _run(machine, jobs_of_kind)
            found[kind] = min(seconds, found.get(kind, (seconds, 0, 0.0))[0]), most, mean
    return [RoomRun(kind, *found[kind]) for kind in KINDS]


def _run(machine: Platform, jobs: Workload) -> tuple[float, int, float]:
    begin = time.process_time()
    result, _ = run_algorithm(machine, [jobs], "easy", Choice("easy"), DEFAULTS)
    seconds = time.process_time() - begin
    changes = sorted(
        [(record.job.submit_time, 1) for record in result.jobs] + [(record.start, -1) for record in result.jobs]
    )
    waiting = most = 0
    for _, change in changes:
        waiting += change
        most = max(most, waiting)
    last = jobs.jobs[-1].submit_time
    waited = sum(min(record.start, last) - record.job.submit_time for record in result.jobs)
    return seconds, most, waited / last


def _machine(hosts: int) -> Platform:
    plain = plain_platform(hosts)
    own = {"mem": str(MEMORY), "gpus": str(GPUS), "gpu_model": "V100"}
    return replace(
        plain,
        hosts=tuple(
            host if host.name == "master_host" else replace(host, cores=CORES, properties=own) for host in plain.hosts
        ),
    )


def _workload(kind: Kind, jobs: int, hosts: int) -> Workload:
    """Jobs of up to 16 tasks; the same times and numbers of tasks for each kind, and similar queues."""
    chance = random.Random(1)
    made, profiles, at = list[Job](), dict[str, Profile](), 0.0
    for number in range(jobs):
        cores, memory = chance.choice((1, 2, 4, 8, 16, 32, 64)), chance.choice((16_384, 65_536, 131_072))
        gpus, tasks = chance.choice((0, 0, 1, 1, 2, 4, 8)), chance.choice((1, 1, 1, 1, 2, 4, 16))
        walltime = chance.randint(100, 10_000)
        seconds = max(1, int(walltime * chance.uniform(0.2, 1)))
        task = TaskDemand(cores=cores * WHOLE)
        if kind == "three resources":
            task = TaskDemand(cores=cores * WHOLE, memory=memory, gpus=gpus)
        demand = None if kind == "whole hosts" else JobDemand(tasks=tasks, task=task)
        profile = f"d{seconds}"
        profiles.setdefault(profile, parse_profile(profile, {"type": "delay", "delay": seconds}))
        made.append(
            Job.create(
                str(number), size=tasks, profile=profile, submit_time=at, walltime=float(walltime), demand=demand
            )
        )
        at += tasks * seconds / hosts / LOADS[kind] * (1 if demand is None else PART)
    return Workload(kind, hosts, tuple(made), profiles)


def markdown(rows: Sequence[RoomRun], jobs: int = JOBS) -> Iterator[str]:
    """The lines of a table."""
    yield "| jobs request | CPU s | ms/job | most waiting | mean | x whole hosts | x one resource |"
    yield "|---|---|---|---|---|---|---|"
    whole, one, _ = (row.seconds for row in rows)
    for row in rows:
        each = row.seconds / jobs * 1e3
        ratios = f"{row.seconds / whole:.2f} | {row.seconds / one:.2f}"
        yield f"| {row.kind} | {row.seconds:.1f} | {each:.2f} | {row.most_waiting} | {row.waiting:.1f} | {ratios} |"
