"""Host selection policies: the order in which hosts are tried for a lease (H58)."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.leases.lease import Lease
from batsched_py.leases.table import LeaseTable, numbers

#: The number of leases from which the score treats a host as full.
_MANY = 4


class HostOrder:
    """The policy that orders hosts by number, Haizea's `no-policy`, and the base class of others.

    Args:
        table: the slot table.

    Attributes:
        total: True if the policy excludes no host.
    """

    total = True

    def __init__(self, table: LeaseTable) -> None:
        self.table = table

    def sort(self, lease: Lease, hosts: int, time: float, count: int | None = None) -> Sequence[int]:  # noqa: ARG002
        """Return the numbers of hosts, the best for a lease that starts at `time` first; ties by number.

        With `count`, return the first `count` of them.
        """
        return numbers(hosts)[:count]


class GreedyHosts(HostOrder):
    """The policy that prefers hosts with few leases and without changes during the requested duration."""

    def sort(self, lease: Lease, hosts: int, time: float, count: int | None = None) -> Sequence[int]:
        """Return the hosts by decreasing score."""
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
    """Return the score of a host, from 0 to 1.

    Args:
        leases: the number of leases on the host at the start.
        quiet: the share of the requested duration before the next change on the host.

    The constant 0.25 replaces the score of the host's capacity, which Haizea does not implement.
    """
    return 0.5 * ((_MANY - min(_MANY, leases)) / _MANY) + 0.25 * 1.0 + 0.25 * quiet
