"""The locality of allocations: how many links the hosts of a job have between each other."""

from __future__ import annotations

import math
from typing import Final

from batsched_py.errors import PlatformError
from batsched_py.hostset import HostSet
from batsched_py.model.platform import Platform
from batsched_py.results.records import JobRecord
from batsched_py.text.wording import counted

#: The columns of `metrics --per-job --platform`.
LOCALITY_COLUMNS: Final = ("mean_hops", "max_hops")
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

    def cells(self, record: JobRecord, hosts: int) -> tuple[str, str]:
        """Return the cells of LOCALITY_COLUMNS for a job, on its hosts with numbers below `hosts`.

        They are empty for fewer than 2 and more than MOST_HOSTS hosts. PlatformError if a host is not in the platform,
        or a route does not exist.
        """
        used = list(HostSet(record.hosts.bits & ((1 << hosts) - 1)))
        if used and used[-1] >= len(self._names):
            rule = f"has {counted(len(self._names), 'compute host')}, but job {record.job.id} ran on host {used[-1]}"
            raise PlatformError(self._platform.source, "", rule)
        if not 2 <= len(used) <= MOST_HOSTS:
            return "", ""
        found = [self._hops(one, other) for one in used for other in used if one != other]
        return f"{math.fsum(found) / len(found):.6f}", str(max(found))

    def _hops(self, source: int, destination: int) -> int:
        """Return the number of links on a route; the way back may be another."""
        hops = self._kept.get((source, destination))
        if hops is None:
            hops = len(self._platform.route(self._names[source], self._names[destination]).links)
            if len(self._kept) < _MOST_KEPT:
                self._kept[source, destination] = hops
        return hops
