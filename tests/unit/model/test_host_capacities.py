"""Capacities of hosts, from their properties."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.model.demand import HostCapacity
from batsched_py.model.host_capacities import read_capacity


def test_a_capacity_is_read_from_the_properties_of_a_host() -> None:
    """Amounts are rounded down; memory and GPUs that no property states are not there."""
    assert read_capacity({}, 16) == HostCapacity(cores=16_000, memory=0)
    properties = {
        "cpu": "100+50.5",
        "mem": "1024+512.5",
        "gpus": "4",
        "gpu_model": "T4",
        "capacity": "nvme:800 fpga:1+1",
    }
    assert read_capacity(properties, 16) == HostCapacity(
        cores=1505, memory=1536, gpus=4, model="T4", others=(("fpga", 2), ("nvme", 800))
    )


@pytest.mark.parametrize(
    ("properties", "rule"),
    [
        ({"cpu": "-5"}, "cpu: must be a number above 0"),
        ({"mem": "8GB"}, "mem: must be a number above 0"),
        ({"gpus": "1001"}, "gpus: must be a whole number from 0 to 1000, not '1001'"),
        ({"gpus": "9" * 5000}, "gpus: must be a whole number from 0 to 1000"),
        ({"gpus": True}, "gpus: must be a whole number from 0 to 1000, not 'True'"),
        ({"capacity": "cpu:3"}, "capacity: must not be a type named cpu"),
    ],
)
def test_a_property_that_is_no_amount_is_refused(properties: dict[str, Any], rule: str) -> None:
    """The property and the rule are named."""
    with pytest.raises(ValueError, match="^" + rule) as raised:
        read_capacity(properties)
    assert len(str(raised.value)) < 200
