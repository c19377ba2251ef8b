"""Times as policies of users' own handle them."""

from __future__ import annotations

import pytest

from batsched_py.leases.haizea_interface.times import Instant, TimeDelta, clock_at, get_clock


def test_a_span_is_a_number_of_seconds_with_the_attributes_of_mx() -> None:
    """Each attribute is all of it in its unit."""
    span = TimeDelta(hours=1, minutes=30)
    assert (span, span.seconds, span.minutes, span.hours, span.days) == (5400.0, 5400.0, 90.0, 1.5, 0.0625)


def test_instants_and_spans_are_added_and_taken_away() -> None:
    """The result is an instant or a span, as it makes sense."""
    start, hour = Instant(7200.0), TimeDelta(hours=1)
    found = [start - Instant(3600.0), start - hour, start + hour, hour + start, hour + hour, hour - hour, -hour]
    assert found == [3600.0, 3600.0, 10800.0, 10800.0, 7200.0, 0.0, -3600.0]
    kinds = [TimeDelta, Instant, Instant, Instant, TimeDelta, TimeDelta, TimeDelta]
    assert [type(one) for one in found] == kinds
    assert abs(-hour) == hour
    assert start - Instant(3600.0) <= hour


def test_the_clock_tells_the_time_of_the_run_that_asks() -> None:
    """A clock that was kept does, too; one that nobody asks has none."""
    clock = get_clock()
    with clock_at(60.0):
        with clock_at(90.0):
            assert clock.get_time() == 90.0
        assert clock.get_time() == 60.0
    with pytest.raises(RuntimeError, match="only while a policy or a probe is asked"):
        clock.get_time()
