"""A timetable: one of Batsim's helpers that has things to tell the server, each at its own time."""

from __future__ import annotations

from collections.abc import Callable

from batsched_py.simulator.time.event_queue import RANK_GREETING, EventQueue
from batsched_py.simulator.time.mailbox import Mailbox


class TimedSource:
    """Greets the server at 0 s, tells what is due in one message, sleeps until more is due, and says when all is told.

    It computes how long to sleep before it tells what is due, which takes time if messages do; like real Batsim it then
    comes so much late. Where rounding, or SimGrid's precision, wakes it a hair early, what it slept for is told, and
    more of the same time is still to come: it sleeps for that hair, and tells the rest in another message.
    """

    __slots__ = ("_farewell", "_mailbox", "_next", "_queue", "_rank", "_since", "_tell")

    def __init__(
        self,
        queue: EventQueue,
        mailbox: Mailbox,
        rank: int,
        *,
        next_time: Callable[[], float | None],
        tell: Callable[[float], None],
        farewell: Callable[[None], None],
    ) -> None:
        """`next_time` is when more is due, None if never.

        `tell(t)` tells the first of what is due, and all else that is due until t, and takes it out.
        """
        self._queue, self._mailbox, self._rank = queue, mailbox, rank
        self._next, self._tell, self._farewell = next_time, tell, farewell
        #: When it last looked at the clock, in seconds.
        self._since = 0.0
        queue.at(0.0, RANK_GREETING, self._greet, None)

    def _greet(self, _: None) -> None:
        self._mailbox.post(_nothing, None, then=self._look)

    def _look(self) -> None:
        self._since = self._queue.now
        self._sleep()

    def _sleep(self) -> None:
        time = self._next()
        if time is None:
            self._mailbox.post(self._farewell, None)
        else:
            self._queue.at(self._mailbox.awake(self._since, time), self._rank, self._awake, None)

    def _awake(self, _: None) -> None:
        self._since = now = self._queue.now
        self._mailbox.post(self._tell, now, then=self._sleep)


def _nothing(_: None) -> None:
    """A greeting."""
