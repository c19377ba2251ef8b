"""A guard against livelock, for example of a scheduler that replies to each answer with a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from batsched_py.errors import DeadlockError
from batsched_py.protocol.events import Event

#: Maximum number of consecutive messages at one instant without a submission, end or rejection of a job. Real Batsim
#: would continue forever.
MOST_IN_VAIN: Final = 100_000


class LivelockGuard:
    """A counter of the messages of one instant without progress of a job."""

    def __init__(self, most: int = MOST_IN_VAIN) -> None:
        self._most = most
        #: The instant of the latest message, in seconds.
        self.instant = -1.0
        #: That instant, the numbers of jobs that had and had not ended, and the number of messages since then.
        self._state = (-1.0, 0, 0)
        self._messages = 0

    def note(self, events: Sequence[Event], ended: int, unfinished: int) -> None:
        """Count a message of the same instant; DeadlockError after too many without progress."""
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
