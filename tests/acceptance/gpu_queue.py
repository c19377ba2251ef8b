"""Queues of GPU tasks: the published list of the FGD paper with its times, on a part of its hosts.

    python -m tests.acceptance.gpu_queue FOLDER [EVERY]

FOLDER has `nodes-gpu.csv` and `pods-default.csv`, compressed or not. One of EVERY hosts is there, from the first on.
Prints a table as CSV: a row for each algorithm and selection.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.model.demand import WHOLE, HostCapacity
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.platform import Platform
from batsched_py.model.profile import Profile, parse_profile
from batsched_py.model.workload import Workload
from batsched_py.runs.simulate import simulate
from tests.acceptance.gpu_lists import found, read_host, read_table, read_task
from tests.platforms import plain_platform

#: One of so many hosts is there, so that the tasks queue.
EVERY: Final = 100
ALGORITHMS: Final = ("easy", "conservative", "priority")
SELECTIONS: Final = ("best_fit", "fgd")
#: Waits in seconds, the others in percent; the last column is the processor time of the simulation.
HEADER: Final = (
    "algorithm,packing,jobs,waited,mean_wait,p90_wait,p99_wait,max_wait,allocated,requested,fragmentation,cpu_seconds"
)


def platform_of(hosts: list[HostCapacity]) -> Platform:
    """Return a platform with these hosts, in their order."""
    plain, described = plain_platform(len(hosts)), iter(hosts)
    made = []
    for host in plain.hosts:
        if host.role == "master" or host.name == "master_host":
            made.append(host)
            continue
        has = next(described)
        own = {"mem": str(has.memory), "gpus": str(has.gpus), "gpu_model": has.model}
        made.append(replace(host, cores=has.cores // WHOLE, properties=own))
    return replace(plain, hosts=tuple(made))


def read_jobs(folder: Path, hosts: list[HostCapacity]) -> tuple[Workload, Mapping[str, int]]:
    """Return the jobs, and the number of left out tasks by reason. WorkloadError.

    A job is submitted at its creation, and lasts from its start to its deletion in the log; its walltime is the same.
    """
    jobs, profiles = list[Job](), dict[str, Profile]()
    left_out = {"never started": 0, "of no length": 0, "for no host": 0}
    for row in read_table(found(folder, "pods-default")):
        task = read_task(row)
        started = row.text("scheduled_time")
        if not started:
            left_out["never started"] += 1
            continue
        created, ended = row.number_in("creation_time"), row.number_in("deletion_time")
        length = ended - row.number_in("scheduled_time")
        if length <= 0:
            left_out["of no length"] += 1
        elif all(host.cores < task.cores or host.memory < task.memory or host.gpus < task.gpus for host in hosts):
            left_out["for no host"] += 1
        else:
            profile = f"d{length}"
            profiles.setdefault(profile, parse_profile(profile, {"type": "delay", "delay": length}))
            demand = JobDemand(tasks=1, task=task)
            name = row.text("name")
            jobs.append(Job.create(name, size=1, profile=profile, submit_time=created, walltime=length, demand=demand))
    jobs.sort(key=lambda job: (job.submit_time, job.id))
    return Workload("pods", len(hosts), tuple(jobs), profiles), left_out


def rows(workload: Workload, platform: Platform) -> Iterator[str]:
    """Yield the row of each run."""
    for algorithm in ALGORITHMS:
        for packing in SELECTIONS:
            began = time.process_time()
            run = simulate(platform, workload, algorithm, {"packing": packing})
            seconds = time.process_time() - began
            found, waited = run.metrics, sum(job.waiting > 0 for job in run.result.jobs)
            waits = (found.mean_wait, found.p90_wait, found.p99_wait, found.max_wait)
            shares = (found.gpu_utilisation, found.requested_gpus, found.gpu_fragmentation)
            cells = [*map("{:.0f}".format, waits), *(f"{100 * (share or 0.0):.1f}" for share in shares)]
            yield ",".join((algorithm, packing, str(found.jobs), str(waited), *cells, f"{seconds:.1f}"))


def main(arguments: list[str]) -> int:
    """Print the table; 2 if a file is missing or wrong."""
    every = arguments[1] if len(arguments) == 2 else str(EVERY)
    if len(arguments) not in (1, 2) or not (every.isascii() and every.isdecimal() and int(every) > 0):
        sys.stderr.write("usage: python -m tests.acceptance.gpu_queue FOLDER [EVERY], a number of hosts\n")
        return 2
    folder = Path(arguments[0])
    try:
        hosts = [read_host(row) for row in read_table(found(folder, "nodes-gpu"))][:: int(every)]
        workload, left_out = read_jobs(folder, hosts)
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    missing = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
    sys.stderr.write(f"{len(hosts)} hosts, {sum(host.gpus for host in hosts)} GPUs; left out: {missing}\n")
    sys.stdout.write(f"{HEADER}\n")
    for row in rows(workload, platform_of(hosts)):
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
