"""The loop of Batsim 1.4, which ends with the last job, even if calls are pending."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from batsched_py.protocol.events import Event
from batsched_py.simulator.time.event_queue import EventQueue
from batsched_py.simulator.time.instant_loop import Apply, Ask, apply_reply


class Batsim1Loop:
    """An `InstantLoop` until the last job; the last events remain in the outbox, to be sent with SIMULATION_ENDS."""

    def __init__(self, queue: EventQueue, outbox: Sequence[Event], over: Callable[[], bool]) -> None:
        self._queue, self._outbox, self._over = queue, outbox, over

    def run(self, ask: Ask, apply: Apply) -> None:
        """Run until the last job has ended, or no action is pending."""
        queue, outbox, over = self._queue, self._outbox, self._over
        while not over() and (outbox or queue.run_next()):
            if outbox and not over():
                apply_reply(queue, ask(), apply)
