"""The calendar: what changes when, and what it makes of hosts that are late or taken twice."""

from __future__ import annotations

import math

from batsched_py.planning.future.calendar import Calendar, Changes, Claims
from batsched_py.planning.future.promises import Claim

ALL = 0b1111


def new_calendar() -> Calendar:
    calendar = Calendar(ALL)
    calendar.ends.add(10.0, 0b0001)
    calendar.starts.add(5.0, 0b0010)
    calendar.stops.add(15.0, 0b0010)
    calendar.returns.add(20.0, 0b1000)
    return calendar


def test_hosts_change_at_instants_in_order() -> None:
    """One that is added twice changes once; an instant without hosts is gone."""
    changes = Changes()
    for time, hosts in ((5.0, 0b1), (2.0, 0b10), (5.0, 0b100)):
        changes.add(time, hosts)
    assert (changes.times, changes.sizes) == ([2.0, 5.0], {2.0: 1, 5.0: 2})
    assert changes.between(2.0, 6.0) == 0b101
    assert changes.all() == 0b111
    changes.forget(0b10)
    changes.remove(5.0, 0b1)
    assert changes.times == [5.0]
    assert changes.take(5.0) == 0b100
    assert not changes.times


def test_claims_are_taken_of_steps() -> None:
    """Each change makes a step of its own, what has begun counts from now on, and two that are alike count twice."""
    claims, late, alike = Claims(), Claim(4.0, 6.0, 1), Claim(1.0, 6.0, 1)
    for claim in (Claim(1.0, 6.0, 1), alike, late, Claim(0.0, 2.0, 7)):
        claims.add(claim)
    assert list(claims.left_of([(2.0, 5), (5.0, 9)], 2.0)) == [(2.0, 3), (4.0, 2), (5.0, 6), (6.0, 9)]
    claims.remove(late)
    claims.remove(alike)
    assert list(claims.left_of([(2.0, 5)], 2.0)) == [(2.0, 4), (6.0, 5)]
    assert claims
    assert list(claims.left_of([(6.0, 5)], 6.0)) == [(6.0, 5)]
    assert not claims


def test_the_future_is_a_step_for_each_change() -> None:
    """Work ends, a booking begins and ends, a host returns."""
    steps = list(new_calendar().steps(0.0, ALL, busy=0b0001, kept=0, down=0b1000))
    assert steps == [(5.0, 0b0100), (10.0, 0b0101), (15.0, 0b0111), (20.0, 0b1111)]


def test_what_is_late_is_expected_the_instant_after_now() -> None:
    """Work and hosts alike; whether anything is late is known."""
    calendar = new_calendar()
    assert not calendar.late(9.0)
    assert calendar.late(10.0)
    calendar.starts.take(5.0)
    first, *_ = calendar.steps(12.0, ALL, busy=0b0001, kept=0b0010, down=0b1000)
    assert first == (math.nextafter(12.0, math.inf), 0b0101)


def test_what_will_be_announced_needs_no_call() -> None:
    """An end or a return at that very instant, or anything that is late already."""
    calendar = new_calendar()
    assert calendar.announces(10.0, 0.0)
    assert calendar.announces(20.0, 0.0)
    assert not calendar.announces(15.0, 0.0)
    assert calendar.announces(15.0, 11.0)


def test_only_ends_need_no_look_at_anything_else() -> None:
    """As long as nothing is booked, down or late."""
    calendar = Calendar(ALL)
    calendar.ends.add(10.0, 0b1)
    assert calendar.only_ends(9.0)
    assert not calendar.only_ends(10.0)
    assert not new_calendar().only_ends(0.0)


def test_hosts_that_are_taken_twice_are_known() -> None:
    """Work that outlasts the start of a booking, and bookings of hosts that are down."""
    calendar = new_calendar()
    assert calendar.taken_twice(busy=0b0001, kept=0, down=0) == 0
    assert calendar.taken_twice(busy=0b0001, kept=0, down=0b0010) == 0b0010
    calendar.starts.add(9.0, 0b0001)
    assert calendar.taken_twice(busy=0b0001, kept=0, down=0) == 0b0001
