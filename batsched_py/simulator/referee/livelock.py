"""A guard against livelock, as when a scheduler answers each answer with a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from batsched_py.errors import DeadlockError
from batsched_py.protocol.events import Event

#: Messages in a row at one instant in which no job came, ended or was rejected. Real Batsim would go on for ever.
MOST_IN_VAIN: Final = 100_000


class LivelockGuard:
    """Counts the messages of one instant that bring no job on."""

    def __init__(self, most: int = MOST_IN_VAIN) -> None:
        self._most = most
        #: The instant of the latest message, in seconds; jobs that had ended and that had not.
        self._state = (-1.0, 0, 0)
        self._messages = 0

    def note(self, now: float, events: Sequence[Event], ended: int, unfinished: int) -> None:
        """Count a message; DeadlockError if too many of the same instant were in vain."""
        state = now, ended, unfinished
        if state != self._state:
            self._state, self._messages = state, 0
            return
        self._messages += 1
        if self._messages >= self._most:
            kinds = ", ".join(sorted({type(event).__name__ for event in events}))
            raise DeadlockError(
                f"t={now:.6f}: {self._most} messages and no time has passed; the scheduler answers each"
                f" with what is answered at once (the latest: {kinds})"
            )
