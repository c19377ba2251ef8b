"""Selection of hosts: which are tried first for a lease (H58)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from batsched_py.leases.lease import Lease
from batsched_py.leases.table import LeaseTable

#: Leases beside which a host counts as full of leases.
_MANY = 4


class HostOrder:
    """Policy that takes hosts in the order of their numbers: Haizea's `no-policy`, and the base of others.

    Args:
        table: what is reserved.

    Attributes:
        total: it leaves no host out.
    """

    total = True

    def __init__(self, table: LeaseTable) -> None:
        self.table = table

    def sort(self, lease: Lease, hosts: Collection[int], time: float) -> Sequence[int]:  # noqa: ARG002
        """Return the hosts, the best one for a lease that would start at `time` first; ties by number."""
        return sorted(hosts)


class GreedyHosts(HostOrder):
    """Policy that takes hosts with few leases first, and those that stay as they are for as long as the lease asks."""

    def sort(self, lease: Lease, hosts: Collection[int], time: float) -> Sequence[int]:
        """Return the hosts by their scores."""
        timelines, wanted = self.table.hosts, lease.duration
        found = list[tuple[float, int]]()
        for host in hosts:
            leases, change = timelines[host].outlook(time)
            left = change - time
            found.append((-score(leases, 1.0 if left >= wanted else left / wanted), host))
        found.sort()
        return [host for _, host in found]


def score(leases: int, quiet: float) -> float:
    """Return how good a host is, 0 to 1.

    Args:
        leases: on the host at the start.
        quiet: the share of the time asked for during which nothing changes on the host.

    The constant stands for a host's capacity, which Haizea never came to compare.
    """
    return 0.5 * ((_MANY - min(_MANY, leases)) / _MANY) + 0.25 * 1.0 + 0.25 * quiet
