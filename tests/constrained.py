"""A workload whose jobs have queries for hosts of eight kinds, and a checker of its runs that knows no scheduler."""

from __future__ import annotations

import csv
import json
import operator
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from batsched_py.bits import bit_runs, parse_bits

#: Architectures and memory; a host has the kind of its number modulo eight.
KINDS: Final = (
    *(("x86", 512), ("x86", 1024), ("x86", 4096), ("arm", 512)),
    *(("arm", 2048), ("power", 4096), ("gpu", 8192), ("sparc", 256)),
)


class Host(NamedTuple):
    """A host, by the facts that queries ask for."""

    number: int
    arch: str
    memory: int


#: Query -> the same, written for the checker; it reads no MIL.
QUERIES: Final[Mapping[str, Callable[[Host], bool]]] = {
    '$arch == "x86"': lambda host: host.arch == "x86",
    "$mem >= 1024": lambda host: host.memory >= 1024,
    '$arch == "x86" and $mem >= 1024': lambda host: host.arch == "x86" and host.memory >= 1024,
    '$arch <> "sparc"': lambda host: host.arch != "sparc",
    '$mem >= 4096 or $arch == "arm"': lambda host: host.memory >= 4096 or host.arch == "arm",
    'match("^(arm|power)$", $arch)': lambda host: host.arch in ("arm", "power"),
    'not $arch == "gpu" and $mem > 300': lambda host: host.arch != "gpu" and host.memory > 300,
    "$id mod 2 == 0": lambda host: host.number % 2 == 0,
}
#: Seconds that jobs run.
_RUNS: Final = (60, 300, 600, 1800)


def host(number: int) -> Host:
    """Return the host of a number."""
    return Host(number, *KINDS[number % len(KINDS)])


def write_constrained(folder: Path, jobs: int, hosts: int, *, queries: bool = True) -> tuple[Path, Path]:
    """Write a platform and a workload at load 1.35, seeded; without `queries` the same jobs have none."""
    rng = random.Random(5)
    # Batsim numbers hosts by their names, as text.
    described = "".join(
        f'<host id="h{number:05}" speed="1Gf"><prop id="arch" value="{host(number).arch}"/>'
        f'<prop id="mem" value="{host(number).memory}"/></host>'
        for number in range(hosts)
    )
    platform, workload = folder / "platform.xml", folder / "workload.json"
    platform.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">'
        f'<zone id="AS0" routing="Full"><host id="master_host" speed="1Gf"/>{described}</zone></platform>\n'
    )
    made, clock = [], 0.0
    for number in range(jobs):
        clock += rng.expovariate(hosts / 8192)
        run = rng.choice(_RUNS)
        size = max(1, rng.choice((1, 1, 2, 4, 8, 16, 32, 64)) * hosts // 1024)
        job = {"id": str(number), "subtime": round(clock, 1), "res": size, "walltime": 2 * run, "profile": str(run)}
        query = rng.choice(list(QUERIES))
        made.append(job | ({"constraint": query} if queries else {}))
    profiles = {str(run): {"type": "delay", "delay": run} for run in _RUNS}
    workload.write_text(json.dumps({"nb_res": hosts, "jobs": made, "profiles": profiles}))
    return platform, workload


def violations(workload: Path, jobs_file: Path) -> list[str]:
    """Return what is wrong in a run: jobs that did not run, or on too few, wrong or busy hosts."""
    asked = {job["id"]: job for job in json.loads(workload.read_text())["jobs"]}
    with jobs_file.open(newline="") as file:
        rows = {row["job_id"]: row for row in csv.DictReader(file)}
    found = [f"{job_id}: not in the jobs file" for job_id in asked.keys() - rows.keys()]
    changes: list[tuple[float, int, str, int]] = []
    for job_id, row in rows.items():
        if row["final_state"] != "COMPLETED_SUCCESSFULLY":
            found.append(f"{job_id}: {row['final_state']}")
            continue
        bits = parse_bits(row["allocated_resources"])
        numbers = [number for low, high in bit_runs(bits) for number in range(low, high + 1)]
        if len(numbers) != asked[job_id]["res"]:
            found.append(f"{job_id}: on {len(numbers)} hosts")
        suits = QUERIES.get(asked[job_id].get("constraint", ""))
        found += [f"{job_id}: on host {number}" for number in numbers if suits is not None and not suits(host(number))]
        changes += [(float(row["starting_time"]), 1, job_id, bits), (float(row["finish_time"]), 0, job_id, bits)]
    busy = 0
    for _, starts, job_id, bits in sorted(changes, key=operator.itemgetter(0, 1)):
        if starts and busy & bits:
            found.append(f"{job_id}: on hosts in use")
        busy = busy | bits if starts else busy & ~bits
    return found
