"""The mailbox of Batsim's server, which receives events of its parts and commands of replies one by one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from batsched_py.protocol.events import Event
from batsched_py.simulator.time.event_queue import EventQueue

#: The sender is the master host, on which Batsim's server and its helpers run.
MASTER: Final = -1

Action = Callable[[Any], None]
Then = Callable[[], None] | None
#: (host of the sender, action on arrival, its argument, next action of the sender).
_Posted = tuple[int, Action, Any, Then]
#: Sends a message from a host, and calls the given function on arrival.
Carry = Callable[[int, Callable[[], None]], None]


class InstantMailbox:
    """A mailbox in which messages take no time."""

    def post(self, action: Action, argument: Any, host: int = MASTER, then: Then = None) -> None:  # noqa: ARG002  (near)
        """Run `action(argument)`, then `then()`."""
        action(argument)
        if then is not None:
            then()

    def awake(self, since: float, time: float) -> float:  # noqa: ARG002  (nothing was lost since)
        """Return `time`."""
        return time


class NetworkMailbox:
    """A mailbox whose messages cross the platform's links one by one, in the order of posting (E18).

    Batsim's parts are SimGrid processes on the master host or, when a job ends, on its first host. Each sends one byte
    and waits until the server has received it. The server sends a message to the scheduler when its mailbox is empty
    and the latest reply has been applied completely; therefore an instant may take several messages (E5).
    """

    def __init__(self, queue: EventQueue, outbox: Sequence[Event], carry: Carry, speak: Callable[[], None]) -> None:
        """Take `speak()`, which sends the outbox, which must not be empty."""
        self._queue, self._outbox, self._carry, self._speak = queue, outbox, carry, speak
        self._posted: deque[_Posted] = deque()
        #: True while a message is in transit or being processed.
        self._taking = False
        #: True if the scheduler is waiting for a request.
        self.ready = True

    @property
    def busy(self) -> bool:
        """True while a message is in transit."""
        return self._taking

    def post(self, action: Action, argument: Any, host: int = MASTER, then: Then = None) -> None:
        """Run `action(argument)`, then `then()`, after this and all earlier messages have crossed the network."""
        self._posted.append((host, action, argument, then))
        if not self._taking:
            self._take()

    def awake(self, since: float, time: float) -> float:
        """Return `time` plus the duration of sending: the sender computed at `since` the sleep that begins now."""
        return self._queue.now + (time - since)

    def _take(self) -> None:
        self._taking = True
        posted = self._posted.popleft()
        self._carry(posted[0], partial(self._arrive, posted))

    def _arrive(self, posted: _Posted) -> None:
        """Let the server receive a message; its sender continues after the server has checked for further ones."""
        _, action, argument, then = posted
        waiting = self._posted
        self._posted = deque()  # the server's own posts follow the sender's next one
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
