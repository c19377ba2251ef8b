"""Calls of Batsim 5: whole milliseconds, and the noise of its clock."""

from __future__ import annotations

import pytest

from batsched_py.protocol.batsim5.triggers import milliseconds, write_call
from batsched_py.protocol.commands import CallMeLater


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (38.3, 38300),
        (38.3000000002, 38300),  # 5.3000000002, when Batsim said so, and 33 s
        (38.3000009, 38300),
        (38.3000012, 38301),
        (38.3004, 38301),
        (38.2999999998, 38300),
        (0.0, 0),
    ],
)
def test_a_call_is_rounded_up_unless_noise_made_it_later(time: float, expected: int) -> None:
    """A time at most a microsecond after a millisecond is meant for that."""
    assert milliseconds(time) == expected


def test_a_call_that_is_later_than_now_stays_later() -> None:
    """Otherwise Batsim would call at once, again and again."""
    command = CallMeLater(38.3000000002, 38.3000005)
    assert write_call(command)["when"] == {"time": 38301, "time_unit": "Millisecond"}
