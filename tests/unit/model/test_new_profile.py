"""Profiles that algorithms make for their own jobs."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.model.new_profile import (
    delay,
    parallel,
    parallel_homogeneous,
    parallel_homogeneous_total,
)
from batsched_py.model.profile import Parallel, parse_profile


def test_each_maker_writes_batsims_members() -> None:
    """A return code of 0 is left out."""
    assert delay(5) == {"type": "delay", "delay": 5}
    assert delay(5, ret=1) == {"type": "delay", "delay": 5, "ret": 1}
    assert parallel([1e9, 2e9]) == {"type": "parallel", "cpu": [1e9, 2e9], "com": [0.0] * 4}
    assert parallel_homogeneous(1e9, 5) == {"type": "parallel_homogeneous", "cpu": 1e9, "com": 5}
    assert parallel_homogeneous_total(1e9) == {"type": "parallel_homogeneous_total", "cpu": 1e9, "com": 0.0}


def test_a_parallel_profile_that_was_made_is_read_as_such() -> None:
    """One number for each host, one for each pair."""
    typed = parse_profile("p", parallel((1, 2), (0, 3, 4, 0)))
    assert isinstance(typed, Parallel)
    assert (typed.cpu, typed.com) == ((1.0, 2.0), (0.0, 3.0, 4.0, 0.0))


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: delay(0), "delay: must be a number of seconds greater than 0, not 0"),
        (lambda: delay(float("nan")), "delay: must be"),
        (lambda: parallel([]), "cpu: must have"),
        (lambda: parallel([1, 2], [1]), "com: must have 2 x 2 numbers of bytes, not 1"),
        (lambda: parallel_homogeneous(-1), "cpu: must be a number from 0, not -1"),
    ],
)
def test_what_batsim_would_refuse_is_not_made(make: Any, rule: str) -> None:
    """The member and the rule, where the profile is made."""
    with pytest.raises(ValueError, match="^" + rule.replace("(", r"\(")):
        make()
