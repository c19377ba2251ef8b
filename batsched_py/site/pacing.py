"""The clock of a site: simulated seconds by a wall clock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable


class PacedClock:
    """Simulated time that passes by itself, `pace` seconds in one second; it can be paused.

    With an infinite pace time does not pass by itself: the simulation runs as fast as it can, and its clock is where
    that has come.

    Args:
        pace: simulated seconds for each second.
        wall: returns seconds of a clock that never goes back.
    """

    def __init__(self, pace: float, wall: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._pace = wall, pace
        self._paused = True
        self._time, self._since = 0.0, wall()

    @property
    def pace(self) -> float:
        """Simulated seconds for each second, when it is not paused."""
        return self._pace

    @property
    def paused(self) -> bool:
        """True while time stands still."""
        return self._paused

    def read(self, reached: float) -> float:
        """Return the time; `reached` if that is later, or if time does not pass by itself."""
        if self._paused or math.isinf(self._pace):
            return max(self._time, reached)
        return max(self._time + (self._wall() - self._since) * self._pace, reached)

    def seconds_until(self, due: float) -> float:
        """Return the seconds of the wall clock until `due`; 0 if it has come, infinite while the clock is paused."""
        if self._paused:
            return math.inf
        if math.isinf(self._pace):
            return 0.0
        return max(0.0, (due - self.read(0.0)) / self._pace)

    def start(self, reached: float) -> None:
        """Let time pass, from `reached` or from where it was paused, whichever is later."""
        self._time, self._since = max(self._time, reached), self._wall()
        self._paused = False

    def pause(self, reached: float) -> None:
        """Let time stand still."""
        self._time = self.read(reached)
        self._paused = True

    def change_pace(self, pace: float, reached: float) -> None:
        """Let time pass faster or slower from now on."""
        self._time, self._since = self.read(reached), self._wall()
        self._pace = pace
