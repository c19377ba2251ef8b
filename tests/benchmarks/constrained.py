"""Queries of jobs for hosts: what they cost beside the same jobs without, each run by the command as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.benchmarks.timing import apart
from tests.constrained import violations, write_constrained

JOBS: Final = 10_000
HOSTS: Final = 1_024
#: As after -s; whether its jobs have queries; the row with which it is compared.
RUNS: Final = {
    "fcfs": (False, None),
    "fcfs -o constraint=query": (True, "fcfs"),
    "easy": (False, None),
    "easy -o constraint=query": (True, "easy"),
    "placer": (True, "easy"),
}


@dataclass(frozen=True, slots=True)
class Constrained:
    """One algorithm.

    Attributes:
        algorithm: with its options.
        seconds: CPU time of the process, from start to end: the least.
        peak: bytes of memory at the most.
        other: the algorithm of the row with which it is compared; None for none.
        ratio: `seconds` to those of that row.
    """

    algorithm: str
    seconds: float
    peak: int
    other: str | None
    ratio: float


def measure_constrained(jobs: int = JOBS, hosts: int = HOSTS, repeats: int = 3) -> list[Constrained]:
    """Run all of them by turns, so often; AssertionError if one breaks a query."""
    found: dict[str, tuple[float, int]] = {}
    for _ in range(repeats):
        for algorithm, (queries, _) in RUNS.items():
            seconds, peak = _run(algorithm, jobs, hosts, queries=queries)
            before = found.get(algorithm, (seconds, peak))
            found[algorithm] = min(seconds, before[0]), max(peak, before[1])
    rows = []
    for algorithm, (_, other) in RUNS.items():
        seconds, peak = found[algorithm]
        rows.append(Constrained(algorithm, seconds, peak, other, seconds / found[other or algorithm][0]))
    return rows


def _run(algorithm: str, jobs: int, hosts: int, *, queries: bool) -> tuple[float, int]:
    """CPU seconds and peak memory in bytes of a process, whose run is checked."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        # A process inherits the peak of the one that starts it: what makes the workload must be another one.
        platform, workload = apart(write_constrained, folder, jobs, hosts, queries=queries)
        options = ["-p", str(platform), "-w", str(workload), "-s", *algorithm.split(), "-e", f"{name}/out", "--quiet"]
        with subprocess.Popen([sys.executable, "-m", "batsched_py", "simulate", *options]) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, process.args)
        wrong = apart(violations, workload, folder / "out_jobs.csv")
        if wrong:
            raise AssertionError(f"{algorithm}: {len(wrong)} violations, the first: {wrong[0]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def markdown(rows: Sequence[Constrained], jobs: int = JOBS) -> Iterator[str]:
    """The lines of the page's table."""
    yield "| algorithm | CPU s | ms/job | peak MB | ratio |"
    yield "|---|---|---|---|---|"
    for row in rows:
        ratio = "" if row.other is None else f"{row.ratio:.2f} x {row.other}"
        each = row.seconds / jobs * 1e3
        yield f"| `{row.algorithm}` | {row.seconds:.1f} | {each:.2f} | {row.peak / 1e6:.0f} | {ratio} |"
