"""The clock of a site: paced, paused, and as fast as it can."""

from __future__ import annotations

import math

from batsched_py.site.pacing import PacedClock


class Wall:
    """A wall clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


def test_time_passes_by_the_pace() -> None:
    """From the start on, from the instant that was reached."""
    wall = Wall()
    clock = PacedClock(60.0, wall)
    wall.time += 5
    assert clock.read(7.0) == 7.0
    clock.start(7.0)
    wall.time += 2
    assert clock.read(7.0) == 127.0
    assert clock.seconds_until(187.0) == 1.0
    assert clock.seconds_until(100.0) == 0.0


def test_what_the_simulation_has_reached_is_never_in_the_future() -> None:
    """It may be ahead by a hair."""
    clock = PacedClock(1.0, Wall())
    clock.start(0.0)
    assert clock.read(3.0) == 3.0


def test_a_paused_clock_stands_still() -> None:
    """It goes on where it stopped."""
    wall = Wall()
    clock = PacedClock(10.0, wall)
    clock.start(0.0)
    wall.time += 1
    clock.pause(0.0)
    wall.time += 100
    assert clock.paused
    assert clock.read(0.0) == 10.0
    assert clock.seconds_until(20.0) == math.inf
    clock.start(10.0)
    wall.time += 1
    assert clock.read(0.0) == 20.0


def test_the_pace_changes_from_now_on() -> None:
    """Past time stays."""
    wall = Wall()
    clock = PacedClock(1.0, wall)
    clock.start(0.0)
    wall.time += 10
    clock.change_pace(100.0, 0.0)
    wall.time += 1
    assert (clock.pace, clock.read(0.0)) == (100.0, 110.0)


def test_as_fast_as_it_can_time_is_where_the_simulation_is() -> None:
    """Everything is due at once."""
    wall = Wall()
    clock = PacedClock(math.inf, wall)
    clock.start(4.0)
    wall.time += 10
    assert (clock.read(4.0), clock.read(9.0), clock.seconds_until(1e9)) == (4.0, 9.0, 0.0)
