"""Selection of hosts: which are tried first for a lease (H58)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from batsched_py.leases.lease import Lease
from batsched_py.leases.table import LeaseTable

#: Leases beside which a host counts as full of leases.
_MANY = 4


class FirstHosts:
    """Hosts in the order of their numbers: Haizea's `no-policy`."""

    def __init__(self, table: LeaseTable) -> None:
        self._table = table

    def __call__(self, lease: Lease, hosts: Collection[int], time: float) -> Sequence[int]:
        return sorted(hosts)


class GreedyHosts(FirstHosts):
    """Hosts with few leases first, and those whose picture stays the same for as long as the lease asks for."""

    def __call__(self, lease: Lease, hosts: Collection[int], time: float) -> Sequence[int]:
        timelines, wanted = self._table.hosts, lease.duration
        found = list[tuple[float, int]]()
        for host in hosts:
            timeline = timelines[host]
            leases = len({entry[3].id for entry in timeline.holders_at(time)})
            left = timeline.next_change(time) - time
            found.append((-score(leases, 1.0 if left >= wanted else left / wanted), host))
        found.sort()
        return [host for _, host in found]


def score(leases: int, quiet: float) -> float:
    """Return how good a host is, 0 to 1, by the leases that are on it and the share of the time asked for without change.

    The constant is for a host's capacity, which Haizea never came to compare.
    """
    return 0.5 * ((_MANY - min(_MANY, leases)) / _MANY) + 0.25 * 1.0 + 0.25 * quiet
