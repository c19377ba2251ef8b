"""Demands of jobs in workload files: of Batsim 4 and 5, in short files and in long ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.demand import TaskDemand
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.workload import Workload
from batsched_py.traces import batsim_json
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.batsim_json_writer import workload_content

HALF = {"cores": 0.5, "gpus": 1, "gpu_share": 0.5}
DEMAND = JobDemand(tasks=2, task=TaskDemand(cores=500, gpus=1, share=500))


@pytest.fixture(params=["short", "long"], autouse=True)
def _length(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "long":
        monkeypatch.setattr(batsim_json, "MANY", 0)


def read(folder: Path, *, later: bool = False, **members: Any) -> Workload:
    """A workload of one job of two hosts, for Batsim 4 or 5."""
    file = folder / "w.json"
    job = {"id": 1, "subtime": 0, "res": 2, "profile": "p", **members}
    profiles = {"p": {"type": "DelayProfile" if later else "delay", "delay": 1}}
    file.write_text(json.dumps({"nb_res": 4, "jobs": [job], "profiles": profiles}))
    return read_workload(file)


@pytest.mark.parametrize("extra", [{"demand": HALF}, json.dumps({"demand": HALF})])
def test_a_demand_is_in_the_extra_data_in_batsim_5(tmp_path: Path, extra: object) -> None:
    """As an object, or as the text of one."""
    assert read(tmp_path, later=True, extra_data=extra).jobs[0].demand == DEMAND


def test_a_demand_is_a_member_in_batsim_4(tmp_path: Path) -> None:
    """A job without it has whole hosts."""
    assert read(tmp_path, demand=HALF).jobs[0].demand == DEMAND
    assert read(tmp_path).jobs[0].demand is None


@pytest.mark.parametrize("protocol", ["v4", "v5"])
def test_what_is_written_is_read_again(tmp_path: Path, protocol: str) -> None:
    """In both formats."""
    workload = read(tmp_path, demand=HALF)
    file = tmp_path / "other.json"
    file.write_bytes(workload_content(workload, protocol=protocol))
    assert [job.demand for job in read_workload(file).jobs] == [DEMAND]


@pytest.mark.parametrize("members", [{"demand": {"gpus": -1}}, {"later": True, "extra_data": {"demand": {"gpus": -1}}}])
def test_a_wrong_amount_is_refused_with_its_place(tmp_path: Path, members: dict[str, Any]) -> None:
    """The job, the resource and the rule."""
    with pytest.raises(WorkloadError) as raised:
        read(tmp_path, **members)
    rule = "jobs[0].demand.gpus: must be a whole number of GPUs from 0 to 1000, not -1"
    assert str(raised.value) == f"{tmp_path / 'w.json'}: {rule}"


def test_the_demand_is_no_member_without_effect(tmp_path: Path) -> None:
    """Unlike the members of forks of Batsim."""
    assert read(tmp_path, demand=HALF).notes == ()
