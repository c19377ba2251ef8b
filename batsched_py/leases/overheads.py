"""Overheads of a lease: durations of suspension, resumption, migration and shutdown under given settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from batsched_py.addition import add_up
from batsched_py.leases.capacity import Amounts, total
from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun
from batsched_py.leases.settings import LeaseSettings
from batsched_py.leases.suspension import Step, Steps, backward, forward, memory_time, move_groups, steps, transfer_time
from batsched_py.results.lease_rows import ReservationUse

#: The largest number of cached estimates, and of cached steps.
_MOST_KEPT: Final = 4096


class Overheads:
    """Times and reservations of the operations around a run.

    Args:
        settings: rates and rules.
        memory: the index of memory among the site's resource types.
        preparation: returns the seconds for the preparation of a lease's hosts before its first run.
    """

    def __init__(
        self, settings: LeaseSettings, memory: int, preparation: Callable[[Lease], float] = lambda _: 0.0
    ) -> None:
        self._settings, self._memory, self._preparation = settings, memory, preparation
        #: Lease, rate and override -> estimated seconds of a suspension or resumption on unknown hosts.
        self._estimates: dict[tuple[int, float, float | None], float] = {}
        #: Lease, rate, override, and nodes with their hosts -> steps of a suspension or resumption there.
        self._known_steps: dict[tuple[int, float, float | None, tuple[tuple[int, int], ...]], Steps] = {}

    def shutdown(self, lease: Lease) -> float:
        """Return the seconds from the end of a run until its hosts are free (H42)."""
        return self._settings.shutdown_time + self._settings.enactment_overhead * lease.size

    def estimated_suspension(self, lease: Lease) -> float:
        """Return the estimated seconds of a suspension on unknown hosts."""
        return self._estimate(lease, self._settings.suspend_rate, self._settings.override_suspend)

    def estimated_resumption(self, lease: Lease) -> float:
        """Return the estimated seconds of a resumption on unknown hosts."""
        return self._estimate(lease, self._settings.resume_rate, self._settings.override_resume)

    def suspension(self, lease: Lease, nodes: Mapping[int, int], end: float) -> list[Step]:
        """Return the steps of a suspension that ends at `end`, in order of time."""
        settings = self._settings
        return backward(self._steps(lease, nodes, settings.suspend_rate, settings.override_suspend), end)

    def resumption(self, lease: Lease, nodes: Mapping[int, int], start: float) -> list[Step]:
        """Return the steps of a resumption that begins at `start`, in order of time."""
        settings = self._settings
        return forward(self._steps(lease, nodes, settings.resume_rate, settings.override_resume), start)

    def suspend(self, run: LeaseRun, end: float) -> list[LeaseReservation]:
        """Return the reservations of a suspension of a run that ends at `end`."""
        return self._reservations(run, ReservationUse.SUSPEND, self.suspension(run.lease, run.nodes, end))

    def resume(self, run: LeaseRun, start: float) -> list[LeaseReservation]:
        """Return the reservations of a resumption before a run, from `start` on."""
        return self._reservations(run, ReservationUse.RESUME, self.resumption(run.lease, run.nodes, start))

    def threshold(self, lease: Lease, suspension: float, resumption: float) -> float:
        """Return the shortest allowed duration of a cut allocation in seconds, operations included (H41, H98)."""
        if self._settings.forced_threshold is not None:
            return self._settings.forced_threshold
        overhead = suspension + resumption
        prepared = self._settings.threshold_includes_preparation and not (lease.resuming or lease.accumulated)
        work = overhead + self._preparation(lease) if prepared else overhead
        return overhead + work * self._settings.threshold_factor

    def estimated_migration(self, lease: Lease) -> float:
        """Return the estimated seconds of a migration of all machines of a suspended lease to unknown hosts (H43)."""
        if self._settings.migration != "yes":
            return 0.0
        return self._largest(lease, self.node_memory) + self._largest(lease, _image_size)

    def migrate(self, lease: Lease, nodes: Mapping[int, int], now: float) -> list[LeaseReservation]:
        """Return the reservations of a migration from the hosts of the last run: images, then memory."""
        origin = lease.memory_hosts
        if nodes == origin or self._settings.migration == "no":
            return []
        moves = {node: (origin[node], host) for node, host in nodes.items()}
        sizes = [(ReservationUse.MIGRATE_DISK, _image_size)] if lease.software is not None else []
        found, time = list[LeaseReservation](), max(lease.runs[-1].final_end, now)
        for use, size in [*sizes, (ReservationUse.MIGRATE_MEMORY, self.node_memory)]:
            if self._settings.migration == "yes-notransfer":
                found.append(LeaseReservation(lease, use, time, time, nodes=dict(nodes), shares={}))
                continue
            for group in move_groups(moves):
                largest = max(size(lease, node) for node in group)
                end = time + transfer_time(largest, self._settings.migration_bandwidth)
                targets = {node: target for node, (_, target) in group.items()}
                hosts = {host for pair in group.values() for host in pair}
                found.append(LeaseReservation(lease, use, time, end, nodes=targets, shares=lease.presence(hosts)))
                time = end
        return found

    def node_memory(self, lease: Lease, node: int) -> float:
        """Return the memory of a node in MB."""
        return total(lease.demands[node - 1][self._memory])

    def _largest(self, lease: Lease, size: Callable[[Lease, int], float]) -> float:
        """Return the seconds to transfer all data of the host of the last run that has most."""
        loads: dict[int, float] = {}
        for node, host in lease.memory_hosts.items():
            loads[host] = loads.get(host, 0.0) + size(lease, node)
        return transfer_time(max(loads.values()), self._settings.migration_bandwidth)

    def _times(self, lease: Lease, rate: float, override: float | None) -> dict[int, float]:
        nodes = range(1, lease.size + 1)
        return {node: memory_time(self.node_memory(lease, node), rate, override) for node in nodes}

    def _steps(self, lease: Lease, nodes: Mapping[int, int], rate: float, override: float | None) -> Steps:
        """Return the steps of an operation on all nodes; cached, as leases are often replanned on the same hosts."""
        key = lease.id, rate, override, tuple(nodes.items())
        known = self._known_steps.get(key)
        if known is None:
            if len(self._known_steps) >= _MOST_KEPT:
                self._known_steps.clear()
            times, settings = self._times(lease, rate, override), self._settings
            known = self._known_steps[key] = steps(nodes, times, settings.exclusion, settings.enactment_overhead)
        return known

    def _estimate(self, lease: Lease, rate: float, override: float | None) -> float:
        key = lease.id, rate, override
        known = self._estimates.get(key)
        if known is None:
            if len(self._estimates) >= _MOST_KEPT:
                self._estimates.clear()
            known = self._estimates[key] = self._estimate_anew(lease, rate, override)
        return known

    def _estimate_anew(self, lease: Lease, rate: float, override: float | None) -> float:
        settings = self._settings
        if settings.estimates == "original" and override is None:
            memory = sum(self.node_memory(lease, node) for node in range(1, lease.size + 1))
            return lease.size * (math.ceil(memory / rate) + settings.enactment_overhead)
        times = self._times(lease, rate, override)
        return add_up(times.values()) + lease.size * settings.enactment_overhead

    def _reservations(self, run: LeaseRun, use: ReservationUse, found: list[Step]) -> list[LeaseReservation]:
        return [
            LeaseReservation(
                run.lease,
                use,
                step.start,
                step.end,
                nodes=step.nodes,
                shares=self._shares(run, step.nodes),
            )
            for step in found
        ]

    def _shares(self, run: LeaseRun, nodes: Mapping[int, int]) -> Mapping[int, Amounts]:
        """Return the demand of machines on their hosts while they are suspended or resumed."""
        lease = run.lease
        if self._settings.hold_cpu:
            return lease.shares(nodes, run.gpus)
        found: dict[int, Amounts] = {}
        for host in set(nodes.values()):
            there = [node for node, on in nodes.items() if on == host]
            memory = len(there) * sum(self.node_memory(lease, node) for node in there)
            amounts: list[float] = [0.0] * len(lease.demands[0])
            amounts[self._memory] = memory
            found[host] = tuple(amounts)
        return found


def _image_size(lease: Lease, _node: int) -> float:
    return lease.software.size if lease.software is not None else 0.0
