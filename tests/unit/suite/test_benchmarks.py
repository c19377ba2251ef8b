"""The inputs of benchmarks, small: no test measures with them, so that nothing else would notice a wrong one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from batsched_py.model.settings import Settings
from batsched_py.runs.simulate import simulate
from batsched_py.traces.simgrid_xml import read_platform
from tests.benchmarks.contention import NETWORK_HOSTS, NETWORKS, write_contended, write_network
from tests.benchmarks.conversion import FORMS, markdown, measure_conversion
from tests.integration.test_site import wait_for


@pytest.mark.parametrize("name", FORMS)
def test_logs_of_the_conversion_benchmark_are_converted(name: str) -> None:
    """All rows are kept: the benchmark checks it, as a row that is dropped costs less."""
    (_, _, line) = markdown([measure_conversion(name, 20)])
    assert line.startswith(f"| {name} | 20 | ")


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


def test_the_site_of_the_benchmark_obeys_its_requests(tmp_path: Path) -> None:
    """Leases and experiments, and cancellations of both; none is ignored."""
    pytest.importorskip("litestar")
    from tests.benchmarks.sites import made_site  # noqa: PLC0415  # needs an extra

    site = made_site(tmp_path, 40, 10, hosts=64, pace=0.001)
    kinds = Counter(entry.kind for entry in site.inbox.entries.values())
    assert kinds == {"submit_job": 40, "cancel_job": 3, "submit_experiment": 10, "delete_experiment": 1}
    site.start()
    wait_for(lambda: not site.inbox.starting)
    tables = site.board.snapshot.tables
    assert len(list(tables["live_experiments"].rows)) == 9
    assert len([*tables["leases"].rows, *tables["ended_leases"].rows]) >= 40
    site.stop()
    assert site.failure is None
