"""The live events of a site that is played again and goes on: past requests, then those of a change, to a horizon."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from batsched_py.simulator.time.live_loop import LiveBatch


class HorizonReachedError(Exception):
    """The play is over: nothing more happens before the horizon."""


class Continuation:
    """The live events of a simulation. See `LiveEvents`.

    Args:
        past: the batches of the site, none of which is later than now.
        now: the time that the site has reached.
        until: the horizon; what happens at this instant is still played.
        turn: called once, between two messages, when the simulation has reached now; it returns the batches that
            take effect then, none for a play without a change.
    """

    def __init__(
        self, past: Sequence[LiveBatch], now: float, until: float, turn: Callable[[], Sequence[LiveBatch]]
    ) -> None:
        self._batches, self._now, self._until = deque(past), now, until
        self._turn: Callable[[], Sequence[LiveBatch]] | None = turn

    def begin(self) -> None:
        """Do nothing: the past is repeated."""

    def wait(self, now: float, due: float | None) -> LiveBatch | None:  # noqa: ARG002  (of the protocol)
        """Return the next batch before `due`; None to go on there. HorizonReachedError at the end."""
        if self._batches:
            return self._batches.popleft() if due is None or self._batches[0].time < due else None
        if self._turn is not None and (due is None or due > self._now):
            self._batches.extend(self._turn())
            self._turn = None
            if self._batches:
                return self._batches.popleft()
        if due is None or due > self._until:
            raise HorizonReachedError
        return None
