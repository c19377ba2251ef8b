"""The inputs of benchmarks, small: no test measures with them, so that nothing else would notice a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.model.settings import Settings
from batsched_py.runs.simulate import simulate
from batsched_py.traces.simgrid_xml import read_platform
from tests.benchmarks.contention import NETWORK_HOSTS, NETWORKS, write_contended, write_network


@pytest.mark.parametrize("network", NETWORKS)
def test_networks_of_the_contention_benchmark_are_read(tmp_path: Path, network: str) -> None:
    """With all their hosts."""
    platform, _ = write_network(tmp_path, network)
    assert len(read_platform(platform).compute_hosts()) == NETWORK_HOSTS


def test_jobs_of_the_contention_benchmark_run(tmp_path: Path) -> None:
    """On a platform that SimGrid reads."""
    platform, workload = write_contended(tmp_path, 6, 2)
    run = simulate(platform, workload, "fcfs", settings=Settings(network="sharing", message_latency=True))
    assert len(run.result.jobs) == 6
