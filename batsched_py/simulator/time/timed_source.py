"""A timed source: one of Batsim's helpers that has items for the server, each at its own time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from batsched_py.simulator.time.event_queue import RANK_GREETING, RANK_MAIL, EventQueue
from batsched_py.simulator.time.mailbox import Mailbox

Item = TypeVar("Item")


class TimedSource(Generic[Item]):
    """A source that greets the server at 0 s, delivers what is due in one message, sleeps until more is, and ends.

    It computes how long to sleep before it delivers, which takes time if messages do; like real Batsim it then comes so
    much late. Where rounding, or SimGrid's precision, wakes it a hair early, the item it slept for is delivered, and
    others of the same time are still to come: it sleeps for that hair, and delivers them in another message.

    Args:
        rank: of its awakenings among what happens at one instant.
        items: in order of time; taken one ahead.
        time: when an item is due.
        deliver: takes all items of one message, at least one.
        finish: is called once, after the last item.
        gives_way: its first delivery is sent after all else of that instant.
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
        #: None if there is no other.
        self._next = next(items, None)
        #: Time of its latest look at the clock, in seconds.
        self._since = 0.0

    def start(self) -> None:
        """Put the greeting into the queue; to be called once, before time passes."""
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
    """Do nothing: a greeting has no consequences."""
