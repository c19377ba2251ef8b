"""The critical path of a run."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from batsched_py.errors import OptionError
from batsched_py.reporting.api import Schedule
from batsched_py.reporting.metrics.critical_path import CriticalJob, critical_path
from batsched_py.runs.simulate import simulate
from batsched_py.traces.batsim_json import read_workload
from tests.platforms import plain_platform


def played(folder: Path, *jobs: dict[str, Any], hosts: int = 2) -> Schedule:
    """Return the schedule of jobs on one host each, by FCFS."""
    runs = sorted({job["run"] for job in jobs})
    whole = [
        {"id": f"{n}", "subtime": 0, "res": 1, "walltime": 99, "profile": f"{job['run']}", "depends_on": job["on"]}
        for n, job in enumerate(jobs)
    ]
    profiles = {f"{run}": {"type": "delay", "delay": run} for run in runs}
    path = folder / "w.json"
    path.write_bytes(orjson.dumps({"nb_res": hosts, "jobs": whole, "profiles": profiles}))
    return simulate(plain_platform(hosts), read_workload(path), "fcfs").schedule


def test_a_path_by_hand(tmp_path: Path) -> None:
    """Two hosts: 3 is ready 5 s after the start of 1, before 2, which waits for 0 and then for a host."""
    schedule = played(
        tmp_path,
        {"run": 10, "on": []},
        {"run": 30, "on": []},
        {"run": 40, "on": ["0"]},
        {"run": 25, "on": [{"job": "1", "when": "start", "delay": 5}]},
    )
    assert critical_path(schedule) == [
        CriticalJob("w0!0", "", 0.0, 0.0, 10.0),
        CriticalJob("w0!2", "w0!0", 10.0, 30.0, 70.0),
    ]
    assert critical_path(schedule)[1].cells()[-2:] == ("20.000000", "40.000000")


@pytest.mark.parametrize("seed", range(10))
def test_a_path_is_a_chain_to_the_end_of_the_run(tmp_path: Path, seed: int) -> None:
    """Each of its jobs is ready when the one before it has ended, and nothing is left out in between."""
    chance = Random(seed)
    jobs = [
        {"run": chance.randint(1, 20), "on": [f"{one}" for one in range(number) if chance.random() < 0.2]}
        for number in range(20)
    ]
    schedule = played(tmp_path, *jobs, hosts=chance.randint(1, 4))
    path = critical_path(schedule)
    assert path[-1].finish == max(record.finish for record in schedule.jobs)
    assert (path[0].ready, path[0].after) == (0.0, "")
    assert all((one.finish, one.job_id) == (other.ready, other.after) for one, other in pairwise(path))
    records = {record.job.id: record for record in schedule.jobs}
    for one in path:
        ends = [records[f"w0!{name}"].finish for name in records[one.job_id].job.members["depends_on"]]
        assert one.ready == max(ends, default=0.0)


def test_a_run_without_dependencies_has_none(tmp_path: Path) -> None:
    """Or its workload is not given."""
    with pytest.raises(OptionError, match=r"--critical-path: .*no job depends on another one; members of jobs are in"):
        critical_path(played(tmp_path, {"run": 1, "on": []}))


def test_a_file_in_which_jobs_depend_on_each_other_has_an_end(tmp_path: Path) -> None:
    """Names of other workloads are not checked; both start together."""
    mutual = [[{"job": f"w0!{other}", "when": "start"}] for other in (1, 0)]
    whole = played(tmp_path, *({"run": 5, "on": []} for _ in mutual))
    jobs = [
        replace(record, job=replace(record.job, members={**record.job.members, "depends_on": on}))
        for record, on in zip(whole.jobs, mutual, strict=True)
    ]
    assert len(critical_path(replace(whole, jobs=tuple(jobs)))) <= 2
