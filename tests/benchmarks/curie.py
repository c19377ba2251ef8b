"""A large machine: a seeded workload like that of the log CEA-Curie, run by the command as a user would.

Two runs: the first jobs alone, and all of them. So what a job costs is told without what the machine does: reading the
platform and keeping a description of each host.
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from batsched_py.model.workload import Workload
from batsched_py.traces.batsim_json_writer import write_workload
from batsched_py.traces.delay_workload import DelayJob, delay_workload
from batsched_py.traces.platform_writer import write_homogeneous
from tests.benchmarks.timing import apart
from tests.benchmarks.yardstick import Yardstick

#: Cores of Curie's thin nodes, each a host, and jobs: about as many as the log has after cleaning.
HOSTS = 80_640
JOBS = 300_000
#: Share of hosts * time that the jobs need.
LOAD = 0.65
#: Walltimes that users ask for, in seconds: the shortest of these that the job fits into.
WALLTIMES = (1_800, 7_200, 21_600, 43_200, 86_400)


@dataclass(frozen=True, slots=True)
class Whole:
    """One run of `simulate -e`, a process of its own.

    Attributes:
        algorithm: with its options.
        jobs, hosts: of the workload.
        seconds: CPU time of the process, from start to end.
        peak: bytes of memory at the most.
        job_seconds, job_bytes: what each job costs beyond a run of few jobs.
        ratio: `job_seconds` to the time of a message of the yardstick.
    """

    algorithm: str
    jobs: int
    hosts: int
    seconds: float
    peak: int
    job_seconds: float
    job_bytes: float
    ratio: float


def measure_curie(algorithm: str, jobs: int = JOBS, hosts: int = HOSTS) -> Whole:
    """Run the command twice, on a tenth of the jobs and on all; `algorithm` as after -s, options after it."""
    few = jobs // 10
    yardstick = Yardstick()
    yardstick.sample()
    (few_seconds, few_peak), (seconds, peak) = (_run(algorithm, count, hosts) for count in (few, jobs))
    yardstick.sample()
    each = (seconds - few_seconds) / (jobs - few)
    ratio = each / yardstick.per_message
    return Whole(algorithm, jobs, hosts, seconds, peak, each, (peak - few_peak) / (jobs - few), ratio)


def _run(algorithm: str, jobs: int, hosts: int) -> tuple[float, int]:
    """CPU seconds and peak memory in bytes of a process."""
    with TemporaryDirectory() as folder:
        platform, workload = Path(folder, "platform.xml"), Path(folder, "workload.json")
        # A process inherits the peak of the one that starts it: what makes the workload must be another one.
        apart(_make, platform, workload, jobs, hosts)
        options = ["-p", str(platform), "-w", str(workload), "-s", *algorithm.split(), "-e", f"{folder}/out", "--quiet"]
        with subprocess.Popen([sys.executable, "-m", "batsched_py", "simulate", *options]) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, process.args)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _make(platform: Path, workload: Path, jobs: int, hosts: int) -> None:
    write_homogeneous(platform, hosts)
    write_workload(workload, curie_workload(jobs, hosts))


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
