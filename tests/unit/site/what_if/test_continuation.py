"""The live events of a play: the past, the turn, and the horizon."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from batsched_py.simulator.time.live_loop import LiveBatch
from batsched_py.site.what_if.api import Continuation, HorizonReachedError

PAST = (LiveBatch(0.0), LiveBatch(10.0))
CHANGE = LiveBatch(12.0)


class Turn:
    """Counts the calls of the turn, and returns a change."""

    def __init__(self, *change: LiveBatch) -> None:
        self.calls, self.change = 0, change

    def __call__(self) -> Sequence[LiveBatch]:
        """Return the change."""
        self.calls += 1
        return self.change


def test_past_requests_come_at_their_times_and_the_change_comes_now() -> None:
    """Events of the simulation at the instant of a request precede it."""
    turn = Turn(CHANGE)
    events = Continuation(PAST, 12.0, 100.0, turn)
    assert events.wait(0.0, None) is PAST[0]
    assert events.wait(0.0, 10.0) is None
    assert events.wait(10.0, 10.5) is PAST[1]
    assert events.wait(10.0, 12.0) is None
    assert turn.calls == 0
    assert events.wait(12.0, 13.0) is CHANGE
    assert events.wait(12.0, 13.0) is None
    assert turn.calls == 1


def test_a_play_without_a_change_goes_on_to_the_horizon() -> None:
    """Events at the horizon are played, nothing after it, and the end comes if nothing is left."""
    turn = Turn()
    events = Continuation((), 12.0, 100.0, turn)
    assert events.wait(0.0, 12.5) is None
    assert turn.calls == 1
    assert events.wait(12.5, 100.0) is None
    with pytest.raises(HorizonReachedError):
        events.wait(100.0, 100.1)
    with pytest.raises(HorizonReachedError):
        Continuation((), 12.0, 100.0, turn).wait(0.0, None)
