"""Fingerprints of jobs say whether the metrics of two runs can be compared."""

from __future__ import annotations

import pytest

from batsched_py.reporting.metrics.same_jobs import marks_of, other_jobs
from batsched_py.results.records import JobRecord
from tests.unit.reporting.records import record, rejected

ONE, TWO = record("1"), record("2", start=5, finish=9)
KILLED = record("2", state="COMPLETED_KILLED")


@pytest.mark.parametrize(
    ("mine", "theirs", "answer"),
    [
        ((ONE, TWO), (TWO, ONE), ""),
        ((ONE, TWO), (ONE, KILLED), "succeeded"),
        ((ONE, TWO), (ONE,), "ran"),
        ((ONE, rejected("2")), (ONE,), ""),
        ((), (), ""),
    ],
)
def test_runs_differ_in_the_jobs_that_ran_or_else_in_those_that_succeeded(
    mine: tuple[JobRecord, ...], theirs: tuple[JobRecord, ...], answer: str
) -> None:
    """The order of their ends does not matter; rejected jobs did not run."""
    assert other_jobs(marks_of(mine), marks_of(theirs)) == answer
    assert other_jobs(marks_of(theirs), marks_of(mine)) == answer
