"""Mapping: which node of a lease goes to which host, for how long, and who gives way for it (H34, H58, H59)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from batsched_py.leases.capacity import Amounts, add, fits
from batsched_py.leases.lease import Lease
from batsched_py.leases.policies.hosts import HostOrder
from batsched_py.leases.table import NOBODY, LeaseTable

#: Sorts leases that might give way to a lease at a time, the first to give way first; leaves out those that may not.
Victims = Callable[[Lease, Sequence[Lease], float], list[Lease]]


class Mapping(NamedTuple):
    """Hosts of nodes, node -> host, until when they are free, and leases that must give way for it."""

    nodes: dict[int, int]
    end: float
    victims: tuple[Lease, ...] = ()


class GreedyMapper:
    """Mapper that fills one host after the other, in the order of the policy.

    Haizea's greedy mapper: nodes by decreasing demand, as many on each host as fit; all nodes, or none.
    """

    def __init__(self, table: LeaseTable, order: HostOrder, *, drop_unneeded: bool = True) -> None:
        """Begin.

        Args:
            table: what is reserved.
            order: of the hosts.
            drop_unneeded: leave those alone whose hosts the mapping does not use after all.
        """
        self._table, self._order, self._drop_unneeded = table, order, drop_unneeded
        #: Demand -> whether no host has room for two of it.
        self._alone: dict[Amounts, bool] = {}

    def find(
        self, lease: Lease, start: float, end: float, *, strict: bool, only: Collection[int] | None = None
    ) -> Mapping | None:
        """Return hosts for [start, end), or None. Unless `strict` the end may be earlier than asked for."""
        hosts = self._candidates(lease, start, only)
        if hosts is None:
            return None
        ordered = self._order.sort(lease, hosts, start)
        if self._one_each(lease.demands[0]) and lease.uniform and not strict:
            chosen = ordered[: lease.size]
            if len(chosen) < lease.size:
                return None  # the policy has left hosts out
            untils = [self._table.hosts[host].fits_until(lease.demands[0], start) or start for host in chosen]
            return Mapping(dict(enumerate(chosen, 1)), min(end, *untils))
        return self._fill(lease, ordered, start, end, strict=strict)

    def order(self, lease: Lease, start: float) -> Sequence[int]:
        """Return all hosts, the best one for a lease that would start then first."""
        return self._order.sort(lease, range(len(self._table.hosts)), start)

    def find_among(self, lease: Lease, hosts: Sequence[int], start: float, end: float) -> Mapping | None:
        """Return hosts for all of [start, end), taken in this order; None if there are too few."""
        return self._fill(lease, hosts, start, end, strict=True)

    def find_with_victims(self, lease: Lease, start: float, end: float, victims: Victims) -> Mapping | None:
        """Return hosts for all of [start, end), with as few victims as possible taken one by one; None if too few."""
        found = self.find(lease, start, end, strict=True)
        if found is not None:
            return found
        hosts = self._order.sort(lease, range(len(self._table.hosts)), start)
        chosen = list[Lease]()
        for victim in victims(lease, self._table.leases_between(start, end), start):
            chosen.append(victim)
            found = self._fill(lease, hosts, start, end, strict=True, without={one.id for one in chosen})
            if found is not None:
                used = set(found.nodes.values())
                if self._drop_unneeded:
                    there = {one.id for host in used for one in self._table.hosts[host].leases_between(start, end)}
                    chosen = [one for one in chosen if one.id in there]
                return found._replace(victims=tuple(chosen))
        return None

    def find_on(self, lease: Lease, nodes: dict[int, int], start: float, end: float, *, strict: bool) -> Mapping | None:
        """Return a mapping to these very hosts, as after a suspension without migration (H40)."""
        for host, share in lease.shares(nodes).items():
            until = self._table.hosts[host].fits_until(share, start)
            if until is None or (strict and until < end):
                return None
            end = min(end, until)
        return Mapping(nodes, end)

    def reaches(self, hosts: Iterable[int]) -> bool:
        """Return whether none of these hosts is down."""
        return self._table.down.isdisjoint(hosts)

    def has_no_room(self, lease: Lease, time: float, *, stays: bool) -> bool:
        """Return quickly whether a lease certainly cannot start at a time; if it `stays`, on the hosts where it was."""
        demand = lease.demands[0]
        if not (lease.uniform and self._one_each(demand)):
            return False
        room = self._table.fitting(demand, time)
        return not room.issuperset(lease.location.values()) if stays else len(room) < lease.size

    def _candidates(self, lease: Lease, start: float, only: Collection[int] | None) -> Collection[int] | None:
        """Return the hosts that have room for a node at the start, None if there are too few of them."""
        hosts: Collection[int] = self._table.fitting(lease.demands[0], start)
        if not lease.uniform:
            hosts = set(hosts).union(*(self._table.fitting(demand, start) for demand in set(lease.demands)))
        if only is not None:
            hosts = [host for host in hosts if host in only]
        if len(hosts) < lease.size and (not hosts or (lease.uniform and self._one_each(lease.demands[0]))):
            return None
        return hosts

    def _one_each(self, demand: Amounts) -> bool:
        """Return whether no host has room for two nodes with this demand."""
        known = self._alone.get(demand)
        if known is None:
            pair = add(demand, demand)
            known = self._alone[demand] = not any(fits(pair, host.capacity) for host in self._table.hosts)
        return known

    def _fill(
        self,
        lease: Lease,
        hosts: Sequence[int],
        start: float,
        end: float,
        *,
        strict: bool,
        without: Collection[int] = NOBODY,
    ) -> Mapping | None:
        nodes: dict[int, int] = {}
        waiting = list(lease.order[::-1])
        for host in hosts:
            timeline = self._table.hosts[host]
            together = lease.demands[waiting[-1] - 1]
            while True:
                until = timeline.fits_until(together, start, without)
                if until is None or (strict and until < end):
                    break
                end = min(end, until)
                nodes[waiting.pop()] = host
                if not waiting:
                    return Mapping(dict(sorted(nodes.items())), end)
                together = add(together, lease.demands[waiting[-1] - 1])
        return None
