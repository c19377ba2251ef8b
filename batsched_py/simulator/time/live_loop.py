"""The loop of a live simulation: external events come while time passes, from whoever stands in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from batsched_py.protocol.events import Event
from batsched_py.simulator.time.event_queue import EventQueue
from batsched_py.simulator.time.instant_loop import Apply, Ask, apply_reply
from batsched_py.traces.event_file import ExternalEvent


class LiveBatch(Struct, frozen=True):
    """External events that happen together, in one message.

    Attributes:
        time: seconds since the start of the simulation.
        events: in their order; their own instants do not count.
        last: no others will come.
    """

    time: float
    events: Sequence[ExternalEvent] = ()
    last: bool = False


class LiveEvents(Protocol):
    """The source of the external events of a live simulation."""

    def wait(self, now: float, due: float | None) -> LiveBatch | None:
        """Wait for events that happen before anything else does; return None when time is to pass until `due`.

        The same batches at the same times make the same run: what happens next in the simulation, at `due`, comes
        before events of that time. Called again after each batch, until one is the last; whatever is raised ends
        the run.

        Args:
            now: the instant that the simulation has reached; a batch must not be earlier.
            due: the next instant at which something happens; a batch must be earlier. None if nothing ever does: then
                there must be a batch.
        """


class LiveLoop:
    """Asks the scheduler after each instant at which something happened, and after each batch of live events.

    Args:
        queue: of the simulation.
        outbox: events for the scheduler.
        live: the source of external events.
        deliver: lets them happen.
        finish: is called once, after the last of them.
    """

    def __init__(
        self,
        queue: EventQueue,
        outbox: Sequence[Event],
        live: LiveEvents,
        *,
        deliver: Callable[[Iterable[ExternalEvent]], None],
        finish: Callable[[], None],
    ) -> None:
        self._queue, self._outbox, self._live = queue, outbox, live
        self._deliver, self._finish = deliver, finish

    def run(self, ask: Ask, apply: Apply) -> None:
        """Play until the last batch has come and nothing will ever happen again."""
        queue, outbox, over = self._queue, self._outbox, False
        while True:
            if outbox:
                apply_reply(queue, ask(), apply)
                continue
            due = queue.next_time()
            batch = None if over else self._live.wait(queue.now, due)
            if batch is not None:
                over = self._take(batch)
            elif not queue.run_next():
                return

    def _take(self, batch: LiveBatch) -> bool:
        """Let the events of a batch happen; return whether it is the last."""
        self._queue.run_until(batch.time)
        self._deliver(batch.events)
        if batch.last:
            self._finish()
        return batch.last
