"""The end of the warm-up: what MSER-5 cuts, computed in another way, and on schedules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.reporting.api import Schedule
from batsched_py.reporting.metrics.warm_up import WarmUpEnd, find_warm_up, mser5
from tests.thoroughness import thorough
from tests.unit.reporting.records import record


def cut_by_definition(values: list[float]) -> int:
    """Return the cut of the smallest squared standard error, each computed from its own mean."""
    batches = [sum(values[first : first + 5]) / 5 for first in range(0, len(values) - 4, 5)]
    errors = []
    for cut in range(len(batches) // 2 + 1):
        left = batches[cut:]
        mean = sum(left) / len(left)
        errors.append(sum((one - mean) ** 2 for one in left) / len(left) ** 2)
    return 5 * errors.index(min(errors))


@settings(max_examples=thorough(30))
@given(st.lists(st.integers(0, 50).map(float), min_size=10, max_size=80))
def test_the_cut_has_the_smallest_error_of_the_mean(values: list[float]) -> None:
    """No cut up to the half has a smaller one; where rounding decides between two, they are equally good."""
    cut, _ = mser5(values)
    batches = [sum(values[first : first + 5]) / 5 for first in range(0, len(values) - 4, 5)]

    def error(of: int) -> float:
        left = batches[of // 5 :]
        mean = sum(left) / len(left)
        return sum((one - mean) ** 2 for one in left) / len(left) ** 2

    assert cut % 5 == 0
    assert cut // 5 <= len(batches) // 2
    assert error(cut) == pytest.approx(error(cut_by_definition(values)), abs=1e-9)


def test_the_waits_of_an_empty_machine_are_cut() -> None:
    """Ten waits of nothing before ninety of a hundred seconds, more or less."""
    settled = [100.0 + (7 * number) % 11 for number in range(90)]
    assert mser5([0.0] * 10 + settled) == (10, True)
    assert mser5(settled)[0] < 15


def test_waits_that_grow_to_the_end_do_not_settle() -> None:
    assert mser5([float(number) for number in range(100)]) == (50, False)


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 9])
def test_few_jobs_have_no_warm_up(values: list[float]) -> None:
    assert mser5(values) == (0, True)


def test_jobs_that_are_submitted_together_are_cut_together() -> None:
    """The time of the first job that is measured is that of all submitted with it; rejected jobs do not count."""
    jobs = [
        record(
            f"{number}",
            submit=float(number // 2),
            start=number // 2 + (0.0 if number < 10 else 100.0 + number % 3),
            finish=1e4,
        )
        for number in range(60)
    ]
    found = find_warm_up(Schedule("easy", tuple(jobs), hosts=100, batsim_row={}))
    assert found == WarmUpEnd(5.0, 10, steady=True)
    assert find_warm_up(Schedule("easy", (), hosts=100, batsim_row={})) == WarmUpEnd(0.0, 0, steady=True)
