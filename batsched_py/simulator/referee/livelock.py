"""A guard against livelock, as when a scheduler answers each answer with a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from batsched_py.errors import DeadlockError
from batsched_py.protocol.events import Event

#: Messages in a row at one instant in which no job came, ended or was rejected. Real Batsim would go on for ever.
MOST_IN_VAIN: Final = 100_000


class LivelockGuard:
    """Counts the messages of one instant."""

    __slots__ = ("_jobs", "_messages", "instant")

    def __init__(self) -> None:
        #: The instant of the latest message, in seconds.
        self.instant = -1.0
        self._jobs = (0, 0)
        self._messages = 0

    def wear(self, events: Sequence[Event], ended: int, unfinished: int) -> None:
        """One more message of the same instant; DeadlockError if there have been too many in vain."""
        if (ended, unfinished) != self._jobs:
            self._jobs, self._messages = (ended, unfinished), 0
        self._messages += 1
        if self._messages > MOST_IN_VAIN:
            kinds = ", ".join(sorted({type(event).__name__ for event in events}))
            raise DeadlockError(
                f"t={self.instant:.6f}: {MOST_IN_VAIN} messages and no time has passed; the scheduler answers each"
                f" with what is answered at once (the latest: {kinds})"
            )
