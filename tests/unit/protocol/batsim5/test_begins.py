"""SimulationBeginsEvent of Batsim 5: the rules of hosts, which are those of earlier versions under other names."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.protocol.batsim5.begins import read_begins
from batsched_py.reading.faults import FieldError


def host(number: Any, **others: Any) -> dict[str, Any]:
    """A host with this number."""
    return {"id": number, "name": f"n{number}", "state": "IDLE", **others}


def test_hosts_storages_and_their_numbers_are_read() -> None:
    """Properties are pairs, states are in capitals, and what is not there is empty."""
    pairs = [{"key": "role", "value": "storage"}]
    begins = read_begins(0.0, {"computation_hosts": [host(0)], "storage_hosts": [host(1, properties=pairs)]})
    assert [(one.id, one.state) for one in begins.resources] == [(0, "idle")]
    assert begins.storages[0].properties == {"role": "storage"}
    assert read_begins(0.0, {}).resources == ()


@pytest.mark.parametrize(
    ("data", "path", "rule"),
    [
        ({"computation_hosts": [host(0), host(0)]}, "computation_hosts[1].id", "must be unique; 0 stands here again"),
        ({"computation_hosts": [host(1024)]}, "computation_hosts[0].id", "must be between 0 and 1023"),
        ({"computation_hosts": [host(-1)]}, "computation_hosts[0].id", "must be between 0 and 1023"),
        ({"computation_hosts": [host("0")]}, "computation_hosts[0].id", "must be a whole number"),
        ({"computation_hosts": ["n0"]}, "computation_hosts[0].id", "must be inside an object"),
        ({"computation_hosts": [{"id": 0}]}, "computation_hosts[0].name", "is missing"),
        ({"computation_hosts": 4}, "computation_hosts", "must be a list"),
        (
            {"computation_hosts": [host(0)], "storage_hosts": [host(0)]},
            "storage_hosts",
            "must have ids of their own, not those of hosts: [0]",
        ),
        (
            {"computation_hosts": [host(0)], "host_number": 2},
            "host_number",
            "must be 1, the number of resources listed",
        ),
    ],
)
def test_what_breaks_a_rule_is_told_with_its_place(data: dict[str, Any], path: str, rule: str) -> None:
    """The member and the rule."""
    with pytest.raises(FieldError) as refused:
        read_begins(0.0, data)
    assert refused.value.path == path
    assert refused.value.rule.startswith(rule)
