"""The machine as selections see it: hosts with their properties, sleeping hosts, and zones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Protocol

from batsched_py.errors import OptionError
from batsched_py.hostset import HostSet
from batsched_py.planning.power import HostPower, SleepState, SwitchTimes, read_power
from batsched_py.planning.power import wake_cost as power_cost

#: The zones of each level, as bits; smallest zones first. The zones of a level partition the hosts, and each zone is
#: within one zone of the next level.
Zones = tuple[tuple[int, ...], ...]

#: The default property for the zone of a host.
USUAL_ZONE: Final = "rack"


class MachineHost(Protocol):
    """A host with the properties that algorithms see (`batsched_py.api.Host`)."""

    @property
    def name(self) -> str:
        """Its name in the platform."""

    @property
    def properties(self) -> Mapping[str, Any]:
        """Its properties in the platform file."""

    @property
    def zone_properties(self) -> Mapping[str, Any]:
        """The properties of its zone, empty if unknown."""


class Machine(Protocol):
    """The hosts and their current state. A View implements it."""

    @property
    def hosts(self) -> Mapping[int, MachineHost]:
        """Compute hosts by number."""

    @property
    def asleep(self) -> HostSet:
        """Hosts that sleep now."""

    def pstate(self, host: int) -> str | None:
        """Return the power state a host is in, None if unknown."""


def zones_of(hosts: Mapping[int, MachineHost], property_name: str = "") -> Zones:
    """Group hosts into zones: hosts with the same value of a property are in one zone.

    Args:
        hosts: by number.
        property_name: the name of the property; or several, smaller zones first, like "rack/room": a zone is then a
            rack of a room. A host's own property takes precedence over that of its zone in the platform; hosts without
            it are in one zone. "" means "rack", or, if no host has it, all zone properties together.

    Raises OptionError if no host has a named property.
    """
    if property_name:
        names = property_name.split("/")
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


def wake_cost(host: MachineHost, pstate: str | None) -> tuple[float, float, float]:
    """Return a sort key for the cost of waking a host that sleeps in this pstate.

    It is the energy of waking if the platform has its duration (the property `speed_per_state`: a switch is 1 flop),
    and these hosts come first; else the power drawn while waking. Among equals, the lighter sleep, which draws more
    power, comes first. A host without a description of its power has the highest cost; a host in an unknown pstate is
    assumed to be in the sleep that is cheapest to leave. PlatformError if the description of a host's power cannot be
    read.
    """
    power = read_power(host.name, host.properties)
    if power is None:
        return math.inf, math.inf, 0.0
    return min(
        (
            (*power_cost(sleep, _times(power, sleep)), -sleep.watts)
            for sleep in power.sleeps
            if pstate in (None, str(sleep.pstate))
        ),
        default=(math.inf, math.inf, 0.0),
    )


def _times(power: HostPower, sleep: SleepState) -> SwitchTimes | None:
    if not power.speeds:
        return None
    off, on = (1 / speed if speed else math.inf for speed in (power.speeds[sleep.off], power.speeds[sleep.on]))
    return SwitchTimes(off, on)


def _value(host: MachineHost, name: str) -> str:
    return str(host.properties.get(name) or host.zone_properties.get(name) or "")


def _zones(zone_by_host: Mapping[int, str]) -> tuple[int, ...]:
    """Return bits of the hosts of each zone, zones in the order of their lowest hosts."""
    zones: dict[str, int] = {}
    for number in sorted(zone_by_host):
        zone = zone_by_host[number]
        zones[zone] = zones.get(zone, 0) | 1 << number
    return tuple(zones.values())
