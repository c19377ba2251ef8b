"""The loop of a simulation in which messages take time: the commands of a reply travel one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from batsched_py.protocol.events import Event
from batsched_py.simulator.time.event_queue import RANK_MAIL, EventQueue
from batsched_py.simulator.time.instant_loop import Apply, Ask
from batsched_py.simulator.time.mailbox import Carry, NetworkMailbox

if TYPE_CHECKING:
    from batsched_py.protocol.message import Message


class LatencyLoop:
    """Batsim's helper that asks the scheduler, brings each command to the server at its time, and then is ready again.

    The scheduler answers at once; the exchange ends when the last command has arrived and the reply's `now` has come.
    """

    _ask: Ask
    _apply: Apply
    _reply: Message

    def __init__(self, queue: EventQueue, outbox: Sequence[Event], carry: Carry) -> None:
        """`carry` sends a message from a host, by its number, or from the master (-1)."""
        self._queue = queue
        self.mailbox = NetworkMailbox(queue, outbox, carry, self._exchange)
        #: Position of the command that travels next.
        self._next = 0

    def run(self, ask: Ask, apply: Apply) -> None:
        """Play until nothing will ever happen again."""
        self._ask, self._apply = ask, apply
        self._queue.at(0.0, RANK_MAIL, lambda _: self._exchange(), None)
        while self._queue.step():
            pass

    def _exchange(self) -> None:
        self.mailbox.ready = False
        self._reply, self._next = self._ask(), 0
        self._wait()

    def _wait(self) -> None:
        """Go on at the next command's time, or at that of the reply."""
        commands = self._reply.events
        over = self._next == len(commands)
        due = self._reply.now if over else commands[self._next].timestamp
        step: Callable[[None], None] = self._finish if over else self._post
        if due > self._queue.stamp:
            self._queue.at(due, RANK_MAIL, step, None)
        else:
            step(None)

    def _post(self, _: None) -> None:
        self.mailbox.post(self._deliver, self._next, then=self._wait)
        self._next += 1

    def _deliver(self, position: int) -> None:
        self._apply(position, self._reply.events[position])

    def _finish(self, _: None) -> None:
        self.mailbox.post(self._be_ready, None)

    def _be_ready(self, _: None) -> None:
        self.mailbox.ready = True
