"""The correspondence with the scheduler where messages take time: a reply's commands travel one after the other."""

from __future__ import annotations

from collections.abc import Callable

from batsched_py.protocol.codec import Message
from batsched_py.protocol.commands import Command
from batsched_py.simulator.time.event_queue import RANK_MAIL, EventQueue
from batsched_py.simulator.time.mailbox import NetworkMailbox


class Correspondence:
    """Batsim's helper that asks the scheduler, brings each command to the server at its time, and then is ready again.

    The scheduler answers at once; the exchange ends when the last command has arrived and the reply's `now` has come.
    """

    __slots__ = ("_apply", "_ask", "_mailbox", "_next", "_queue", "_reply")

    def __init__(
        self,
        queue: EventQueue,
        mailbox: NetworkMailbox,
        ask: Callable[[], Message],
        apply: Callable[[int, Command], None],
    ) -> None:
        """`ask` sends what there is to tell; `apply` obeys the command at a position of the reply."""
        self._queue, self._mailbox, self._ask, self._apply = queue, mailbox, ask, apply
        self._reply = Message(0.0, ())
        #: Position of the command that travels next.
        self._next = 0
        mailbox.speak = self._exchange
        queue.at(0.0, RANK_MAIL, self._begin, None)

    def _begin(self, _: None) -> None:
        self._exchange()

    def _exchange(self) -> None:
        self._mailbox.ready = False
        self._reply, self._next = self._ask(), 0
        self._wait()

    def _wait(self) -> None:
        """Until the next command's time, or that of the reply."""
        commands = self._reply.events
        over = self._next == len(commands)
        due = self._reply.now if over else commands[self._next].timestamp
        step = self._finish if over else self._post
        if due > self._queue.stamp:
            self._queue.at(due, RANK_MAIL, step, None)
        else:
            step(None)

    def _post(self, _: None) -> None:
        self._mailbox.post(self._deliver, self._next, then=self._wait)
        self._next += 1

    def _deliver(self, position: int) -> None:
        self._apply(position, self._reply.events[position])

    def _finish(self, _: None) -> None:
        self._mailbox.post(self._be_ready, None)

    def _be_ready(self, _: None) -> None:
        self._mailbox.ready = True
