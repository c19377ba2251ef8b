"""Values of a study file: one, a list, a range."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.campaigns.plan.values import read_values


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        (3, (3,)),
        ("sjf", ("sjf",)),
        (True, (True,)),
        ([1, 2.5, "none"], (1, 2.5, "none")),
        ({"from": 1, "to": 4, "step": 1}, (1, 2, 3, 4)),
        ({"from": 0, "to": 0.3, "step": 0.1}, (0.0, 0.1, 0.2, 0.3)),
        ({"from": 1, "to": 4, "step": 2}, (1, 3)),
        ({"from": 0, "to": 1, "count": 3}, (0.0, 0.5, 1.0)),
        ({"from": 1, "to": 1000, "count": 4, "scale": "log"}, (1.0, 10.0, 100.0, 1000.0)),
    ],
)
def test_values_are_what_is_meant(raw: Any, values: tuple[Any, ...]) -> None:
    """Ends of ranges are included; integers stay integers."""
    found = read_values(raw)
    assert found == values
    assert list(map(type, found)) == list(map(type, values))


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        ([], "must have a value, not an empty list"),
        ([1, [2]], "must be a number, a text, true or false, not [2]"),
        ([1, 2, 1], "has the value 1 twice"),
        ({"from": 1}, "to: is missing"),
        ({"from": 1, "to": 2}, "must have a step or a count"),
        ({"from": 1, "to": 2, "step": 1, "count": 2}, "must have a step or a count"),
        ({"from": 2, "to": 1, "step": 1}, "to: must be greater than from, 2, not 1"),
        ({"from": 1, "to": 2, "step": 0}, "step: must be greater than 0, not 0"),
        ({"from": 0, "to": 1, "step": 1e-9}, "step: must leave at most 10000 values"),
        ({"from": 0, "to": 1, "count": 1}, "count: must be a whole number from 2 to 10000, not 1"),
        ({"from": 0, "to": 1, "count": 3, "scale": "log"}, "from: must be greater than 0 on a logarithmic scale"),
        ({"from": 1, "to": 2, "step": 1, "scale": "log"}, "scale: log goes with a count"),
        ({"from": 1, "to": 2, "count": 2, "scale": "cubic"}, "scale: must be one of linear, log, not 'cubic'"),
        ({"from": 1, "to": math.inf, "count": 2}, "to: must be a number, not inf"),
        ({"from": 1, "till": 2}, "till: unknown"),
    ],
)
def test_what_is_no_value_is_refused(raw: Any, rule: str) -> None:
    """With the rule."""
    with pytest.raises(ValueError, match=re.escape(rule)):
        read_values(raw)


@given(st.integers(-50, 50), st.integers(1, 50), st.integers(1, 7))
def test_a_range_of_integers_is_pythons_with_its_end(first: int, length: int, step: int) -> None:
    """As `range` has it."""
    raw = {"from": first, "to": first + length, "step": step}
    assert read_values(raw) == tuple(range(first, first + length + 1, step))
