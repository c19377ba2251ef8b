"""The mailbox of Batsim's server: events of its parts and each command of a reply go through it, in turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from batsched_py.protocol.events import Event
from batsched_py.simulator.time.event_queue import EventQueue

#: The sender is the master host, on which Batsim's server and its helpers live.
MASTER: Final = -1

Action = Callable[[Any], None]
Then = Callable[[], None] | None
#: (host of the sender, what is done when it arrives, its argument, what its sender does then).
_Posted = tuple[int, Action, Any, Then]
#: Sends a message from a host, and calls what is given when it has arrived.
Carry = Callable[[int, Callable[[], None]], None]


class InstantMailbox:
    """A mailbox in which messages take no time."""

    def post(self, action: Action, argument: Any, host: int = MASTER, then: Then = None) -> None:  # noqa: ARG002  (near)
        """Do `action(argument)`, then `then()`."""
        action(argument)
        if then is not None:
            then()

    def awake(self, since: float, time: float) -> float:  # noqa: ARG002  (nothing was lost since)
        """Return `time`."""
        return time


class NetworkMailbox:
    """A mailbox whose messages cross the platform's links one after the other, in the order of posting (E18).

    Batsim's parts are SimGrid processes on the master host or, when a job ends, on its first host. Each sends one byte
    and waits until the server has taken it. The server speaks to the scheduler when nothing else is in its mailbox and
    the latest reply was applied whole; so an instant may come in several messages (E5).
    """

    def __init__(self, queue: EventQueue, outbox: Sequence[Event], carry: Carry, speak: Callable[[], None]) -> None:
        """`speak()` sends the outbox, which must not be empty."""
        self._queue, self._outbox, self._carry, self._speak = queue, outbox, carry, speak
        self._posted: deque[_Posted] = deque()
        #: True while a message is on its way or is dealt with.
        self._taking = False
        #: True if the scheduler waits for a request.
        self.ready = True

    @property
    def busy(self) -> bool:
        """True while a message is on its way."""
        return self._taking

    def post(self, action: Action, argument: Any, host: int = MASTER, then: Then = None) -> None:
        """Do `action(argument)` when all that was posted before and this has crossed the network; then `then()`."""
        self._posted.append((host, action, argument, then))
        if not self._taking:
            self._take()

    def awake(self, since: float, time: float) -> float:
        """Return a time as late as sending took: the sender computed at `since` how long it sleeps from now on."""
        return self._queue.now + (time - since)

    def _take(self) -> None:
        self._taking = True
        posted = self._posted.popleft()
        self._carry(posted[0], partial(self._arrive, posted))

    def _arrive(self, posted: _Posted) -> None:
        """Let the server take a message; its sender goes on after the server has looked whether more is there."""
        _, action, argument, then = posted
        waiting = self._posted
        self._posted = deque()  # what the server itself posts now comes after what the sender posts next
        action(argument)
        speaks = not waiting and self.ready and bool(self._outbox)
        of_server, self._posted = self._posted, waiting
        if then is not None:
            then()
        waiting.extend(of_server)
        self._taking = False
        if self._posted:
            self._take()
        if speaks:
            self._speak()


Mailbox = InstantMailbox | NetworkMailbox
