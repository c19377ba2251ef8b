"""What a selection may know of the machine: hosts and their properties, who sleeps, the zones hosts are in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Protocol

from batsched_py.errors import OptionError
from batsched_py.hostset import HostSet

#: The zones of each level, as bits; smallest zones first. The zones of a level have all hosts between them, no host is
#: in two of them, and none lies across two zones of the next level.
Zones = tuple[tuple[int, ...], ...]

#: The property that says a host's zone if the user names none.
USUAL_ZONE: Final = "rack"


class MachineHost(Protocol):
    """A host, as algorithms see it (`batsched_py.api.Host`)."""

    @property
    def name(self) -> str:
        """Its name in the platform."""

    @property
    def properties(self) -> Mapping[str, Any]:
        """Those of the platform file."""

    @property
    def zone_properties(self) -> Mapping[str, Any]:
        """Those of its zone, empty if unknown."""


class Machine(Protocol):
    """The hosts and what they do now. A View is one."""

    @property
    def hosts(self) -> Mapping[int, MachineHost]:
        """Compute hosts by number."""

    @property
    def asleep(self) -> HostSet:
        """Hosts that sleep now."""

    def pstate(self, host: int) -> str | None:
        """The power state a host is in, None if unknown."""


def zones_of(hosts: Mapping[int, MachineHost], said_by: str = "") -> Zones:
    """The zones of these hosts: hosts with the same value of a property are in one zone.

    Args:
        hosts: by number.
        said_by: the name of the property; or several, smaller zones first, as in "rack/room": a zone is then a rack of
            a room. A host's own property counts before that of its zone in the platform; hosts without it are in one
            zone. "" stands for "rack", or, if no host has that, for all zone properties together.

    Raises OptionError if no host has a property that was named.
    """
    if said_by:
        names = said_by.split("/")
        for name in names:
            if not any(_value(host, name) for host in hosts.values()):
                raise OptionError(f"option zone: no host of the platform has a property {name!r}")
        levels = [names[level:] for level in range(len(names))]
    elif any(_value(host, USUAL_ZONE) for host in hosts.values()):
        levels = [[USUAL_ZONE]]
    else:
        return (_zones({number: repr(sorted(host.zone_properties.items())) for number, host in hosts.items()}),)
    return tuple(
        _zones({number: repr([_value(host, name) for name in names]) for number, host in hosts.items()})
        for names in levels
    )


def wake_cost(host: MachineHost, pstate: str | None) -> tuple[float, float]:
    """What it costs to wake a host that sleeps in this pstate: what is less costs less.

    That is the power it draws while it switches on, in watts; of like power the lighter sleep, which draws more, is
    left sooner. Batsim tells a host's power, not how long its switches take. A host that describes no power is dearest;
    one of unknown pstate is taken to be in the sleep that is cheapest to leave.
    """
    watts = [_full_load(state) for state in str(host.properties.get("wattage_per_state", "")).split(",")]
    triples = [triple.strip().split(":") for triple in str(host.properties.get("sleep_pstates", "")).split(",")]
    costs = [
        (_nth(watts, triple[2]), -_nth(watts, triple[0]))
        for triple in triples
        if len(triple) == 3 and pstate in (None, triple[0])
    ]
    return min(costs, default=(math.inf, 0.0))


def _value(host: MachineHost, name: str) -> str:
    return str(host.properties.get(name) or host.zone_properties.get(name) or "")


def _zones(zone_by_host: Mapping[int, str]) -> tuple[int, ...]:
    """Bits of the hosts of each zone, zones in the order of their lowest hosts."""
    zones: dict[str, int] = {}
    for number in sorted(zone_by_host):
        zone = zone_by_host[number]
        zones[zone] = zones.get(zone, 0) | 1 << number
    return tuple(zones.values())


def _full_load(state: str) -> float:
    """Watts with all cores busy: the last of "idle:one core:all cores"."""
    try:
        return float(state.rpartition(":")[2])
    except ValueError:
        return math.inf


def _nth(watts: list[float], pstate: str) -> float:
    return watts[int(pstate)] if pstate.isdecimal() and int(pstate) < len(watts) else math.inf
