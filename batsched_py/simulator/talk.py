"""The talk with the scheduler: each request and its reply, counted and timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from batsched_py.protocol.codec import Message
from batsched_py.protocol.conversation import BatsimSide
from batsched_py.protocol.events import Event
from batsched_py.simulator.records import Progress

#: Sends a request and waits for its reply.
Exchange = Callable[[bytes], bytes]


class Talk:
    """Batsim's end of the conversation over an exchange."""

    __slots__ = ("_begun", "_clock", "_exchange", "_side", "deciding_seconds", "messages")

    def __init__(self, exchange: Exchange, clock: Callable[[], float]) -> None:
        self._exchange, self._clock, self._side = exchange, clock, BatsimSide()
        self._begun = clock()
        self.deciding_seconds = 0.0
        self.messages = 0

    def say(self, now: float, events: Sequence[Event]) -> Message:
        """Send a request; the reply, or RemoteProtocolError for what makes Batsim abort."""
        request = self._side.request(now, events)
        clock = self._clock
        before = clock()
        reply = self._exchange(request)
        self.deciding_seconds += clock() - before
        self.messages += 1
        return self._side.receive(reply)

    def total_seconds(self) -> float:
        """Wall-clock time since the talk began."""
        return self._clock() - self._begun


class Report:
    """Calls back about a hundred times in a run."""

    __slots__ = ("_callback", "_next", "_static")

    def __init__(self, callback: Callable[[Progress], None] | None, static_jobs: int) -> None:
        self._callback, self._static = callback, static_jobs
        #: Jobs that must have ended before the next call.
        self._next = 0

    def ended(self, count: int, registered: int, now: float) -> None:
        """So many jobs have ended, and the scheduler has registered so many."""
        if self._callback is None or count < self._next:
            return
        total = self._static + registered
        self._next = count + max(1, total // 100)
        self._callback(Progress(count, total, now))
