"""The link with the scheduler: each request and its reply, counted and timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from batsched_py.errors import RemoteProtocolError
from batsched_py.protocol.batsim5.greeting import Hello
from batsched_py.protocol.codec import Message
from batsched_py.protocol.conversation import BatsimSide
from batsched_py.protocol.dialect import Dialect
from batsched_py.protocol.events import Event
from batsched_py.protocol.stopping import check_stop

#: Sends a request and waits for its reply.
Exchange = Callable[[bytes], bytes]


class DirectExchange:
    """An exchange with a scheduler in this process, in which messages need not be serialized."""

    __slots__ = ("answer", "answer_unwritten")

    def __init__(self, answer: Exchange, answer_unwritten: Callable[[Message], bytes | Message]) -> None:
        """Take two functions that answer a request: a serialized one, and one that is not."""
        self.answer, self.answer_unwritten = answer, answer_unwritten


AnyExchange: TypeAlias = Exchange | DirectExchange


class SchedulerLink:
    """Batsim's end of the conversation, independent of the transport."""

    def __init__(self, clock: Callable[[], float], dialect: Dialect) -> None:
        self._clock, self._side = clock, BatsimSide(dialect)
        self._begun = self._asked = clock()
        #: The clock of the simulation at the last request.
        self._now = 0.0
        self.deciding_seconds = 0.0
        self.messages = 0

    def greeting(self, words: str) -> bytes:
        """Return the first message of Batsim 5, with the user's text."""
        self._asked = self._clock()
        return self._side.greeting(words)

    def read_hello(self, reply: bytes) -> Hello:
        """Read the answer to the greeting; RemoteProtocolError as for a reply."""
        self.deciding_seconds += self._clock() - self._asked
        check_stop(reply)
        return self._side.receive_hello(reply)

    def write(self, now: float, events: Sequence[Event]) -> bytes:
        """Return the next request, serialized; the measurement of the scheduler's time starts."""
        request = self._side.request(now, events)
        self._now, self._asked = now, self._clock()
        return request

    def read(self, reply: bytes | Message) -> Message:
        """Read the reply to the last request; RemoteProtocolError if Batsim would abort."""
        self.deciding_seconds += self._clock() - self._asked
        self.messages += 1
        try:
            if not isinstance(reply, Message):
                return self._side.receive(reply)
            self._side.receive_unwritten(reply)
            return reply
        except RemoteProtocolError as error:
            raise RemoteProtocolError(error.path, f"{error.rule} (t={self._now:.6f})") from None

    def ask(self, now: float, events: Sequence[Event], exchange: AnyExchange) -> Message:
        """Send the next request and return its reply, with the errors of `read`."""
        if not isinstance(exchange, DirectExchange):
            return self.read(exchange(self.write(now, events)))
        request = self._side.request_unwritten(now, events)
        self._now, self._asked = now, self._clock()
        reply = exchange.answer_unwritten(request) if isinstance(request, Message) else exchange.answer(request)
        return self.read(reply)

    def total_seconds(self) -> float:
        """Return the wall-clock time since the link began."""
        return self._clock() - self._begun
