"""External events: machines that fail and come back, and others that are only forwarded; read from Batsim's files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Struct, field

from batsched_py.bits import format_bits
from batsched_py.bounded_file import DamageError, read_lines
from batsched_py.errors import WorkloadError
from batsched_py.hostset import HostSet
from batsched_py.model.limits import LIMITS, LimitError, Limits, check_depth
from batsched_py.protocol import events as notices
from batsched_py.protocol.events import Notify
from batsched_py.protocol.fields import shown
from batsched_py.simulator.context import Context
from batsched_py.simulator.machines.machines import SWITCHING_ON
from batsched_py.simulator.wire.rounding import wire_members

MACHINE_AVAILABLE: Final = "machine_available"
MACHINE_UNAVAILABLE: Final = "machine_unavailable"
#: The types Batsim knows; an event of any other type is only forwarded, if that is asked for.
MACHINE_EVENTS: Final = frozenset({MACHINE_AVAILABLE, MACHINE_UNAVAILABLE})
#: Hosts below this number are always read: `check_events` names all of them that do not exist at once.
_NEAR: Final = 1024

FAILED_WHILE_SWITCHED_ON: Final = (
    "machines: a host that fails while it is switched on goes on here; real Batsim 4.2.1 aborts when it is on"
)


class ExternalEvent(Struct, frozen=True):
    """An event that happens at `timestamp`, whatever the scheduler does.

    Attributes:
        timestamp: seconds since the start of the simulation.
        type: "machine_unavailable", "machine_available", or a word of your own.
        hosts: those that become (un)available; empty for other types.
        members: the whole object, as it is forwarded.
        source: file and line, for messages.
    """

    timestamp: float
    type: str
    hosts: HostSet = field(default_factory=HostSet)
    members: Mapping[str, Any] = field(default_factory=dict)
    source: str = "external event"


def read_events(path: Path, *, hosts: int | None = None, limits: Limits = LIMITS) -> tuple[ExternalEvent, ...]:
    """Read an event file, in order of time; WorkloadError names the line, the member and the rule.

    `hosts` is how many there are, if that is known: events of hosts far above are refused before memory is taken.
    """
    highest = limits.hosts - 1 if hosts is None else max(hosts, _NEAR) - 1
    events = []
    number = 0
    try:
        for number, line in enumerate(read_lines(path, limits), 1):
            if line.strip():
                events.append(_read_event(f"{path}:{number}", line, highest, limits))
    except OSError as error:
        raise WorkloadError(str(path), "", error.strerror or str(error)) from error
    except DamageError as error:
        raise WorkloadError(str(path), "", f"cannot be decompressed: {error}") from error
    except LimitError as error:
        raise WorkloadError(f"{path}:{number + 1}", "", str(error)) from error
    return tuple(sorted(events, key=lambda event: event.timestamp))


def _read_event(source: str, line: bytes, highest: int, limits: Limits) -> ExternalEvent:
    try:
        members = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise WorkloadError(source, "", f"must be a JSON object: {error}") from None
    if not isinstance(members, dict):
        raise WorkloadError(source, "", "must be a JSON object")
    try:
        check_depth(members, limits)
    except LimitError as error:
        raise WorkloadError(source, "", str(error)) from None
    timestamp, kind = members.get("timestamp"), members.get("type")
    if not isinstance(timestamp, (int, float)) or isinstance(timestamp, bool) or not 0 <= timestamp < math.inf:
        raise WorkloadError(source, "timestamp", f"must be a number of seconds from 0, not {shown(timestamp)}")
    if not isinstance(kind, str):
        raise WorkloadError(source, "type", f"must be a string, not {shown(kind)}")
    if kind not in MACHINE_EVENTS:
        return ExternalEvent(timestamp, kind, HostSet(), members, source)
    resources = members.get("resources")
    try:
        hosts = HostSet.parse(resources, highest) if isinstance(resources, str) else None
    except ValueError as error:
        raise WorkloadError(source, "resources", f'must be a string of intervals like "0-3 7": {error}') from None
    if hosts is None:
        raise WorkloadError(source, "resources", 'must be a string of intervals like "0-3 7"')
    return ExternalEvent(timestamp, kind, hosts, members, source)


def check_events(events: Iterable[ExternalEvent], all_hosts: int) -> None:
    """Raise WorkloadError if a host (a bit of `all_hosts`) does not exist, or becomes what it is: Batsim aborts."""
    unavailable = 0
    for event in events:
        bits = event.hosts.bits
        if bits & ~all_hosts:
            raise WorkloadError(event.source, "resources", f"host {format_bits(bits & ~all_hosts)} does not exist")
        if event.type == MACHINE_UNAVAILABLE:
            if bits & unavailable:
                rule = f"host {format_bits(bits & unavailable)} is unavailable already at t={event.timestamp:g}"
                raise WorkloadError(event.source, "resources", rule)
            unavailable |= bits
        elif event.type == MACHINE_AVAILABLE:
            if bits & ~unavailable:
                rule = f"host {format_bits(bits & ~unavailable)} is not unavailable at t={event.timestamp:g}"
                raise WorkloadError(event.source, "resources", rule)
            unavailable &= ~bits


class ExternalEvents:
    """The consequences of external events when their time has come."""

    def __init__(self, context: Context) -> None:
        self._context, self._machines, self._queue = context, context.machines, context.queue

    def happen(self, events: Iterable[ExternalEvent]) -> None:
        """Change the machines, and notify the scheduler."""
        for event in events:
            self._happen(event)

    def finish(self) -> None:
        """Notify the scheduler that there will be no more."""
        self._context.emit(Notify(self._queue.stamp, notices.NO_MORE_EXTERNAL_EVENT))

    def _happen(self, event: ExternalEvent) -> None:
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
