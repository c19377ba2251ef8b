"""The clock of a site: simulated time derived from a wall clock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple


class _Passing(NamedTuple):
    """The pace of time, which had the value `time` when the wall clock was at `since`."""

    pace: float
    paused: bool
    time: float
    since: float


class PacedClock:
    """A clock of simulated time that runs at `pace` times real time; it can be paused.

    With an infinite pace the simulation runs as fast as possible and alone determines the time. Any thread may read
    the clock; changes must not be concurrent.

    Args:
        pace: simulated seconds per second.
        wall: a monotonic clock, in seconds.
    """

    def __init__(self, pace: float, wall: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        #: One value, replaced as a whole: readers in other threads never see half of a change.
        self._passing = _Passing(pace, True, 0.0, wall())

    @property
    def pace(self) -> float:
        """Simulated seconds per second while the clock is not paused."""
        return self._passing.pace

    @property
    def paused(self) -> bool:
        """True while the clock is paused."""
        return self._passing.paused

    def read(self, reached: float) -> float:
        """Return the time, at least `reached`, the instant that the simulation has reached.

        A clock that is paused or has an infinite pace does not advance on its own.
        """
        pace, paused, begun, since = self._passing
        if paused or math.isinf(pace):
            return max(begun, reached)
        return max(begun + (self._wall() - since) * pace, reached)

    def seconds_until(self, due: float) -> float:
        """Return the wall-clock seconds until `due`; 0 if it has passed, infinite while the clock is paused."""
        if self.paused:
            return math.inf
        if math.isinf(self.pace):
            return 0.0
        return max(0.0, (due - self.read(0.0)) / self.pace)

    def start(self, reached: float) -> None:
        """Start the clock from `reached` or from the time at which it was paused, whichever is later."""
        self._passing = _Passing(self.pace, False, max(self._passing.time, reached), self._wall())

    def pause(self, reached: float) -> None:
        """Pause the clock."""
        self._passing = _Passing(self.pace, True, self.read(reached), self._wall())

    def change_pace(self, pace: float, reached: float) -> None:
        """Change the pace from now on."""
        self._passing = _Passing(pace, self.paused, self.read(reached), self._wall())
