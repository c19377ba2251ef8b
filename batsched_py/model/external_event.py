"""External events: what happens at fixed times, whatever the scheduler decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field

from batsched_py.hostset import HostSet

MACHINE_AVAILABLE: Final = "machine_available"
MACHINE_UNAVAILABLE: Final = "machine_unavailable"
#: The types Batsim knows; an event of any other type is only forwarded, and only on request.
MACHINE_EVENTS: Final = frozenset({MACHINE_AVAILABLE, MACHINE_UNAVAILABLE})
#: The one type of Batsim 5; its member `data` is a text.
GENERIC: Final = "generic"


class ExternalEvent(Struct, frozen=True):
    """An event at a fixed time, independent of the scheduler's decisions.

    Attributes:
        timestamp: seconds since the start of the simulation.
        type: "machine_unavailable", "machine_available", or a user-defined word.
        hosts: the hosts that become (un)available; empty for other types.
        members: the whole object, as it is forwarded.
        source: file and line, for messages.
        id: its number in Batsim 5: "ee0!3" is the fourth line of the first file.
    """

    timestamp: float
    type: str
    hosts: HostSet = field(default_factory=HostSet)
    members: Mapping[str, Any] = field(default_factory=dict)
    source: str = "external event"
    id: str = "ee0!0"
