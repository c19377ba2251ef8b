"""Managed experiments on hosts that fail: time and memory of a whole command, whose run is checked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from tests.benchmarks.timing import apart
from tests.many_experiments import COMPUTES, violations, write_experiments

HOSTS: Final = 256
SIZES: Final = (100, 300, 1_000)


class Measured(NamedTuple):
    """A run: experiments, CPU seconds and peak bytes of the process, jobs of entries, and experiments that failed."""

    experiments: int
    seconds: float
    peak: int
    jobs: int
    failed: int


def measure_experiments(experiments: int, hosts: int = HOSTS) -> Measured:
    """Run so many experiments of ten machines; AssertionError if the checker finds a fault."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = apart(write_experiments, folder, experiments, hosts)
        (folder / "none.json").write_text('{"nb_res": 1, "jobs": [], "profiles": {}}')
        options = ["-p", str(files.platform), "-w", str(folder / "none.json"), "--events", str(files.events), "--quiet"]
        options += ["--enable-dynamic-jobs", "--enable-compute-sharing", "-e", f"{name}/out", "-s", "experiments"]
        options += ["-o", f"file={files.experiments}", "-o", f"testbed={files.testbed}", "-o", "no_capacity=wait"]
        with subprocess.Popen([sys.executable, "-m", "batsched_py", "simulate", *options]) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, process.args)
        wrong = apart(violations, folder / "out")
        if wrong:
            raise AssertionError(f"{len(wrong)} violations, the first: {wrong[0]}")
        jobs = (folder / "out_jobs.csv").read_text().count("\n") - 1
        failed = (folder / "out_experiments.csv").read_text().count(",FAILED,")
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Measured(experiments, used.ru_utime + used.ru_stime, peak, jobs, failed)


def markdown(rows: Sequence[Measured]) -> Iterator[str]:
    """The lines of the page's table."""
    yield f"| experiments of {COMPUTES} machines | jobs of entries | failed | CPU s | ms/experiment | peak MB |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        each = row.seconds / row.experiments * 1e3
        figures = f"{row.jobs} | {row.failed} | {row.seconds:.1f} | {each:.1f} | {row.peak / 1e6:.0f}"
        yield f"| {row.experiments} | {figures} |"
