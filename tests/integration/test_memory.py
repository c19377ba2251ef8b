"""The memory of a job after it has ended, in a run that writes its rows as jobs end."""

import tracemalloc
from pathlib import Path

import pytest

from batsched_py import bits
from batsched_py.model import name_set
from batsched_py.plugins import load
from batsched_py.results.result_files import JobRows
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces import batsim_json
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.batsim_json_writer import write_workload
from batsched_py.traces.delay_workload import DelayJob, delay_workload
from tests.platforms import plain_platform

HOSTS = 128


def most_bytes(folder: Path, jobs: int) -> int:
    """The peak of a whole run: reading the workload, simulating, putting rows aside."""
    drawn = [DelayJob(14 * n, n, 10.0 + n % 50, 1 + n % 40, 100.0) for n in range(jobs)]
    write_workload(folder / "w.json", delay_workload("test", HOSTS, drawn))
    platform = plain_platform(HOSTS)
    tracemalloc.start()
    try:
        workload = read_workload(folder / "w.json")
        with JobRows(folder) as rows:
            simulation = Simulation(platform, [workload], trace=True, pass_on=rows.add)
            result = simulation.run(Session(load("easy")).answer)
        assert result.counted.jobs == jobs
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_job_that_has_ended_costs_less_than_300_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line in the workload included; what is done for many jobs alone is done for few here."""
    monkeypatch.setattr(batsim_json, "MANY", 100)
    monkeypatch.setattr(name_set, "_RECENT", 100)
    monkeypatch.setattr(bits, "_MOST_BYTES", 100_000)
    few, many = (most_bytes(tmp_path, jobs) for jobs in (1_000, 3_000))
    assert (many - few) / 2_000 < 300
