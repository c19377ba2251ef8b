"""Signals of carbon intensity and price: their values, and what is refused."""

from __future__ import annotations

import math

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.step_signal import parse_signal

GRID = b"time,gCO2/kWh\n0,450\n3600,100\n\n7200.5,-3e2\n9000,500\n"


def test_a_value_holds_until_the_next_row() -> None:
    """The last has no end."""
    signal = parse_signal("grid.csv", GRID)
    assert (signal.unit, signal.quantity) == ("gCO2/kWh", "gCO2")
    assert [signal.at(time) for time in (0, 3599.9, 3600, 7200.5, 1e9)] == [450, 450, 100, -300, 500]


def test_the_first_low_time_is_now_or_that_of_a_row() -> None:
    """Infinity if the signal never falls again; a value equal to the threshold is low."""
    signal = parse_signal("grid.csv", GRID)
    assert [signal.first_low(time, 100) for time in (10, 5000, 9000)] == [3600, 5000, math.inf]
    assert signal.first_low(10, -1) == 7200.5


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", 'line 1: must be "time" and a unit per kWh'),
        (b"time,gCO2\n0,1\n", "line 1: must be"),
        (b"time,/kWh\n0,1\n", "line 1: must be"),
        (b"time,\x1b[31mEUR/kWh\n0,1\n", "line 1: must have a short unit"),
        (b"time," + b"x" * 1000 + b"/kWh\n0,1\n", "line 1: must have a short unit"),
        (b"time,EUR/kWh\n", "must have at least one row"),
        (b"time,EUR/kWh\n5,1\n", "line 2: must be at time 0"),
        (b"time,EUR/kWh\n0,1\n10,2\n10,3\n", "line 4: must come after the time before, 10"),
        (b"time,EUR/kWh\n0,1,2\n", "line 2: must have a time and a value, not 3 cells"),
        (b"time,EUR/kWh\n0,cheap\n", "line 2: must have numbers"),
        (b"time,EUR/kWh\n0,nan\n", "line 2: must have numbers"),
        (b"time,EUR/kWh\n0,\xff\n", "must be comma-separated values in UTF-8"),
        (b'time,EUR/kWh\n0,"1\n', "must be comma-separated values"),
    ],
)
def test_invalid_files_are_refused_with_line_and_rule(content: bytes, rule: str) -> None:
    """One error for each."""
    with pytest.raises(WorkloadError, match=rule):
        parse_signal("grid.csv", content)
