"""The loop of Batsim 1.4: as soon as no job is left it is over, whatever call is pending."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from batsched_py.protocol.events import Event
from batsched_py.simulator.time.event_queue import EventQueue
from batsched_py.simulator.time.instant_loop import Apply, Ask, apply_reply


class Batsim1Loop:
    """Like `InstantLoop` until all is over; the last events stay in the outbox, to be sent with SIMULATION_ENDS."""

    def __init__(self, queue: EventQueue, outbox: Sequence[Event], over: Callable[[], bool]) -> None:
        self._queue, self._outbox, self._over = queue, outbox, over

    def run(self, ask: Ask, apply: Apply) -> None:
        """Play until it is over, or nothing will ever happen again."""
        queue, outbox, over = self._queue, self._outbox, self._over
        while not over() and (outbox or queue.run_next()):
            if outbox and not over():
                apply_reply(queue, ask(), apply)
