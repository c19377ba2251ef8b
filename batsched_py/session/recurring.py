"""Periodic calls and probes of energy, where Batsim has no command for them; and their end with the last job.

Batsim 1 to 4 know single calls, which no event names. Of those that are booked as periodic, one call after the other is
asked for, and the event gets the name. Batsim 5 needs neither, but never ends a simulation in which a period goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from batsched_py.protocol.codec import Message
from batsched_py.protocol.dialects import V5, Dialect
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
from batsched_py.scheduling.recurring import ENERGY
from batsched_py.state.running import WIRE_RESOLUTION
from batsched_py.state.state import State


class Recurring:
    """The periodic calls of a run."""

    __slots__ = ("_plan", "_state")

    def __init__(self, state: State, plan: Plan) -> None:
        self._state, self._plan = state, plan

    @property
    def emulates(self) -> bool:
        """True if Batsim knows no periodic calls."""
        return self._plan.dialect is not V5

    def named(self, message: Message) -> Message:
        """Return the message with a call for each period that is due, under its name."""
        kinds = {type(event) for event in message.events}
        if RequestedCall not in kinds or SimulationEnds in kinds:  # after the end nothing may be asked
            return message
        return Message(message.now, tuple(self._named(message)))

    def renew(self) -> None:
        """Ask for the next calls, and for the energy that is watched; end all when no job can come any more."""
        state = self._state
        if state.over:
            self._plan.end_recurring()
        elif self._plan.dialect is not V5:
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


def told(event: Event, dialect: Dialect, now: float) -> Event:
    """Return an event as the algorithm is told at `now`.

    What its probe of the energy says is the answer that others give. Batsim 5 dates some events as the one before them,
    perhaps long ago: they happen now.
    """
    if type(event) is ProbeData and event.probe_id == ENERGY:
        return Answer(event.timestamp, {"consumed_energy": event.values[0] if event.values else 0.0})
    return replace(event, timestamp=now) if dialect is V5 and _is_stale(event) else event


def _is_stale(event: Event) -> bool:
    """Return whether Batsim 5 does not date an event itself: a text, a switch, or a kill of nobody."""
    if type(event) is Notify:
        return event.told_by is not None
    return type(event) is ResourceStateChanged or (type(event) is JobKilled and not event.progress)
