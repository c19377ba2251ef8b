"""Files of external events, as Batsim reads them: one JSON object on each line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

import orjson
from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.hostset import HostSet
from batsched_py.model.external_event import MACHINE_EVENTS, ExternalEvent
from batsched_py.reading.limits import LIMITS, LimitError, Limits, check_depth
from batsched_py.text.display import shown

#: Hosts below this number are always read: the simulator reports all nonexistent ones in one error.
_NEAR: Final = 1024


def read_events(
    path: Path, *, hosts: int | None = None, number_of_file: int = 0, limits: Limits = LIMITS
) -> tuple[ExternalEvent, ...]:
    """Read an event file, in order of time; WorkloadError names the line, the member and the rule.

    `hosts` is the number of hosts, if known: events of much higher host numbers are refused before memory is allocated.
    """
    highest = limits.hosts - 1 if hosts is None else max(hosts, _NEAR) - 1
    events: list[ExternalEvent] = []
    number = 0
    with reported(path, WorkloadError, lambda: f"line {number + 1}"):
        for number, line in enumerate(read_lines(path, limits), 1):
            if line.strip():
                event = _read_event(f"{path}:{number}", line, highest, limits)
                events.append(replace(event, id=f"ee{number_of_file}!{len(events)}"))
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
        raise WorkloadError(source, "type", f"must be a text, not {shown(kind)}")
    if kind not in MACHINE_EVENTS:
        return ExternalEvent(timestamp, kind, HostSet(), members, source)
    resources = members.get("resources")
    try:
        hosts = HostSet.parse(resources, highest) if isinstance(resources, str) else None
    except ValueError as error:
        raise WorkloadError(source, "resources", f'must be a text of intervals like "0-3 7": {error}') from None
    if hosts is None:
        raise WorkloadError(source, "resources", 'must be a text of intervals like "0-3 7"')
    return ExternalEvent(timestamp, kind, hosts, members, source)
