"""Transfers that do not leave their host."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.model.loopback_transfers import sends_within_host
from batsched_py.model.profile import parse_profile

HOMOGENEOUS = {"type": "parallel_homogeneous", "cpu": 1, "com": 5}


def parallel(*com: float) -> dict[str, Any]:
    """Two executors."""
    return {"type": "parallel", "cpu": [1, 1], "com": list(com)}


@pytest.mark.parametrize(
    ("members", "executors", "within"),
    [
        (HOMOGENEOUS, [0, 1], False),
        (HOMOGENEOUS, [0, 1, 0], True),
        ({**HOMOGENEOUS, "com": 0}, [0, 0], False),
        ({**HOMOGENEOUS, "type": "parallel_homogeneous_total"}, [3, 3], True),
        (parallel(0, 5, 0, 0), [0, 1], False),
        (parallel(0, 5, 0, 0), [1, 1], True),
        (parallel(5, 0, 0, 0), [0, 1], True),
        (parallel(0, 0, 0, 0), [0, 0], False),
        (parallel(5, 0, 0, 0), [0, 1, 2], False),
        ({"type": "delay", "delay": 5}, [0, 0], False),
    ],
)
def test_a_task_sends_within_a_host(members: dict[str, Any], executors: list[int], within: bool) -> None:
    """An executor to itself, or to another one there."""
    assert sends_within_host(parse_profile("p", members), executors) is within
