"""Emulation of periodic calls and energy probes for versions of Batsim without them, and their end with the last job.

Batsim 1 to 4 know only single calls, whose events have no names. A periodic call is requested one by one, and its
events are given its name. Batsim 5 needs no emulation, but does not end a simulation that has a periodic call.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from batsched_py.protocol.codec import Message
from batsched_py.protocol.dialect import Dialect
from batsched_py.protocol.events import (
    Answer,
    Event,
    JobKilled,
    Notify,
    ProbeData,
    RequestedCall,
    ResourceStateChanged,
    SimulationEnds,
)
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.recurring_verbs import ENERGY
from batsched_py.state.running import WIRE_RESOLUTION
from batsched_py.state.state import State


class RecurringCalls:
    """The periodic calls of a run."""

    __slots__ = ("_plan", "_state")

    def __init__(self, state: State, plan: Plan) -> None:
        self._state, self._plan = state, plan

    @property
    def emulates(self) -> bool:
        """True if Batsim knows no periodic calls."""
        return not self._plan.dialect.is_v5

    def named(self, message: Message) -> Message:
        """Return the message with a named call for each due period."""
        kinds = {type(event) for event in message.events}
        if RequestedCall not in kinds or SimulationEnds in kinds:  # after the end no request is allowed
            return message
        return Message(message.now, tuple(self._named(message)))

    def renew(self) -> None:
        """Request the next calls and the watched energy; end all periods when no more jobs can arrive."""
        state = self._state
        if state.over:
            self._plan.end_recurring()
        elif not self._plan.dialect.is_v5:
            for calls in state.periodic.values():
                if not any(calls.next <= time <= calls.next + calls.period for time in state.wakeups):
                    self._plan.wake_at(calls.next)

    def _named(self, message: Message) -> Iterator[Event]:
        due = message.now + WIRE_RESOLUTION
        names = [name for name, calls in self._state.periodic.items() if calls.next <= due]
        for event in message.events:
            if type(event) is not RequestedCall or not names:
                yield event
                continue
            if ENERGY in names:
                self._plan.ask_energy()
            for name in names:
                yield RequestedCall(event.timestamp, event.extra, name, self._state.periodic[name].left == 1)
            names = []


def as_received(event: Event, dialect: Dialect, now: float) -> Event:
    """Return an event as the algorithm receives it at `now`.

    A value of the energy probe becomes the answer that other versions send. Batsim 5 gives some events the timestamp of
    the previous one, possibly long ago: these get `now`.
    """
    if type(event) is ProbeData and event.probe_id == ENERGY:
        return Answer(event.timestamp, {"consumed_energy": event.values[0] if event.values else 0.0})
    return replace(event, timestamp=now) if dialect.is_v5 and _is_stale(event) else event


def _is_stale(event: Event) -> bool:
    """Return whether Batsim 5 may give an event an old timestamp: a text, a switch, or a kill without jobs."""
    if type(event) is Notify:
        return event.source is not None
    return type(event) is ResourceStateChanged or (type(event) is JobKilled and not event.progress)
