"""A guard against a scheduler that only asks to be called again, for ever, while nothing else happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from batsched_py.errors import DeadlockError
from batsched_py.protocol.codec import Message
from batsched_py.protocol.commands import CallMeLater
from batsched_py.protocol.events import Answer, Event, ProbeData, Query, RequestedCall

#: Events that bring nothing but a call or a measurement.
IN_VAIN: Final = frozenset({RequestedCall, Answer, ProbeData})
#: Commands that ask for no more than that.
_IDLE: Final = frozenset({CallMeLater, Query, Answer})


class IdleGuard:
    """Counts messages in a row that are calls only, in answer to which the scheduler does nothing but ask for more.

    Args:
        most: messages in a row after which it looks whether anything else is to come; 0 for never.
        is_due: tells whether anything but calls will come: submissions, ends of jobs, external events...
        describe: tells how things stand.
        warn: receives a line for the first row that ends with something that is to come; None if nobody listens.
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
        #: Such messages in a row.
        self.count = 0
        #: The instant of the first of them, in seconds.
        self._since = 0.0
        #: True if there were answers or measurements among them.
        self._measures = False

    def note(self, now: float, events: Sequence[Event], reply: Message) -> None:
        """Note a message at the instant `now` whose first event is a call. DeadlockError if nothing else will come."""
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
        told = f"t={now:.6f}: since t={self._since:.6f} nothing has happened but {self._most} calls that were asked for"
        if not self._is_due():
            raise DeadlockError(
                f"{told}, and nothing else ever will: {self._describe()}; --max-calls N allows more calls"
            )
        if self._warn is not None and not self._measures:  # who measures polls on purpose
            self._warn(f"{told}: it is enough to ask for a call when something is to be done then")
            self._warn = None
