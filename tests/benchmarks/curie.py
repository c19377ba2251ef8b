"""A large machine: a seeded workload like that of the log CEA-Curie, run by the command as a user would."""

from __future__ import annotations

import math
import random

from batsched_py.model.workload import Workload
from batsched_py.traces.delay_workload import DelayJob, delay_workload

#: Cores of Curie's thin nodes, each a host, and jobs: about as many as the log has after cleaning.
HOSTS = 80_640
JOBS = 300_000
#: Share of hosts * time that the jobs need.
LOAD = 0.65
#: Walltimes that users ask for, in seconds: the shortest of these that the job fits into.
WALLTIMES = (1_800, 7_200, 21_600, 43_200, 86_400)


def curie_workload(jobs: int = JOBS, hosts: int = HOSTS, load: float = LOAD) -> Workload:
    """Delay jobs like Curie's; the same arguments, the same jobs.

    A quarter of the jobs is serial. The sizes of the others are lognormal (median 64, sigma 1.9): one job in 250 has
    more than 10 000 hosts, the largest nearly all. Run times are lognormal (median 600 s, sigma 2), at most a day.
    Users submit one to twenty jobs within a second (Poisson by day, a third of that by night), with a walltime that is
    one of a few round numbers.
    """
    rng = random.Random(f"{jobs}-{hosts}-curie")
    drawn = [_draw(rng, hosts) for _ in range(jobs)]
    gaps = _gaps(rng, jobs)
    scale = sum(size * run for size, run, _ in drawn) / (hosts * load) / sum(gaps)
    placed, clock = [], 0.0
    for number, (gap, (size, run, walltime)) in enumerate(zip(gaps, drawn, strict=True)):
        clock += gap * scale
        placed.append(DelayJob(math.floor(clock), number, run, size, walltime))
    return delay_workload(f"like Curie: {jobs} jobs, {hosts} hosts, load {load}", hosts, placed)


def _draw(rng: random.Random, hosts: int) -> tuple[int, int, int]:
    """Size, run time and walltime of a job."""
    size = 1
    if rng.random() > 0.25:
        size = min(hosts * 99 // 100, max(1, round(rng.lognormvariate(math.log(64), 1.9))))
    run = min(86_400, max(1, round(rng.lognormvariate(math.log(600), 2.0))))
    margin = run * rng.uniform(1.0, 3.0)
    walltime = next((walltime for walltime in WALLTIMES if walltime >= margin), WALLTIMES[-1])
    return size, run, walltime


def _gaps(rng: random.Random, jobs: int) -> list[float]:
    """Between two submissions: nothing inside a burst."""
    gaps: list[float] = []
    while len(gaps) < jobs:
        gaps += [rng.expovariate(1.0), *[0.0] * rng.randrange(20)]
    return gaps[:jobs]
