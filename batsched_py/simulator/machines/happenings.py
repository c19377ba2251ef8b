"""External events as they happen: hosts become unavailable and available again, other events are passed on."""

from __future__ import annotations

from typing import Final

from batsched_py.protocol import events as notices
from batsched_py.protocol.events import Notify
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.profiles import wire_members
from batsched_py.simulator.machines.external_events import MACHINE_AVAILABLE, MACHINE_UNAVAILABLE, ExternalEvent
from batsched_py.simulator.machines.machines import SWITCHING_ON
from batsched_py.simulator.time.event_queue import RANK_MACHINES
from batsched_py.simulator.time.timed_source import TimedSource

FAILED_WHILE_SWITCHED_ON: Final = (
    "machines: a host that fails while it is switched on goes on here; real Batsim 4.2.1 aborts when it is on"
)


class Happenings:
    """Puts the external events on the queue; after the last one it says that there are no more."""

    def __init__(self, context: Context) -> None:
        self._context, self._machines, self._queue = context, context.machines, context.queue
        #: The next one last.
        self._left = sorted(context.settings.external_events, key=lambda event: event.timestamp)[::-1]
        if self._left:
            TimedSource(
                context.queue,
                context.mailbox,
                RANK_MACHINES,
                next_time=self._next_time,
                tell=self._happen,
                farewell=self._no_more,
            )

    def _next_time(self) -> float | None:
        return self._left[-1].timestamp if self._left else None

    def _happen(self, until: float) -> None:
        """The next event, and all others whose time has come by then."""
        self._befall(self._left.pop())
        while self._left and self._left[-1].timestamp <= until:
            self._befall(self._left.pop())

    def _befall(self, event: ExternalEvent) -> None:
        now, stamp, hosts = self._queue.now, self._queue.stamp, event.hosts
        if event.type == MACHINE_UNAVAILABLE:
            if hosts.bits & self._machines.hosts_in[SWITCHING_ON]:
                self._context.approximations.add(FAILED_WHILE_SWITCHED_ON)
            self._machines.withdraw(hosts.bits, now)
            self._context.emit(Notify(stamp, notices.MACHINE_UNAVAILABLE, hosts))
        elif event.type == MACHINE_AVAILABLE:
            self._machines.restore(hosts.bits, now)
            self._context.emit(Notify(stamp, notices.MACHINE_AVAILABLE, hosts))
        elif self._context.settings.forward_unknown_events:
            self._context.emit(Notify(stamp, event.type, None, wire_members(event.members)))

    def _no_more(self, _: None) -> None:
        self._context.emit(Notify(self._queue.stamp, notices.NO_MORE_EXTERNAL_EVENT))
