"""The loop of a simulation with message latency: the commands of a reply travel one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from batsched_py.protocol.events import Event
from batsched_py.simulator.time.event_queue import RANK_MAIL, EventQueue
from batsched_py.simulator.time.instant_loop import Apply, Ask
from batsched_py.simulator.time.mailbox import Carry, NetworkMailbox

if TYPE_CHECKING:
    from batsched_py.protocol.codec import Message


#: Tolerance in seconds within which a time counts as now: times of Batsim 5 have twelve decimals.
_EPSILON: Final = 1e-11


class LatencyLoop:
    """Batsim's helper process that asks the scheduler and then sends each command to the server at its time.

    The scheduler answers immediately; the exchange ends after the last command's arrival, not before the reply's `now`.
    """

    _ask: Ask
    _apply: Apply
    _reply: Message

    def __init__(self, queue: EventQueue, outbox: Sequence[Event], carry: Carry, *, as_batsim_5: bool = False) -> None:
        """Take `carry`, which sends a message from a host, by its number, or from the master (-1).

        In Batsim 5 SIMULATION_BEGINS is sent like any other message, after all greetings of parts have arrived; and
        messages of other parts at the instant of a reply's end are posted before the scheduler is ready again.
        """
        self._queue = queue
        self.mailbox = NetworkMailbox(queue, outbox, carry, self._exchange)
        self._as_batsim_5 = as_batsim_5
        #: Position of the next command to send.
        self._next = 0

    def run(self, ask: Ask, apply: Apply) -> None:
        """Run until no action is pending."""
        self._ask, self._apply = ask, apply
        self._queue.at(0.0, RANK_MAIL, self._begin, None)
        while self._queue.step():
            pass

    def _begin(self, _: None) -> None:
        if not (self._as_batsim_5 and self.mailbox.busy):
            self._exchange()

    def _exchange(self) -> None:
        self.mailbox.ready = False
        self._reply, self._next = self._ask(), 0
        self._wait()

    def _wait(self) -> None:
        """Continue at the next command's time, or at that of the reply."""
        commands = self._reply.events
        over = self._next == len(commands)
        due = self._reply.now if over else commands[self._next].timestamp
        step: Callable[[None], None] = self._finish if over else self._post
        if due > max(self._queue.stamp, self._queue.now + _EPSILON):
            self._queue.at(due, RANK_MAIL, step, None)
        elif over and self._as_batsim_5:
            self._queue.at(self._queue.now, RANK_MAIL, step, None)
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
