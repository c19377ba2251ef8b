"""The mailbox of Batsim's server: all that its parts tell it and each command of a reply go through it, in turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from batsched_py.model.platform import Platform, PlatformHost
from batsched_py.protocol.events import Event
from batsched_py.simulator.time.event_queue import RANK_MAIL, EventQueue

#: The sender is the master host, on which Batsim's server and its helpers live.
MASTER: Final = -1

#: (seconds on the way, what is done when it arrives, its argument, what its sender does then).
Letter = tuple[float, Callable[[Any], None], Any, Callable[[], None] | None]


class InstantMailbox:
    """Messages take no time: what is posted has arrived."""

    __slots__ = ()

    def post(
        self,
        action: Callable[[Any], None],
        argument: Any,
        host: int = MASTER,  # noqa: ARG002  (no way is longer than another)
        then: Callable[[], None] | None = None,
    ) -> None:
        """Do `action(argument)`, then `then()`."""
        action(argument)
        if then is not None:
            then()

    def awake(self, since: float, time: float) -> float:  # noqa: ARG002  (nothing was lost since)
        """When a sender who at `since` lay down to sleep until `time` gets up."""
        return time


class NetworkMailbox:
    """Messages cross the platform's links one after the other, in the order of posting, as in Batsim (E18).

    Batsim's parts are SimGrid processes on the master host or, when a job ends, on its first host. Each sends one byte
    and waits until the server has taken it. The server speaks to the scheduler when nothing else is in its mailbox and
    the latest reply was applied whole; so an instant may come in several messages (E5).
    """

    __slots__ = ("_latencies", "_letters", "_outbox", "_queue", "_taking", "ready", "speak")

    def __init__(
        self,
        queue: EventQueue,
        outbox: Sequence[Event],
        latencies: Sequence[float],
    ) -> None:
        """`latencies` are seconds from each host to the master, and last from the master to itself."""
        self._queue, self._outbox, self._latencies = queue, outbox, latencies
        self._letters: deque[Letter] = deque()
        #: True while a message is on its way or is dealt with.
        self._taking = False
        #: True if the scheduler waits for a request.
        self.ready = True
        #: What the server does when it has something to tell.
        self.speak: Callable[[], None] = _say_nothing

    def post(
        self,
        action: Callable[[Any], None],
        argument: Any,
        host: int = MASTER,
        then: Callable[[], None] | None = None,
    ) -> None:
        """Do `action(argument)` when all that was posted before and this has crossed the network; then `then()`."""
        self._letters.append((self._latencies[host], action, argument, then))
        if not self._taking:
            self._take()

    def awake(self, since: float, time: float) -> float:
        """When a sender who at `since` looked how long it is to `time` and only now sleeps so long gets up."""
        return self._queue.now + (time - since)

    def _take(self) -> None:
        self._taking = True
        letter = self._letters.popleft()
        self._queue.at(self._queue.now + letter[0], RANK_MAIL, self._arrive, letter)

    def _arrive(self, letter: Letter) -> None:
        """What the senders of the moment do comes after the server has looked whether anything else is there."""
        _, action, argument, then = letter
        waiting = self._letters
        self._letters = deque()  # of those that the server itself sets in motion now: they come after the sender's next
        action(argument)
        speaks = not waiting and self.ready and bool(self._outbox)
        set_in_motion, self._letters = self._letters, waiting
        if then is not None:
            then()
        waiting.extend(set_in_motion)
        self._taking = False
        if self._letters:
            self._take()
        if speaks:
            self.speak()


def _say_nothing() -> None:
    """Before anybody listens."""


Mailbox = InstantMailbox | NetworkMailbox


def latencies(platform: Platform, hosts: Sequence[PlatformHost], master_name: str) -> list[float]:
    """Seconds that one byte takes from each host to the master, and last from the master to itself.

    All 0 if the platform has no master.
    """
    master = platform.master(master_name)
    if master is None:
        return [0.0] * (len(hosts) + 1)
    found = []
    for host in (*hosts, master):
        route = platform.route(host.name, master.name)
        found.append(route.latency + max((1.0 / link.bandwidth for link in route.links), default=0.0))
    return found
