"""Filling of hosts with tasks: hosts and GPUs for all nodes of a lease, and the time until which they are free."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from batsched_py.leases.capacity import Amounts, add
from batsched_py.leases.lease import Gpus, Lease
from batsched_py.leases.table import LeaseTable
from batsched_py.leases.task_columns import NO_GPUS, GpuNeed
from batsched_py.leases.timeline import NO_LEASES, HostTimeline

# Nodes that are alike are placed one after the other, on each host as many as fit, before the next host is tried: a
# host that has no room for one has none for its likes. So a lease of n tasks costs O(n + hosts) questions to timelines,
# and not O(n * hosts).
#
# The GPUs of a node are the same from its start to its end, and so they are chosen here, by what each has left at the
# worst moment of this time. Those that last are taken before those that do not, and then the tightest, as the queues
# do (`host_room.tightest_gpus`), so that whole ones stay free.


class FillSpan(NamedTuple):
    """The time for which hosts are sought.

    Attributes:
        start, end: seconds.
        strict: True if all hosts must be free until the end; otherwise the span may become shorter.
        without: ids of leases that are ignored.
    """

    start: float
    end: float
    strict: bool
    without: Collection[int] = NO_LEASES


class Filling(NamedTuple):
    """Node -> host, and node -> GPUs for nodes with any; the end of the time for which they are free."""

    nodes: dict[int, int]
    gpus: Gpus
    end: float


def fill_tasks(
    table: LeaseTable, lease: Lease, hosts: Sequence[int], span: FillSpan, stays: Mapping[int, int] | None = None
) -> Filling | None:
    """Return hosts for all nodes of a lease with needs, tried in the given order; None if there are too few.

    With `stays` each node has the host that it names, and only its GPUs are chosen.
    """
    filler = _Filler(table, lease, span)
    if not filler.license():
        return None
    if stays is not None:
        done = all(not filler.place([node], [host]) for node, host in sorted(stays.items()))
    else:
        done = all(not filler.place(alike, hosts) for alike in _alike(lease))
    return Filling(dict(sorted(filler.nodes.items())), filler.gpus or NO_GPUS, filler.end) if done else None


class _Filler:
    """The nodes of a lease that have been placed so far."""

    def __init__(self, table: LeaseTable, lease: Lease, span: FillSpan) -> None:
        assert lease.needs is not None  # noqa: S101  # the caller's promise
        self._table, self._lease, self._span, self._needs = table, lease, span, lease.needs
        self.nodes: dict[int, int] = {}
        self.gpus: dict[int, tuple[int, ...]] = {}
        self.end = span.end
        #: Host -> amounts of the nodes placed there; pairs of the job and the host of nodes to be spread.
        self._taken: dict[int, Amounts] = {}
        self._spread: set[tuple[int, int]] = set()

    def license(self) -> bool:
        """Return whether the licences of the lease are free."""
        return all(self._reach(self._table.lines[pool], amounts) for pool, amounts in self._needs.licences.items())

    def place(self, alike: Sequence[int], hosts: Sequence[int]) -> list[int]:
        """Place nodes with equal needs; return those for which there is no room."""
        waiting, suitable = list(alike[::-1]), self._lease.suitable
        for host in hosts:
            if suitable is not None and not suitable[waiting[-1]] >> host & 1:
                continue
            while waiting and self._place(waiting[-1], host):
                waiting.pop()
            if not waiting:
                break
        return waiting

    def _place(self, node: int, host: int) -> bool:
        job = self._needs.spread.get(node)
        if job is not None and (job, host) in self._spread:
            return False
        line, demand = self._table.lines[host], self._lease.demands[node - 1]
        taken, need = self._taken.get(host), self._needs.gpus.get(node)
        gpus: tuple[int, ...] = ()
        if need is not None:
            chosen = self._choose(line, need, taken)
            if chosen is None:
                return False
            gpus, demand = chosen, need.on(demand, chosen)
        together = demand if taken is None else add(taken, demand)
        if not self._reach(line, together):
            return False
        self._taken[host], self.nodes[node] = together, host
        if need is not None:
            self.gpus[node] = gpus
        if job is not None:
            self._spread.add((job, host))
        return True

    def _reach(self, line: HostTimeline, amounts: Amounts) -> bool:
        """Return whether amounts fit on a timeline for the span, which may become shorter."""
        until = line.fits_until(amounts, self._span.start, self._span.without)
        if until is None or (self._span.strict and until < self.end):
            return False
        self.end = min(self.end, until)
        return True

    def _choose(self, line: HostTimeline, need: GpuNeed, taken: Amounts | None) -> tuple[int, ...] | None:
        """Return GPUs for a node: those that are free longest, then those with the least left; None if too few."""
        numbers = range(len(line.capacity) - need.first)
        columns = [need.first + gpu for gpu in numbers]
        used = [0 if taken is None else taken[column] for column in columns]
        until, least = [math.inf for _ in numbers], [math.inf for _ in numbers]
        for begin, free in line.steps(self._span.start, self.end, self._span.without):
            for gpu in numbers:
                if until[gpu] < math.inf:
                    continue
                left = free[columns[gpu]] - used[gpu]  # type: ignore[operator]  # numbers
                if left < need.share:
                    until[gpu] = begin
                else:
                    least[gpu] = min(least[gpu], left)
        lasting = [(-min(until[gpu], self.end), least[gpu], gpu) for gpu in numbers if until[gpu] > self._span.start]
        if len(lasting) < need.number:
            return None
        return tuple(sorted(gpu for _, _, gpu in sorted(lasting)[: need.number]))


def _alike(lease: Lease) -> list[list[int]]:
    """Return the nodes in groups with equal needs: those with the fewest suitable hosts first."""
    assert lease.needs is not None  # noqa: S101  # the caller's promise
    needs, suitable = lease.needs, lease.suitable or {}
    nodes = sorted(lease.order, key=lambda node: suitable.get(node, 0).bit_count())  # the sort is stable

    def kind(node: int) -> tuple[object, ...]:
        return lease.demands[node - 1], needs.gpus.get(node), needs.spread.get(node), suitable.get(node)

    return [list(alike) for _, alike in groupby(nodes, kind)]
