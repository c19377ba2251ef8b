"""The clock of a site: simulated seconds by a wall clock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple


class _Passing(NamedTuple):
    """How time passes: from `time`, which it was when the wall clock showed `since`."""

    pace: float
    paused: bool
    time: float
    since: float


class PacedClock:
    """Simulated time that passes by itself, `pace` seconds in one second; it can be paused.

    With an infinite pace time does not pass by itself: the simulation runs as fast as it can, and its clock is where
    that has come. Any thread may read it; one at a time may change it.

    Args:
        pace: simulated seconds for each second.
        wall: returns seconds of a clock that never goes back.
    """

    def __init__(self, pace: float, wall: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        #: One value, so that nobody reads half of a change.
        self._passing = _Passing(pace, True, 0.0, wall())

    @property
    def pace(self) -> float:
        """Simulated seconds for each second, when it is not paused."""
        return self._passing.pace

    @property
    def paused(self) -> bool:
        """True while time stands still."""
        return self._passing.paused

    def read(self, reached: float) -> float:
        """Return the time; `reached` if that is later, or if time does not pass by itself."""
        pace, paused, begun, since = self._passing
        if paused or math.isinf(pace):
            return max(begun, reached)
        return max(begun + (self._wall() - since) * pace, reached)

    def seconds_until(self, due: float) -> float:
        """Return the seconds of the wall clock until `due`; 0 if it has come, infinite while the clock is paused."""
        if self.paused:
            return math.inf
        if math.isinf(self.pace):
            return 0.0
        return max(0.0, (due - self.read(0.0)) / self.pace)

    def start(self, reached: float) -> None:
        """Let time pass, from `reached` or from where it was paused, whichever is later."""
        self._passing = _Passing(self.pace, False, max(self._passing.time, reached), self._wall())

    def pause(self, reached: float) -> None:
        """Let time stand still."""
        self._passing = _Passing(self.pace, True, self.read(reached), self._wall())

    def change_pace(self, pace: float, reached: float) -> None:
        """Let time pass faster or slower from now on."""
        self._passing = _Passing(pace, self.paused, self.read(reached), self._wall())
