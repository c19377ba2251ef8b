"""The event loop of a simulation with external events from a live source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from batsched_py.model.external_event import ExternalEvent
from batsched_py.protocol.events import Event
from batsched_py.simulator.time.event_queue import EventQueue
from batsched_py.simulator.time.instant_loop import Apply, Ask, apply_reply


class LiveBatch(Struct, frozen=True):
    """Simultaneous external events, for one message.

    Attributes:
        time: seconds since the start of the simulation.
        events: the events in order; their own times are ignored.
        last: whether no other batch follows.
    """

    time: float
    events: Sequence[ExternalEvent] = ()
    last: bool = False


class LiveEvents(Protocol):
    """The source of the external events of a live simulation."""

    def begin(self) -> None:
        """Note that the simulation waits for the first time; this may give it another state."""

    def wait(self, now: float, due: float | None) -> LiveBatch | None:
        """Wait for events before the next action; return None to advance time to `due`.

        The same batches at the same times give the same run: the simulation's action at `due` precedes events of that
        time. The loop calls this method again after each batch until the last one; an exception ends the run.

        Args:
            now: the current instant of the simulation; a batch must not be earlier.
            due: the instant of the next action; a batch must be earlier. None if no action is pending: then a batch is
                required.
        """


class LiveLoop:
    """A loop that asks the scheduler after each instant with events, and after each batch of live events.

    Args:
        queue: the event queue of the simulation.
        outbox: events for the scheduler.
        live: the source of external events.
        deliver: executes them.
        finish: called once, after the last of them.
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
        """Run until the last batch has been delivered and no action is pending."""
        queue, outbox, over, begun = self._queue, self._outbox, False, False
        while True:
            if outbox:
                apply_reply(queue, ask(), apply)
                continue
            if not begun:
                begun = True
                self._live.begin()
            due = queue.next_time()
            batch = None if over else self._live.wait(queue.now, due)
            if batch is not None:
                over = self._take(batch)
            elif not queue.run_next():
                return

    def _take(self, batch: LiveBatch) -> bool:
        """Execute the events of a batch; return whether it is the last."""
        self._queue.run_until(batch.time)
        self._deliver(batch.events)
        if batch.last:
            self._finish()
        return batch.last
