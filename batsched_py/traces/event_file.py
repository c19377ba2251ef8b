"""Files of external events, as Batsim reads them: one JSON object on each line."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import orjson
from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_lines, reported
from batsched_py.hostset import HostSet
from batsched_py.model.external_event import MACHINE_EVENTS, ExternalEvent
from batsched_py.reading.faults import of_file
from batsched_py.reading.json_document import refuse_doubled
from batsched_py.reading.limits import LIMITS, Limits, check_depth
from batsched_py.reading.objects import mapping, take
from batsched_py.reading.values import TEXT, Reader, number

_TIMESTAMP: Final = number("seconds", least=0)
#: Hosts below this number are always read: the simulator reports all nonexistent ones in one error.
_NEAR: Final = 1024


def read_events(
    path: Path, *, hosts: int | None = None, number_of_file: int = 0, limits: Limits = LIMITS
) -> tuple[ExternalEvent, ...]:
    """Read an event file, in order of time; WorkloadError names the line, the member and the rule.

    `hosts` is the number of hosts, if known: events of much higher host numbers are refused before memory is allocated.
    """
    highest = limits.hosts - 1 if hosts is None else max(hosts, _NEAR) - 1
    resources, events = _hosts(highest), list[ExternalEvent]()
    number = 0
    with reported(path, WorkloadError, lambda: f"line {number + 1}"):
        for number, line in enumerate(read_lines(path, limits), 1):
            if line.strip():
                event = _read_event(f"{path}:{number}", line, resources, limits)
                events.append(replace(event, id=f"ee{number_of_file}!{len(events)}"))
    return tuple(sorted(events, key=lambda event: event.timestamp))


def _read_event(source: str, line: bytes, resources: Reader[HostSet], limits: Limits) -> ExternalEvent:
    try:
        members = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise WorkloadError(source, "", f"must be a JSON object: {error}") from None
    try:
        check_depth(mapping(members), limits)
        timestamp, kind = take(members, "timestamp", _TIMESTAMP), take(members, "type", TEXT)
        if line.count(b":") > len(members):  # nested members, colons in texts, or a member twice
            refuse_doubled(source, line)
        hosts = HostSet() if kind not in MACHINE_EVENTS else take(members, "resources", resources)
    except ValueError as error:
        raise of_file(WorkloadError, source, error) from None
    return ExternalEvent(timestamp, kind, hosts, members, source)


def _hosts(highest: int) -> Reader[HostSet]:
    def read(text: str) -> HostSet:
        try:
            return HostSet.parse(text, highest)
        except ValueError as error:
            raise ValueError(f'must be a text of intervals like "0-3 7": {error}') from None  # placed by the caller

    return TEXT.then(read)
