"""External events: failures and returns of machines, and other events that are only forwarded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import orjson

from batsched_py.bits import format_bits
from batsched_py.errors import WorkloadError
from batsched_py.hostset import HostSet
from batsched_py.model.external_event import (
    GENERIC,
    MACHINE_AVAILABLE,
    MACHINE_EVENTS,
    MACHINE_UNAVAILABLE,
    ExternalEvent,
)
from batsched_py.protocol import events as notices
from batsched_py.protocol.events import EventSource, Notify
from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes
from batsched_py.simulator.context import Context
from batsched_py.simulator.machines.machines import SWITCHING_ON
from batsched_py.simulator.wire.rounding import wire_members
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds

FAILED_WHILE_SWITCHED_ON: Final = (
    "machines: a host that fails while it is switched on continues here; real Batsim 4.2.1 aborts when it is on"
)
#: Members of events about machines.
_MACHINE_MEMBERS: Final = Members(
    "a machine event", frozenset({"timestamp", "type", "resources"}), unknown=UnknownNames.REPORTED
)


def check_events(events: Iterable[ExternalEvent], all_hosts: int) -> None:
    """Raise WorkloadError where Batsim aborts: a host is not in `all_hosts` (bits), or already has the new state."""
    unavailable = 0
    for event in events:
        bits = event.hosts.bits
        if bits & ~all_hosts:
            raise WorkloadError(event.source, "resources", f"host {format_bits(bits & ~all_hosts)} does not exist")
        if event.type == MACHINE_UNAVAILABLE:
            if bits & unavailable:
                rule = f"host {format_bits(bits & unavailable)} is unavailable already at t={seconds(event.timestamp)}"
                raise WorkloadError(event.source, "resources", rule)
            unavailable |= bits
        elif event.type == MACHINE_AVAILABLE:
            if bits & ~unavailable:
                rule = f"host {format_bits(bits & ~unavailable)} is not unavailable at t={seconds(event.timestamp)}"
                raise WorkloadError(event.source, "resources", rule)
            unavailable &= ~bits


def unread_parts(events: Iterable[ExternalEvent], *, forwarded: bool) -> tuple[str, ...]:
    """Return lines on what Batsim 1 to 4 do not read: further members of events about machines, and other types.

    Events of other types have an effect if they are `forwarded`.
    """
    files: dict[str, Notes] = {}
    for event in events:
        file, _, line = event.source.rpartition(":")
        notes = files.setdefault(file, Notes(file))
        if event.type in MACHINE_EVENTS:
            _MACHINE_MEMBERS.check(event.members, notes, f"line {line}")
        elif not forwarded:
            what = f"type {displayed(event.type)} of an event has no effect without --forward-unknown-events"
            notes.add(what, f"line {line}")
    return tuple(line for notes in files.values() for line in notes.lines())


class ExternalEvents:
    """The execution of external events at their times."""

    def __init__(self, context: Context, fail: Callable[[int], None] | None = None) -> None:
        """Take the context; `fail` ends the jobs on failing hosts; None to let them continue, as in Batsim."""
        self._context, self._machines, self._queue = context, context.machines, context.queue
        self._fail = fail

    def happen(self, events: Iterable[ExternalEvent]) -> None:
        """Change the machines, and notify the scheduler."""
        stamp = self._queue.stamp
        if not self._context.generation.fails_machines:
            for event in events:
                self._context.emit(_notice(event, stamp))
            return
        for event in events:
            hosts = event.hosts
            if event.type in MACHINE_EVENTS:
                on = event.type == MACHINE_AVAILABLE
                changed = hosts.bits & self._machines.all & (self._machines.unavailable ^ (0 if on else -1))
                if changed:  # a live source may repeat itself; files are checked before
                    self.switch(changed, on=on)
            elif self._context.settings.forward_unknown_events:
                self._context.emit(Notify(stamp, event.type, None, wire_members(event.members)))

    def switch(self, hosts: int, *, on: bool) -> None:
        """Make hosts (bits) available or unavailable, and notify the scheduler."""
        now, stamp = self._queue.now, self._queue.stamp
        if on:
            self._machines.restore(hosts, now)
            self._context.emit(Notify(stamp, notices.MACHINE_AVAILABLE, HostSet(hosts)))
            return
        if hosts & self._machines.hosts_in[SWITCHING_ON]:
            self._context.approximations.add(FAILED_WHILE_SWITCHED_ON)
        if self._fail is not None:
            self._fail(hosts)
        self._machines.withdraw(hosts, now)
        self._context.emit(Notify(stamp, notices.MACHINE_UNAVAILABLE, HostSet(hosts)))

    def finish(self) -> None:
        """Notify the scheduler of the end of external events."""
        self._context.emit(Notify(self._queue.stamp, notices.NO_MORE_EXTERNAL_EVENT))


def _notice(event: ExternalEvent, stamp: float) -> Notify:
    """Return an event in Batsim 5's form: a text with an id; an event about machines is the agreed text."""
    members = {name: value for name, value in event.members.items() if name != "timestamp"}
    if event.type == GENERIC and type(event.members.get("data")) is str:
        content = event.members["data"]
    else:
        content = orjson.dumps({"type": event.type, **wire_members(members)}).decode()
    return Notify(stamp, event.type, event.hosts or None, members, EventSource(event.id, content))
