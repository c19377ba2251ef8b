"""Counters with their averages."""

from __future__ import annotations

import pytest

from batsched_py.leases.accounting.counters import Average, Counter, CounterChange


def counted(average: Average, *, lease: int | None) -> Counter:
    """The counter of HA-42: 3 at 10, 1 at 20, stop at 40."""
    counter = Counter(average)
    counter.put(10.0, 3, lease)
    counter.put(20.0, 1, lease)
    counter.close(40.0)
    return counter


def test_the_last_value_is_repeated_at_the_stop_if_its_entry_names_a_lease() -> None:
    """HA-42."""
    assert counted(Average.NONE, lease=7).entries == [(0, None, 0), (10, 7, 3), (20, 7, 1), (40, None, 1)]


def test_the_last_value_is_not_repeated_if_its_entry_names_no_lease() -> None:
    """HA-42, without leases."""
    assert counted(Average.NONE, lease=None).entries == [(0, None, 0), (10, None, 3), (20, None, 1)]


def test_a_second_value_at_one_instant_replaces_the_first_and_keeps_its_lease() -> None:
    """The entry names the lease that came first."""
    counter = Counter()
    counter.put(10.0, 3, 7)
    counter.put(10.0, 4, 8)
    assert counter.entries == [(0, None, 0), (10, 7, 4)]


def test_what_changes_neither_value_nor_lease_adds_no_entry() -> None:
    """The same value for another lease is something new."""
    counter = Counter()
    counter.put(10.0, 0)
    counter.put(20.0, 0, 7)
    counter.put(30.0, 0, 7)
    assert counter.entries == [(0, None, 0), (20, 7, 0)]


@pytest.mark.parametrize(
    ("average", "expected"),
    [
        (Average.NONE, None),
        (Average.NORMAL, [0, 1.5, 4 / 3, 1.25]),
        (Average.TIME_WEIGHTED, [0, 0, 1.5, 1.25]),
    ],
)
def test_averages_are_over_entries_or_over_time(average: Average, expected: list[float] | None) -> None:
    """HA-42: the values are divided truly, also where all are integers."""
    assert counted(average, lease=7).averages() == (None if expected is None else pytest.approx(expected, abs=1e-12))


def test_a_time_weighted_average_begins_with_the_first_value() -> None:
    """No time has passed then."""
    assert Counter(Average.TIME_WEIGHTED, [CounterChange(0.0, None, 0.25)]).averages() == [0.25]
