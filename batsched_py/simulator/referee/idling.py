"""A guard against a scheduler that requests calls forever while nothing else happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from batsched_py.errors import DeadlockError
from batsched_py.protocol.codec import Message
from batsched_py.protocol.commands import CallMeLater
from batsched_py.protocol.events import Answer, Event, ProbeData, Query, RequestedCall

#: Events that contain only a call or a measurement.
IN_VAIN: Final = frozenset({RequestedCall, Answer, ProbeData})
#: Commands that request only these.
_IDLE: Final = frozenset({CallMeLater, Query, Answer})


class IdleGuard:
    """A counter of consecutive messages that contain only calls, and whose replies only request more of them.

    Args:
        most: number of these messages after which it checks whether other events are pending; 0 for never.
        is_due: returns whether events other than calls are pending: submissions, ends of jobs, external events...
        describe: returns a description of the state of the simulation.
        warn: receives a line the first time that other events are pending; None without warnings.
    """

    def __init__(
        self,
        most: int,
        *,
        is_due: Callable[[], bool],
        describe: Callable[[], str],
        warn: Callable[[str], None] | None,
    ) -> None:
        self._most, self._is_due = most, is_due
        self._describe, self._warn = describe, warn
        #: Number of consecutive messages.
        self.count = 0
        #: The instant of the first of them, in seconds.
        self._since = 0.0
        #: True if they include answers or measurements.
        self._measures = False

    def note(self, now: float, events: Sequence[Event], reply: Message) -> None:
        """Count a message at the instant `now` that begins with a call. DeadlockError if nothing else is pending."""
        vain = all(type(event) in IN_VAIN for event in events)
        if not (vain and all(type(command) in _IDLE for command in reply.events)):
            self.count = 0
            return
        self.count += 1
        if self.count == 1:
            self._since, self._measures = now, False
        self._measures = self._measures or any(type(event) is not RequestedCall for event in events)
        if self.count == self._most:
            self._look(now)
            self.count = 0

    def _look(self, now: float) -> None:
        what = f"t={now:.6f}: since t={self._since:.6f} nothing has happened but {self._most} calls that were asked for"
        if not self._is_due():
            raise DeadlockError(
                f"{what}, and nothing else ever will: {self._describe()}; --max-calls N allows more calls"
            )
        if self._warn is not None and not self._measures:  # a scheduler that measures polls intentionally
            self._warn(f"{what}: it is enough to ask for a call when something is to be done then")
            self._warn = None
