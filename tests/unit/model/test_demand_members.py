"""Demands of jobs, as they are read from members and written."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.model.demand import TaskDemand
from batsched_py.model.demand_members import read_job_demand
from batsched_py.model.job_demand import JobDemand
from batsched_py.reading.faults import FieldError

#: Each member, in the order in which they are written.
ALL: dict[str, Any] = {
    "cores": 1.5,
    "memory": 4096,
    "gpus": 2,
    "gpu_share": 0.25,
    "gpu_models": ["T4", "V100"],
    "others": {"fpga": 1, "nvme": 800},
    "exclusive": True,
    "spread": True,
    "licences": {"matlab": 2},
}


def test_all_members_are_read() -> None:
    """Cores and shares in thousandths, amounts sorted by name."""
    demand = read_job_demand({"demand": ALL}, 3)
    task = TaskDemand(
        cores=1500,
        memory=4096,
        gpus=2,
        share=250,
        models=("T4", "V100"),
        others=(("fpga", 1), ("nvme", 800)),
        exclusive=True,
    )
    assert demand == JobDemand(tasks=3, task=task, spread=True, licences=(("matlab", 2),))


@pytest.mark.parametrize("members", [ALL, {"cores": 2}, {"memory": 1}, {"gpus": 1}, {"exclusive": True}])
def test_members_that_are_written_are_those_that_were_read(members: dict[str, Any]) -> None:
    """Members with default values are absent."""
    demand = read_job_demand({"demand": members}, 1)
    assert demand is not None
    assert demand.members == members


def test_a_job_without_the_member_has_whole_hosts() -> None:
    """Other members of users change nothing."""
    assert read_job_demand({"gpus": 2, "cores": 4}, 1) is None


@pytest.mark.parametrize(
    ("members", "error"),
    [
        ({"gpus": -1}, "demand.gpus: must be a whole number of GPUs from 0 to 1000, not -1"),
        ({"gpus": 1001}, "demand.gpus: must be a whole number of GPUs from 0 to 1000, not 1001"),
        ({"gpus": 1, "gpu_share": 1.5}, "demand.gpu_share: must be a number from 0 to 1, not 1.5"),
        ({"gpus": 1, "gpu_share": 0}, "demand.gpu_share: must be a number greater than 0, not 0"),
        (
            {"gpus": 1, "gpu_share": 0.3333},
            "demand.gpu_share: must be a number with at most three decimals, not 0.3333",
        ),
        ({"cores": 1e300}, "demand.cores: must be a number of cores from 0 to 1000000000, not 1e+300"),
        ({"memory": 0.5}, "demand.memory: must be a whole number of MiB from 0 to 1000000000000, not 0.5"),
        ({"cpus": 1}, "demand.cpus: "),
        ({"others": {"cpu": 1}}, "demand.others.cpu: must not be a type named cpu"),
        ({"others": {"fpga": 0}}, "demand.others.fpga: must be a whole number from 1 to 1000000000000, not 0"),
        ({}, "demand.cores: must be greater than 0 if nothing else is requested"),
        ({"cores": 1, "gpu_share": 0.5}, "demand.gpu_share: must be absent if no GPUs are requested by gpus"),
        ({"cores": 1, "gpus": 0, "gpu_models": ["T4"]}, "demand.gpu_models: must be absent if gpus is 0"),
        ({"gpus": 1, "gpu_models": [1]}, "demand.gpu_models: must be a list of 1 to 1000 texts, not [1]"),
        ({"cores": 1, "exclusive": 1}, "demand.exclusive: must be true or false, not 1"),
        ({"cores": float("nan")}, "demand.cores: must be a number of cores from 0 to 1000000000, not nan"),
        ([], "demand: must be an object, not []"),
    ],
)
def test_members_that_break_a_rule_are_refused(members: Any, error: str) -> None:
    """With the path of the member."""
    with pytest.raises(FieldError) as raised:
        read_job_demand({"demand": members}, 1)
    assert error in str(raised.value)


def test_a_job_without_hosts_has_no_demand() -> None:
    """It has no tasks."""
    with pytest.raises(FieldError, match="demand: must be absent from a job without hosts"):
        read_job_demand({"demand": {"cores": 1}}, 0)
