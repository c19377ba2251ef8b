"""Mapping: which node of a lease goes to which host, for how long, and who gives way for it (H34, H58, H59)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from batsched_py.bits import bits_of
from batsched_py.leases.capacity import Amounts, add, fits
from batsched_py.leases.lease import Lease
from batsched_py.leases.points import Point
from batsched_py.leases.policies.hosts import HostOrder
from batsched_py.leases.table import LeaseTable
from batsched_py.leases.timeline import NOBODY

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
        self,
        lease: Lease,
        start: float,
        end: float,
        *,
        strict: bool,
        only: Collection[int] | None = None,
        least: float = 0.0,
    ) -> Mapping | None:
        """Return hosts for [start, end), or None. Unless `strict` the end may be earlier than asked for.

        Hosts for fewer seconds than `least` are of no use, and may not be found.
        """
        hosts = self._candidates(lease, start, only)
        if hosts is None:
            return None
        demand = lease.demands[0]
        if lease.suitable is not None or not (lease.uniform and self._one_each(demand)):
            return self._fill(lease, self._order.sort(lease, hosts, start), start, end, strict=strict)
        lasting = hosts & self._table.room_during(demand, start, end if strict else start + max(least, 0.0))
        if lasting.bit_count() < lease.size:
            return None
        if strict:
            hosts = lasting
        chosen = self._order.sort(lease, hosts, start, lease.size)
        if len(chosen) < lease.size:
            return None  # the policy has left hosts out
        until = end if strict else min(end, self._table.fits_until(bits_of(chosen), demand, start))
        return Mapping(dict(enumerate(chosen, 1)), until)

    def order(self, lease: Lease, start: float) -> Sequence[int]:
        """Return all hosts, the best one for a lease that would start then first."""
        return self._order.sort(lease, self._table.everywhere, start)

    def find_among(self, lease: Lease, hosts: Sequence[int], start: float, end: float) -> Mapping | None:
        """Return hosts for all of [start, end), taken in this order; None if there are too few."""
        return self._fill(lease, hosts, start, end, strict=True)

    def find_with_victims(self, lease: Lease, start: float, end: float, victims: Victims) -> Mapping | None:
        """Return hosts for all of [start, end), with as few victims as possible taken one by one; None if too few."""
        found = self.find(lease, start, end, strict=True)
        if found is not None:
            return found
        hosts = self._order.sort(lease, self._table.everywhere, start)
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
        if lease.uniform and self._one_each(lease.demands[0]):
            hosts, demand = bits_of(nodes.values()), lease.demands[0]
            if hosts & ~self._table.room(demand, start):
                return None
            free = self._table.fits_until(hosts, demand, start)
            return None if strict and free < end else Mapping(nodes, min(end, free))
        for host, share in lease.shares(nodes).items():
            until = self._table.hosts[host].fits_until(share, start)
            if until is None or (strict and until < end):
                return None
            end = min(end, until)
        return Mapping(nodes, end)

    def reaches(self, hosts: Iterable[int]) -> bool:
        """Return whether none of these hosts is down."""
        return self._table.down.isdisjoint(hosts)

    def possible(self, lease: Lease, points: Iterable[Point], *, stays: bool) -> Iterator[Point]:
        """Iterate over times at which it is not certain that a lease cannot start; if it `stays`, where it was."""
        demand = lease.demands[0]
        if not (lease.uniform and self._one_each(demand)):
            return iter(points)
        if not stays:
            return self._table.roomy(demand, points, self._table.everywhere, lease.size)
        wanted = bits_of(lease.memory_hosts.values())
        return self._table.roomy(demand, points, wanted, wanted.bit_count())

    def _candidates(self, lease: Lease, start: float, only: Collection[int] | None) -> int | None:
        """Return the hosts that have room for a node at the start, None if there are too few of them."""
        hosts = self._table.room(lease.demands[0], start)
        if not lease.uniform:
            for demand in set(lease.demands):
                hosts |= self._table.room(demand, start)
        if only is not None:
            hosts &= bits_of(only)
        if hosts.bit_count() < lease.size and (not hosts or (lease.uniform and self._one_each(lease.demands[0]))):
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
        if lease.suitable is not None:
            return self._fill_suitable(lease, hosts, start, end, strict=strict, without=without)
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

    def _fill_suitable(
        self,
        lease: Lease,
        hosts: Sequence[int],
        start: float,
        end: float,
        *,
        strict: bool,
        without: Collection[int],
    ) -> Mapping | None:
        """Map nodes that may not be everywhere: whoever has the least choice first, then the most demanding one."""
        nodes: dict[int, int] = {}
        suitable = lease.suitable or {}
        taken: dict[int, Amounts] = {}
        for node in sorted(lease.order, key=lambda node: suitable[node].bit_count()):  # the sort is stable
            for host in hosts:
                if not suitable[node] >> host & 1 or (lease.apart and host in taken):
                    continue
                demand = lease.demands[node - 1]
                together = add(taken[host], demand) if host in taken else demand
                until = self._table.hosts[host].fits_until(together, start, without)
                if until is not None and not (strict and until < end):
                    nodes[node], taken[host], end = host, together, min(end, until)
                    break
            else:
                return None
        return Mapping(dict(sorted(nodes.items())), end)
