"""The locality of allocations: the links between the hosts of a job, their switches and groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from batsched_py.errors import PlatformError
from batsched_py.hostset import HostSet
from batsched_py.model.platform import Platform
from batsched_py.model.topologies.cluster import TopologyZone
from batsched_py.model.topologies.crossings import Crossings
from batsched_py.results.records import JobRecord
from batsched_py.text.wording import counted

#: The columns of `metrics --per-job --platform`.
LOCALITY_COLUMNS: Final = ("mean_hops", "max_hops", "switches", "groups")
#: The largest allocation that is measured: it has a million pairs of hosts.
MOST_HOSTS: Final = 1000
#: The largest number of routes kept in memory.
_MOST_KEPT: Final = 1_000_000


class Locality:
    """The hops between hosts of a platform, computed when needed.

    The mean over all pairs of hosts is a usual measure of the locality of an allocation: Mache and Lo, The effects of
    dispersal on message-passing contention in processor allocation strategies, JCIS 1997.
    """

    def __init__(self, platform: Platform) -> None:
        """Take the platform, whose compute hosts have the numbers of Batsim."""
        self._platform, self._names = platform, [host.name for host in platform.compute_hosts()]
        self._kept: dict[tuple[int, int], int] = {}

    def cells(self, record: JobRecord, hosts: int) -> tuple[str, ...]:
        """Return the cells of LOCALITY_COLUMNS for a job, on its hosts with numbers below `hosts`.

        Hops are empty for fewer than 2 hosts and, outside of a cluster with a topology, for more than MOST_HOSTS;
        switches and groups if a host has none.
        PlatformError if a host is not in the platform, or a route does not exist.
        """
        used = list(HostSet(record.hosts.bits & ((1 << hosts) - 1)))
        if used and used[-1] >= len(self._names):
            rule = f"has {counted(len(self._names), 'compute host')}, but job {record.job.id} ran on host {used[-1]}"
            raise PlatformError(self._platform.source, "", rule)
        places = [self._places(host) for host in used]
        levels = [_count(places, level) for level in range(2)]
        if len(used) < 2:
            return "", "", *levels
        crossings = self._crossings(used)
        if crossings is not None:
            mean = sum(crossings.pairs.values()) / (len(used) * (len(used) - 1))
            return f"{mean:.6f}", str(crossings.longest), *levels
        if len(used) > MOST_HOSTS:
            return "", "", *levels
        found = [self._hops(one, other) for one in used for other in used if one != other]
        return f"{math.fsum(found) / len(found):.6f}", str(max(found)), *levels

    def _crossings(self, hosts: Sequence[int]) -> Crossings | None:
        """Return the crossings of all pairs of hosts in one cluster with a topology; None for others."""
        names = [self._names[host] for host in hosts]
        zones = {self._platform.zone_of[name] for name in names}
        zone = self._platform.zones[zones.pop()]
        if zones or not isinstance(zone, TopologyZone) or zone.cables.limiter_bandwidth:
            return None
        return zone.topology.crossings([zone.positions[name] for name in names])

    def _places(self, host: int) -> tuple[tuple[str, int], ...]:
        """Return (zone, number) of a host's switch and of its group, as far as it has them."""
        name = self._names[host]
        zone = self._platform.zones[self._platform.zone_of[name]]
        if not isinstance(zone, TopologyZone):
            return ()
        return tuple((zone.name, number) for number in zone.topology.places(zone.positions[name]))

    def _hops(self, source: int, destination: int) -> int:
        """Return the number of links on a route; the way back may be another."""
        hops = self._kept.get((source, destination))
        if hops is None:
            hops = len(self._platform.route(self._names[source], self._names[destination]).links)
            if len(self._kept) < _MOST_KEPT:
                self._kept[source, destination] = hops
        return hops


def _count(places: Sequence[tuple[tuple[str, int], ...]], level: int) -> str:
    """Return the number of different places of a level; "" if a host has none, or there are no hosts."""
    if not places or any(len(each) <= level for each in places):
        return ""
    return str(len({each[level] for each in places}))
