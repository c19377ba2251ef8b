"""The algorithm `slurm` next to `easy` on the same workloads: its cost, and how it grows with jobs and queue."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec.structs import replace

from batsched_py.model.demand import WHOLE, TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.platform import Platform
from batsched_py.model.settings import DEFAULTS
from batsched_py.model.workload import Workload
from batsched_py.runs.choice import Choice
from batsched_py.runs.session_run import run_algorithm
from tests.benchmarks.growth import longest_queue, peak_megabytes
from tests.benchmarks.inputs import poisson_workload
from tests.platforms import plain_platform

CORES: Final = 64
#: Cores of a task, each equally likely.
TASK_CORES: Final = (1, 2, 4, 8, 16, 32, 64)
USERS: Final = 20
#: Lines of slurm.conf, by what jobs ask for.
CONFIGURATIONS: Final[Mapping[str, str]] = {
    "whole nodes": "SelectType=select/linear\n",
    "cores": (
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nPriorityType=priority/multifactor\n"
        "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits\n"
        "PriorityWeightAge=1000\nPriorityWeightFairshare=10000\nPriorityWeightJobSize=100\n"
    ),
}
#: What jobs ask for, nodes and load of the measurements; each with a growing number of jobs.
CASES: Final = (
    ("whole nodes", 128, 0.8, (1_000, 2_000, 4_000)),
    ("whole nodes", 128, 1.3, (500, 1_000, 2_000)),
    ("cores", 1_000, 0.8, (1_000, 2_000, 4_000)),
    ("cores", 1_000, 1.3, (1_000, 2_000)),
)


@dataclass(frozen=True, slots=True)
class SlurmRun:
    """Both algorithms on one workload: CPU seconds of simulator and session, the longest queue, and megabytes."""

    kind: str
    nodes: int
    load: float
    jobs: int
    slurm: float
    easy: float
    queue: int
    peak: float


def measure_slurm(kind: str, nodes: int, load: float, jobs: int, repeats: int = 2) -> SlurmRun:
    """Run both by turns, so often, and count the fastest; to be run in a fresh process, or the memory is another's."""
    machine, workload = _machine(kind, nodes), _workload(kind, jobs, nodes, load)
    slurm = easy = math.inf
    queue = 0
    with TemporaryDirectory() as folder:
        options = _files(Path(folder), kind, machine)
        for _ in range(repeats):
            easy = min(easy, _run(machine, workload, Choice("easy"))[0])
            seconds, queue = _run(machine, workload, Choice("slurm", options))
            slurm = min(slurm, seconds)
    return SlurmRun(kind, nodes, load, jobs, slurm, easy, queue, peak_megabytes())


def _run(machine: Platform, workload: Workload, choice: Choice) -> tuple[float, int]:
    began = time.process_time()
    result, _ = run_algorithm(machine, [workload], choice.algorithm, choice, DEFAULTS)
    return time.process_time() - began, longest_queue(result.jobs)


def _machine(kind: str, nodes: int) -> Platform:
    plain = plain_platform(nodes)
    if kind == "whole nodes":
        return plain
    return replace(
        plain, hosts=tuple(host if host.name == "master_host" else replace(host, cores=CORES) for host in plain.hosts)
    )


def _workload(kind: str, jobs: int, nodes: int, load: float) -> Workload:
    """Jobs of several users; with `cores`, the nodes of a job become its tasks, and times shrink accordingly."""
    made, chance, asked = poisson_workload(jobs, nodes, load), random.Random(1), list[Job]()
    for job in made.jobs:
        at, demand, user = job.submit_time, None, {"user": f"u{chance.randrange(USERS)}"}
        if kind == "cores":
            demand = JobDemand(tasks=job.size, task=TaskDemand(cores=chance.choice(TASK_CORES) * WHOLE))
            at = round(at * sum(TASK_CORES) / len(TASK_CORES) / CORES, 3)
        asked.append(
            Job.create(
                job.id,
                size=job.size,
                profile=job.profile,
                submit_time=at,
                walltime=job.walltime,
                demand=demand,
                extra=user,
            )
        )
    return replace(made, jobs=tuple(asked))


def _files(folder: Path, kind: str, machine: Platform) -> dict[str, str]:
    names = ",".join(host.name for host in machine.hosts if host.name != "master_host")
    cpus = 1 if kind == "whole nodes" else CORES
    conf = f"{CONFIGURATIONS[kind]}NodeName={names} CPUs={cpus}\nPartitionName=all Nodes=ALL Default=YES\n"
    (folder / "slurm.conf").write_text(conf, "utf-8")
    options = {"conf": str(folder / "slurm.conf")}
    if kind == "cores":
        lines = ["Cluster - 'c':Fairshare=1", *(f"Parent - 'root'\nAccount - 'a{number}'" for number in range(4))]
        lines += [f"Parent - 'a{user % 4}'\nUser - 'u{user}':DefaultAccount='a{user % 4}'" for user in range(USERS)]
        (folder / "accounts").write_text("\n".join(lines) + "\n", "utf-8")
        options["dump"] = str(folder / "accounts")
    return options


def markdown(rows: Sequence[SlurmRun]) -> Iterator[str]:
    """The lines of a table; the exponent compares a row with the one above of the same case."""
    yield "| jobs ask for | nodes | load | jobs | longest queue | `slurm`, CPU s | jobs/s | x `easy` | exponent | MB |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    before: SlurmRun | None = None
    for row in rows:
        exponent = "-"
        if before is not None and (before.kind, before.load) == (row.kind, row.load):
            exponent = f"{math.log(row.slurm / before.slurm) / math.log(row.jobs / before.jobs):.2f}"
        before = row
        yield (
            f"| {row.kind} | {row.nodes} | {row.load} | {row.jobs} | {row.queue} | {row.slurm:.2f} "
            f"| {row.jobs / row.slurm:.0f} | {row.slurm / row.easy:.1f} | {exponent} | {row.peak:.0f} |"
        )
