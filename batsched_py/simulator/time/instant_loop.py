"""The loop of most simulations: messages take no time, and each instant has one message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from batsched_py.protocol.commands import Command
from batsched_py.protocol.events import Event
from batsched_py.simulator.time.event_queue import EventQueue

if TYPE_CHECKING:
    from batsched_py.protocol.codec import Message

#: Sends the outbox, and returns the reply.
Ask = Callable[[], "Message"]
#: Applies the command at a position of the reply.
Apply = Callable[[int, Command], None]


class InstantLoop:
    """A loop that asks the scheduler after each instant with events."""

    def __init__(self, queue: EventQueue, outbox: Sequence[Event]) -> None:
        self._queue, self._outbox = queue, outbox

    def run(self, ask: Ask, apply: Apply) -> None:
        """Run until no action is pending."""
        while self.advance():
            apply_reply(self._queue, ask(), apply)

    def advance(self) -> bool:
        """Advance time until the outbox contains events; return False if no action is pending."""
        queue, outbox = self._queue, self._outbox
        while not outbox:
            if not queue.run_next():
                return False
        return True


def apply_reply(queue: EventQueue, reply: Message, apply: Apply) -> None:
    """Apply the commands in order, none before its time, and advance time to the reply's `now`.

    The scheduler knows only the rounded clock of messages: commands with times up to that are applied immediately.
    """
    for position, command in enumerate(reply.events):
        if command.timestamp > queue.stamp:
            queue.run_until(command.timestamp)
        apply(position, command)
    if reply.now > queue.stamp:
        queue.run_until(reply.now)
