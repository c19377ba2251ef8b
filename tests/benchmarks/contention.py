"""Jobs that share the backbone of a cluster: what contention costs as more of them run at once."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.benchmarks.timing import apart

JOBS: Final = 10_000
#: Hosts of each job, and jobs that run at once.
SIZE: Final = 4
RUNNING: Final = (8, 16, 32, 64, 128)

_PLATFORM: Final = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="master_host" speed="1Gf"/>
    <cluster id="c" prefix="c" suffix="" radical="0-{last}" speed="1Gf"
             bw="1GBps" lat="10us" bb_bw="1GBps" bb_lat="10us"/>
  </zone>
</platform>
"""


@dataclass(frozen=True, slots=True)
class Contended:
    """One machine.

    Attributes:
        running: jobs that run at once.
        sharing, alone: CPU seconds of the process with --network sharing and alone, from start to end: the least.
    """

    running: int
    sharing: float
    alone: float


def measure_contention(jobs: int = JOBS, repeats: int = 3) -> list[Contended]:
    """Run each machine with and without contention by turns, so often."""
    found: list[Contended] = []
    for running in RUNNING:
        with TemporaryDirectory() as name:
            files = apart(write_contended, Path(name), jobs, running)
            pairs = [[_run(name, files, network) for network in ("sharing", "alone")] for _ in range(repeats)]
        sharing, alone = map(min, zip(*pairs, strict=True))
        found.append(Contended(running, sharing, alone))
    return found


def write_contended(folder: Path, jobs: int, running: int) -> tuple[Path, Path]:
    """Write a platform for so many jobs at once, and a workload that keeps it full: platform, workload."""
    rng = random.Random(20)
    platform, workload = folder / "platform.xml", folder / "workload.json"
    platform.write_text(_PLATFORM.format(last=SIZE * running - 1))
    profiles = {
        f"p{number}": {
            "type": "parallel_homogeneous",
            "cpu": rng.uniform(20, 100) * 1e9,
            "com": rng.uniform(1, 20) * 1e8,
        }
        for number in range(jobs)
    }
    asked = [{"id": str(number), "subtime": 0, "res": SIZE, "profile": f"p{number}"} for number in range(jobs)]
    workload.write_text(json.dumps({"nb_res": SIZE * running, "jobs": asked, "profiles": profiles}))
    return platform, workload


def _run(folder: str, files: tuple[Path, Path], network: str) -> float:
    """CPU seconds of a process."""
    options = ["-p", str(files[0]), "-w", str(files[1]), "-s", "fcfs", "--network", network]
    command = [sys.executable, "-m", "batsched_py", "simulate", *options, "-e", f"{folder}/out", "--quiet"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return used.ru_utime + used.ru_stime


def markdown(rows: Sequence[Contended], jobs: int = JOBS) -> Iterator[str]:
    """The lines of the page's table."""
    yield "| jobs at once | hosts | sharing, CPU s | alone, CPU s | ms/job of contention |"
    yield "|---|---|---|---|---|"
    for row in rows:
        each = (row.sharing - row.alone) / jobs * 1e3
        yield f"| {row.running} | {SIZE * row.running} | {row.sharing:.1f} | {row.alone:.1f} | {each:.2f} |"
