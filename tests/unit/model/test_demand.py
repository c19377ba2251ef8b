"""Demands of tasks and capacities of hosts."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.model.demand import HostCapacity, TaskDemand


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"cores": -1}, "cores: must be at least 0, not -1"),
        ({"cores": 1, "memory": -5}, "memory: must be at least 0, not -5"),
        ({"gpus": -2}, "gpus: must be at least 0, not -2"),
        ({"gpus": 1, "share": 0}, "share: must be from 1 to 1000, not 0"),
        ({"gpus": 1, "share": 1001}, "share: must be from 1 to 1000, not 1001"),
        ({"cores": 1, "models": ("T4",)}, "models: must be empty for a task without GPUs"),
        ({}, "cores: must be greater than 0 if nothing else is requested"),
    ],
)
def test_a_demand_that_no_task_can_have_is_refused(members: dict[str, Any], rule: str) -> None:
    """The field and the rule are named."""
    with pytest.raises(ValueError, match="^" + rule):
        TaskDemand(**members)


@pytest.mark.parametrize(("field", "least"), [("cores", 1), ("memory", 0), ("gpus", 0)])
def test_a_capacity_below_the_least_is_refused(field: str, least: int) -> None:
    """A host has at least a thousandth of a core."""
    with pytest.raises(ValueError, match=f"^{field}: must be at least {least}, not {least - 1}"):
        replace(HostCapacity(cores=1, memory=1), **{field: least - 1})


def test_the_amount_of_gpus_is_the_sum_of_the_shares() -> None:
    """In thousandths."""
    assert TaskDemand(gpus=3, share=250).gpu_amount == 750
    assert TaskDemand(gpus=2).gpu_amount == 2000
    assert TaskDemand(cores=1).gpu_amount == 0


def test_the_whole_host_is_a_demand() -> None:
    """With whole GPUs of any model."""
    assert HostCapacity(cores=8, memory=9, gpus=2, model="T4").whole == TaskDemand(cores=8, memory=9, gpus=2)


def test_amounts_of_other_resources_are_sorted_and_at_least_1() -> None:
    """Equal demands compare equal."""
    with pytest.raises(ValueError, match=r"^others: must be in the order of their names, each once"):
        TaskDemand(others=(("b", 1), ("a", 1)))
    with pytest.raises(ValueError, match=r"^others\.a: must be at least 1, not 0"):
        HostCapacity(cores=1, memory=0, others=(("a", 0),))
