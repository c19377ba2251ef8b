"""Differences and counts of two futures, computed by hand."""

from __future__ import annotations

import pytest

from batsched_py.site.what_if.api import LeaseFuture, LeaseOutcome, WhatIfCounts, count, difference

NEW = LeaseOutcome("Queued", final=False)
RUNS = LeaseOutcome("Active", final=False, start=0.0)


def done(start: float, end: float) -> LeaseOutcome:
    """Return the outcome of a lease that has had its time."""
    return LeaseOutcome("Done", final=True, start=start, end=end)


def futures(*outcomes: tuple[LeaseOutcome, LeaseOutcome, LeaseOutcome]) -> list[LeaseFuture]:
    """Return futures of leases: now, without and with a change."""
    return [LeaseFuture(number, *one) for number, one in enumerate(outcomes, 1)]


def test_waiting_leases_are_compared_by_their_start_and_running_ones_by_their_end() -> None:
    """Later is positive."""
    found = futures((NEW, done(10, 20), done(16, 26)), (RUNS, done(0, 50), done(0, 30)), (NEW, done(5, 9), done(5, 99)))
    assert [difference(one) for one in found] == [6, -20, 0]
    assert count(found) == WhatIfCounts(3, 1, 1, 0, 0, 0, 0)


def test_a_lease_that_starts_in_one_play_only_is_counted_but_has_no_difference() -> None:
    """It is later, or earlier, than any number says."""
    found = futures((NEW, done(10, 20), NEW), (NEW, NEW, done(10, 20)), (NEW, NEW, NEW), (RUNS, RUNS, done(0, 9)))
    assert [difference(one) for one in found] == [None] * 4
    assert count(found) == WhatIfCounts(4, 2, 1, 2, 2, 0, 0)


@pytest.mark.parametrize("state", ["Rejected", "Fail", "Cancelled", "REJECTED", "COMPLETED_KILLED", "COMPLETED_FAILED"])
def test_a_lease_that_fails_is_neither_earlier_nor_later(state: str) -> None:
    """Though it ends earlier."""
    failed = LeaseOutcome(state, final=True, start=0.0, end=5.0)
    found = futures((RUNS, done(0, 50), failed), (RUNS, failed, done(0, 50)))
    assert [difference(one) for one in found] == [None, None]
    assert count(found) == WhatIfCounts(2, 0, 0, 0, 0, 1, 1)
