"""Selection of hosts: which are tried first for a lease (H58)."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.leases.lease import Lease
from batsched_py.leases.table import LeaseTable, numbers

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

    def sort(self, lease: Lease, hosts: int, time: float, count: int | None = None) -> Sequence[int]:  # noqa: ARG002
        """Return the numbers of hosts, the best one for a lease that would start at `time` first; ties by number.

        The first `count` of them, or all.
        """
        return numbers(hosts)[:count]


class GreedyHosts(HostOrder):
    """Policy that takes hosts with few leases first, and those that stay as they are for as long as the lease asks."""

    def sort(self, lease: Lease, hosts: int, time: float, count: int | None = None) -> Sequence[int]:
        """Return the hosts by their scores."""
        wanted, found = lease.duration, dict[float, int]()
        for leases, change, some in self.table.quiet_until(hosts, time, wanted):
            left = change - time
            value = score(leases, 1.0 if left >= wanted else left / wanted)
            found[value] = found.get(value, 0) | some
        best = list[int]()
        for value in sorted(found, reverse=True):
            best += numbers(found[value])
            if count is not None and len(best) >= count:
                break
        return best[:count]


def score(leases: int, quiet: float) -> float:
    """Return how good a host is, 0 to 1.

    Args:
        leases: on the host at the start.
        quiet: the share of the time asked for during which nothing changes on the host.

    The constant stands for a host's capacity, which Haizea never came to compare.
    """
    return 0.5 * ((_MANY - min(_MANY, leases)) / _MANY) + 0.25 * 1.0 + 0.25 * quiet
