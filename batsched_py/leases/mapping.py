"""Mapping of a lease's nodes to hosts, with the leases to preempt for it (H34, H58, H59)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from batsched_py.bits import bits_of
from batsched_py.leases.capacity import Amounts, add, fits
from batsched_py.leases.lease import Gpus, Lease
from batsched_py.leases.points import Point
from batsched_py.leases.policies.hosts import HostOrder
from batsched_py.leases.table import LeaseTable
from batsched_py.leases.task_columns import NO_GPUS
from batsched_py.leases.task_filling import FillSpan, fill_tasks
from batsched_py.leases.timeline import NO_LEASES

# Two ways lead to a mapping. If all nodes are alike and no host has room for two of them, a mapping is a choice of
# hosts: the hosts that last are one integer, and the policy picks from it. All other leases are filled host by host by
# their timelines, which costs a call for each host (`_fill`).
#
# Victims are taken one by one, the first to give way first, until the lease fits without them; those whose hosts are
# not used after all are left out at the end. That is Haizea's way and finds a small set, not the smallest one: to find
# that is a covering problem, which is NP-hard.
#
# The mapper keeps no state but `_alone`, which depends on the capacities of the site. Cost: O(victims * hosts)
# questions at worst, one operation on bits in the usual case.

#: Given a lease, candidates and a time: returns the candidates that the lease may preempt, in the order to try.
Victims = Callable[[Lease, Sequence[Lease], float], list[Lease]]


class Mapping(NamedTuple):
    """The hosts of nodes (node -> host), the time until which they are free, and the leases to preempt for it.

    `gpus` are the numbers of the GPUs of nodes (node -> GPUs), only for nodes with any.
    """

    nodes: dict[int, int]
    end: float
    victims: tuple[Lease, ...] = ()
    gpus: Gpus = NO_GPUS


class RoomNeed(NamedTuple):
    """A need for room: at least `least` of these hosts, as bits, must have room for a demand."""

    demand: Amounts
    hosts: int
    least: int


#: The mapping of no nodes.
NO_NODES: Final = Mapping({}, math.inf)


class GreedyMapper:
    """A mapper that fills hosts one after the other, in the order of the host selection policy.

    Haizea's greedy mapper: nodes by decreasing demand, as many on each host as fit; all nodes or none.
    """

    def __init__(self, table: LeaseTable, order: HostOrder, *, drop_unneeded: bool = True) -> None:
        """Create a mapper.

        Args:
            table: the slot table.
            order: the host selection policy.
            drop_unneeded: True to spare victims whose hosts the mapping does not use.
        """
        self._table, self._order, self._drop_unneeded = table, order, drop_unneeded
        #: Demand -> True if no host has room for two nodes with it.
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
        """Return a mapping for [start, end), or None; without `strict` it may end earlier.

        Hosts that are free for less than `least` seconds are not considered.
        """
        hosts = self._candidates(lease, start, only)
        if hosts is None:
            return None
        demand = lease.demands[0]
        if lease.suitable is not None or lease.needs is not None or not (lease.uniform and self._one_each(demand)):
            return self._fill(lease, self._order.sort(lease, hosts, start), start, end, strict=strict)
        lasting = hosts & self._table.room_during(demand, start, end if strict else start + max(least, 0.0))
        if lasting.bit_count() < lease.size:
            return None
        if strict:
            hosts = lasting
        chosen = self._order.sort(lease, hosts, start, lease.size)
        if len(chosen) < lease.size:
            return None  # the policy excludes hosts
        until = end if strict else min(end, self._table.fits_until(bits_of(chosen), demand, start))
        return Mapping(dict(enumerate(chosen, 1)), until)

    def order(self, lease: Lease, start: float) -> Sequence[int]:
        """Return all hosts in the policy's order for a lease that starts at `start`."""
        return self._order.sort(lease, self._table.everywhere, start)

    def find_among(self, lease: Lease, hosts: Sequence[int], start: float, end: float) -> Mapping | None:
        """Return a mapping to hosts for all of [start, end), tried in the given order; None if there are too few."""
        return self._fill(lease, hosts, start, end, strict=True)

    def find_with_victims(self, lease: Lease, start: float, end: float, victims: Victims) -> Mapping | None:
        """Return a mapping for all of [start, end), with victims added one by one; None if all are not enough."""
        found = self.find(lease, start, end, strict=True)
        if found is not None:
            return found
        hosts = self._order.sort(lease, self._table.everywhere, start)
        chosen = list[Lease]()
        for victim in victims(lease, self._table.leases_between(start, end), start):
            chosen.append(victim)
            found = self._fill(lease, hosts, start, end, strict=True, without={one.id for one in chosen})
            if found is not None:
                used = self.used(lease, found)
                if self._drop_unneeded:
                    there = {one.id for host in used for one in self._table.lines[host].leases_between(start, end)}
                    chosen = [one for one in chosen if one.id in there]
                return found._replace(victims=tuple(chosen))
        return None

    def find_on(self, lease: Lease, nodes: dict[int, int], start: float, end: float, *, strict: bool) -> Mapping | None:
        """Return a mapping to the given hosts, for a resumption without migration (H40); None if they are not free."""
        if lease.needs is not None:
            return self._fill_tasks(lease, (), FillSpan(start, end, strict=strict), nodes)
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

    def used(self, lease: Lease, mapping: Mapping) -> set[int]:
        """Return the timelines that a mapping of a lease concerns: those of its hosts, and that of licences."""
        hosts = set(mapping.nodes.values())
        return hosts if lease.needs is None else hosts | lease.needs.licences.keys()

    def reaches(self, hosts: Iterable[int]) -> bool:
        """Return True if none of these hosts is down."""
        return self._table.down.isdisjoint(hosts)

    def need(self, lease: Lease, *, stays: bool) -> RoomNeed | None:
        """Return what a lease needs to start at all; if it `stays`, on the hosts with its memory. None if unknown."""
        demand = lease.demands[0]
        if not (lease.uniform and self._one_each(demand)):
            return None
        if not stays:
            return RoomNeed(demand, self._table.everywhere, lease.size)
        wanted = bits_of(lease.memory_hosts.values())
        return RoomNeed(demand, wanted, wanted.bit_count())

    def possible(self, lease: Lease, points: Iterable[Point], *, stays: bool) -> Iterator[Point]:
        """Filter times by a quick test of whether a lease might start."""
        need = self.need(lease, stays=stays)
        return iter(points) if need is None else self._table.roomy(need.demand, points, need.hosts, need.least)

    def _candidates(self, lease: Lease, start: float, only: Collection[int] | None) -> int | None:
        """Return the hosts with room for a node at the start; None if there are certainly too few."""
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
        """Return True if no host has room for two nodes with this demand."""
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
        without: Collection[int] = NO_LEASES,
    ) -> Mapping | None:
        if lease.needs is not None:
            return self._fill_tasks(lease, hosts, FillSpan(start, end, strict=strict, without=without))
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

    def _fill_tasks(
        self, lease: Lease, hosts: Sequence[int], span: FillSpan, stays: dict[int, int] | None = None
    ) -> Mapping | None:
        found = fill_tasks(self._table, lease, hosts, span, stays)
        return None if found is None else Mapping(found.nodes, found.end, gpus=found.gpus)

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
        """Map nodes with restricted hosts: those with the fewest suitable hosts first, ties by decreasing demand."""
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
