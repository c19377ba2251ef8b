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
        #: The instant of the latest message, in seconds.
        self.instant = -1.0
        #: The instant again, jobs that had ended and that had not; messages since then.
        self._state = (-1.0, 0, 0)
        self._messages = 0

    def note(self, events: Sequence[Event], ended: int, unfinished: int) -> None:
        """Count one more message of the same instant; DeadlockError if there have been too many in vain."""
        state = self.instant, ended, unfinished
        if state != self._state:
            self._state, self._messages = state, 0
            return
        self._messages += 1
        if self._messages >= self._most:
            kinds = ", ".join(sorted({type(event).__name__ for event in events}))
            raise DeadlockError(
                f"t={self.instant:.6f}: {self._most} messages and no time has passed; the scheduler answers each"
                f" with what is answered at once (the latest: {kinds})"
            )
