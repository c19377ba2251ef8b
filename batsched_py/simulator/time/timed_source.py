"""A timed source: a helper process of Batsim that sends items to the server at their times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from batsched_py.simulator.time.event_queue import RANK_GREETING, RANK_MAIL, EventQueue
from batsched_py.simulator.time.mailbox import Mailbox

Item = TypeVar("Item")


class TimedSource(Generic[Item]):
    """A source that greets the server at 0 s, delivers due items in one message, sleeps until the next ones, and ends.

    It computes the duration of its sleep before the delivery, which takes time with message latency; like real Batsim
    it is then late by that time. If rounding, or SimGrid's precision, wakes it slightly early, it delivers only the
    item it slept for; it sleeps again for the difference, and delivers other items of the same time in another message.

    Args:
        rank: rank of its wake-ups within an instant.
        items: items in order of time; read one ahead.
        time: returns the time of an item.
        deliver: receives all items of one message, at least one.
        finish: called once, after the last item.
        gives_way: whether its first delivery follows all other actions of that instant.
    """

    def __init__(
        self,
        queue: EventQueue,
        mailbox: Mailbox,
        rank: int,
        items: Iterator[Item],
        *,
        time: Callable[[Item], float],
        deliver: Callable[[list[Item]], None],
        finish: Callable[[], None],
        gives_way: bool = False,
    ) -> None:
        self._queue, self._mailbox, self._rank = queue, mailbox, rank
        self._items, self._time, self._deliver, self._finish = items, time, deliver, finish
        self._gives_way = gives_way
        #: The next item; None if there is none.
        self._next = next(items, None)
        #: Time of its latest reading of the clock, in seconds.
        self._since = 0.0

    def start(self) -> None:
        """Schedule the greeting; call it once, before time advances."""
        self._queue.at(0.0, RANK_GREETING, self._greet, None)

    def _greet(self, _: None) -> None:
        self._mailbox.post(_nothing, None, then=self._look)

    def _look(self) -> None:
        self._since = self._queue.now
        self._sleep()

    def _sleep(self) -> None:
        if self._next is None:
            self._mailbox.post(self._end, None)
        else:
            due = self._mailbox.awake(self._since, self._time(self._next))
            self._queue.at(due, self._rank, self._awake, None)

    def _awake(self, _: None) -> None:
        if self._gives_way:
            self._gives_way = False
            self._queue.at(self._queue.now, RANK_MAIL, self._awake, None)
            return
        self._since = now = self._queue.now
        self._mailbox.post(self._hand_over, now, then=self._sleep)

    def _hand_over(self, until: float) -> None:
        due: list[Item] = []
        while self._next is not None and (not due or self._time(self._next) <= until):
            due.append(self._next)
            self._next = next(self._items, None)
        self._deliver(due)

    def _end(self, _: None) -> None:
        self._finish()


def _nothing(_: None) -> None:
    """Do nothing: a greeting has no effect."""
