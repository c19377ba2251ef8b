"""The inputs of benchmarks, small: no test measures with them, so that nothing else would notice a wrong one."""

from __future__ import annotations

from pathlib import Path

from batsched_py.model.settings import Settings
from batsched_py.runs.simulate import simulate
from tests.benchmarks.contention import write_contended


def test_jobs_of_the_contention_benchmark_run(tmp_path: Path) -> None:
    """On a platform that SimGrid reads."""
    platform, workload = write_contended(tmp_path, 6, 2)
    run = simulate(platform, workload, "fcfs", settings=Settings(network="sharing", message_latency=True))
    assert len(run.result.jobs) == 6
