"""The loop of most simulations: messages take no time, and events of one instant are one message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from batsched_py.protocol.commands import Command
from batsched_py.protocol.events import Event
from batsched_py.simulator.time.event_queue import EventQueue

if TYPE_CHECKING:
    from batsched_py.protocol.codec import Message

#: Sends what is in the outbox, and returns the reply.
Ask = Callable[[], "Message"]
#: Obeys the command at a position of the reply.
Apply = Callable[[int, Command], None]


class InstantLoop:
    """Asks the scheduler after each instant at which something happened that it should know."""

    def __init__(self, queue: EventQueue, outbox: Sequence[Event]) -> None:
        self._queue, self._outbox = queue, outbox

    def run(self, ask: Ask, apply: Apply) -> None:
        """Play until nothing will ever happen again."""
        while self.advance():
            apply_reply(self._queue, ask(), apply)

    def advance(self) -> bool:
        """Let time pass until there is something to tell; return False if nothing will ever happen again."""
        queue, outbox = self._queue, self._outbox
        while not outbox:
            if not queue.run_next():
                return False
        return True


def apply_reply(queue: EventQueue, reply: Message, apply: Apply) -> None:
    """Apply the commands in turn, each not before its time, while time passes until the reply's `now`.

    The scheduler knows the clock as messages round it: what is not later than that is now.
    """
    for position, command in enumerate(reply.events):
        if command.timestamp > queue.stamp:
            queue.run_until(command.timestamp)
        apply(position, command)
    if reply.now > queue.stamp:
        queue.run_until(reply.now)
