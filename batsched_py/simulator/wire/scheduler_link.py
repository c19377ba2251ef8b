"""The link with the scheduler: each request and its reply, counted and timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from batsched_py.errors import RemoteProtocolError
from batsched_py.protocol.codec import Message
from batsched_py.protocol.conversation import BatsimSide
from batsched_py.protocol.dialects import Dialect
from batsched_py.protocol.events import Event

#: Sends a request and waits for its reply.
Exchange = Callable[[bytes], bytes]


class SchedulerLink:
    """Batsim's end of the conversation over an exchange."""

    def __init__(self, exchange: Exchange, clock: Callable[[], float], dialect: Dialect) -> None:
        self._exchange, self._clock, self._side = exchange, clock, BatsimSide(dialect)
        self._begun = clock()
        self.deciding_seconds = 0.0
        self.messages = 0

    def request(self, now: float, events: Sequence[Event]) -> Message:
        """Send a request; return the reply, or raise RemoteProtocolError for what makes Batsim abort."""
        request = self._side.request(now, events)
        clock = self._clock
        before = clock()
        reply = self._exchange(request)
        self.deciding_seconds += clock() - before
        self.messages += 1
        try:
            return self._side.receive(reply)
        except RemoteProtocolError as error:
            raise RemoteProtocolError(error.path, f"{error.rule} (t={now:.6f})") from None

    def total_seconds(self) -> float:
        """Return the wall-clock time since the link began."""
        return self._clock() - self._begun
