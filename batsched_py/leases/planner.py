"""Planner: finds a run for one lease, with what leads to it and follows it (H27, H28)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from collections.abc import Mapping as Nodes
from typing import Final

from batsched_py.leases.lease import Lease, LeaseReservation, Run, Use
from batsched_py.leases.lifecycle import State
from batsched_py.leases.mapping import GreedyMapper, Mapping, Victims
from batsched_py.leases.overheads import Overheads
from batsched_py.leases.points import Point
from batsched_py.leases.settings import LeaseSettings
from batsched_py.leases.terms import Kind

#: Seconds by which sums of the same times may differ, added up in another order.
_ROUNDING: Final = 1e-6


class Planner:
    """Finds runs; what it finds is in no table yet.

    Attributes:
        mapper, overheads, settings: of the site.
    """

    def __init__(self, mapper: GreedyMapper, overheads: Overheads, settings: LeaseSettings) -> None:
        self.mapper, self.overheads, self.settings = mapper, overheads, settings

    def at(self, start: float, lease: Lease, victims: Victims) -> tuple[Run, tuple[Lease, ...]] | None:
        """Return a run of all of [start, start + duration), and who must give way for it; None if there is none."""
        mapping = self.mapper.find_with_victims(lease, start, self.end(lease, start), victims)
        return None if mapping is None else (self.exactly(lease, start, mapping.nodes), mapping.victims)

    def exactly(self, lease: Lease, start: float, nodes: Nodes[int, int]) -> Run:
        """Return the whole run of a lease on these hosts: node -> host."""
        end = self.end(lease, start)
        run = Run(lease, start, max(start, end - self.overheads.shutdown(lease)), nodes, lease.shares(nodes))
        run.after.append(self.shut_down(run, end))
        return run

    def end(self, lease: Lease, start: float) -> float:
        """Return when a lease that runs whole has freed its hosts; a reservation may be shut down within its time."""
        inside = self.settings.shutdown_inside and lease.kind is Kind.ADVANCE
        return start + lease.duration + (0.0 if inside else self.overheads.shutdown(lease))

    def as_soon_as_possible(self, lease: Lease, points: Iterable[Point], now: float) -> Run | None:
        """Return the first run that is found at these times; it may end in a suspension."""
        for time, hosts in self.mapper.possible(lease, points, stays=self._stays(lease)):
            run = self._at(lease, time, hosts, now)
            if run is not None:
                return run
        return None

    def cannot_start(self, lease: Lease, time: float) -> bool:
        """Return quickly whether there is certainly no room for a lease at a time."""
        return not any(self.mapper.possible(lease, [(time, None)], stays=self._stays(lease)))

    def shut_down(self, run: Run, end: float) -> LeaseReservation:
        """Return the reservation that ends a run for good."""
        return LeaseReservation(run.lease, Use.SHUTDOWN, run.end, end, nodes=run.nodes, shares=run.shares)

    def suspendable(self, lease: Lease) -> bool:
        """Return whether a lease may be suspended at all."""
        allowed = self.settings.suspension
        may = allowed == "all" or (allowed == "serial-only" and lease.size == 1)
        return may and lease.kind in (Kind.BEST_EFFORT, Kind.DEADLINE) and lease.repeatable

    def suspension(self, run: Run, time: float, now: float) -> list[LeaseReservation] | None:
        """Return what suspends a run by a time; None if that cannot be, or is not worth it."""
        lease = run.lease
        if run.start >= time or not self.suspendable(lease):
            return None
        steps = self.overheads.suspend(run, time)
        begin = steps[0].start
        suspension = time - begin
        if self.settings.estimates == "original":
            suspension = self.overheads.estimated_suspension(lease)
        least = self.overheads.threshold(lease, suspension, 0.0)
        return steps if time - run.start >= least and begin >= now and begin > run.start else None

    def _stays(self, lease: Lease) -> bool:
        """Return whether a lease can go on nowhere else than where it was suspended."""
        return self.settings.migration == "no" and lease.resuming

    def _cuttable(self, lease: Lease) -> bool:
        """Return whether a run may be planned shorter than asked for, to end in a suspension."""
        return lease.kind is Kind.BEST_EFFORT and self.suspendable(lease)

    def _at(self, lease: Lease, time: float, hosts: Collection[int] | None, now: float) -> Run | None:
        """Return a run at this time, if it lasts long enough."""
        overheads, resuming = self.overheads, lease.resuming
        shutdown = overheads.shutdown(lease)
        wanted = lease.unplanned + shutdown
        if resuming:
            wanted += overheads.estimated_resumption(lease)
        least = min(wanted, self._estimated_least(lease))
        mapping = self._map(lease, time, time + wanted, hosts, least)
        if mapping is None or (mapping.end < time + wanted and mapping.end - time < least):
            return None
        run = Run(lease, time, mapping.end, mapping.nodes, lease.shares(mapping.nodes))
        if resuming:
            moves = overheads.migrate(lease, mapping.nodes, now)
            if moves and moves[-1].end > time:
                return self._at(lease, moves[-1].end, hosts, now)
            run.before = [*moves, *overheads.resume(run, time)]
            run.start = run.before[-1].end
        needed = run.start + (lease.unplanned + shutdown)
        if mapping.end >= needed - _ROUNDING:
            end = min(needed, mapping.end)
            run.end = max(run.start, end - shutdown) if shutdown else end
            run.after = [self.shut_down(run, end)]
            return run
        return self._cut(run, time, mapping.end)

    def _estimated_least(self, lease: Lease) -> float:
        """Return the seconds that a cut lease must have, where that is judged before its hosts are known."""
        if self.settings.estimates == "exact":
            return 0.0
        resumption = self.overheads.estimated_resumption(lease) if lease.state is State.SUSPENDED_QUEUED else 0.0
        return self.overheads.threshold(lease, self.overheads.estimated_suspension(lease), resumption)

    def _cut(self, run: Run, time: float, end: float) -> Run | None:
        """Let a run be suspended by `end`; None if it would not last long enough, or not run at all."""
        if not self._cuttable(run.lease):
            return None
        run.after = self.overheads.suspend(run, end)
        run.end = run.after[0].start
        if self.settings.estimates == "exact":
            least = self.overheads.threshold(run.lease, end - run.end, run.start - time)
            if end - time < least:
                return None
        # With all its time the lease would be done, and there is no room to shut it down.
        return run if 0 < run.end - run.start < run.lease.unplanned else None

    def _map(
        self, lease: Lease, time: float, end: float, hosts: Collection[int] | None, least: float
    ) -> Mapping | None:
        if lease.resuming and not self.mapper.reaches(lease.memory_hosts.values()):
            return None  # its memory is on a host that is down
        strict = not self._cuttable(lease)
        if lease.resuming and self.settings.migration == "no":
            return self.mapper.find_on(lease, dict(sorted(lease.memory_hosts.items())), time, end, strict=strict)
        return self.mapper.find(lease, time, end, strict=strict, only=hosts, least=least - _ROUNDING)
