"""Planner: finds a run for one lease, with its preceding and following reservations (H27, H28)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun
from batsched_py.leases.mapping import GreedyMapper, Mapping, RoomNeed, Victims
from batsched_py.leases.overheads import Overheads
from batsched_py.leases.points import Point
from batsched_py.leases.settings import LeaseSettings
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import LeaseState, ReservationUse

# A run is found by trying starts in ascending order, and the first that works is taken. Starts are given by the caller:
# those at which hosts are prepared, then the ends of other runs, because nothing becomes possible between two ends. A
# test by bits rules out a start in 2 us (`GreedyMapper.possible`); a mapping is made only if it does not. A window
# search from the ends, as in `planning.future`, was not built: leases try a few starts before their own place only (ADR
# 27).
#
# The planner keeps nothing between calls and changes no table. Callers book the run that it finds or drop it, so that a
# search alone needs no undo.
#
# What is the same at all starts is computed once for each lease (`_Wish`), and only when a first start passes the test.
# What a suspension or resumption takes depends on the mapping, and whether a mapping is long enough depends on that:
# either Haizea's estimate is used before the hosts are known (H39, which grows with the square of the nodes), or the
# exact times afterwards (`estimates`).
#
# Times are sums of the same durations in different orders, so lengths are compared with `_ROUNDING` to spare; without
# it a lease that fits exactly between two others would be refused, or cut by a suspension, for the last bit.

#: Tolerance in seconds for the rounding of sums in different orders.
_ROUNDING: Final = 1e-6


class _Wish(NamedTuple):
    """A lease to run as soon as possible, with the values that do not depend on the time.

    Attributes:
        needed: seconds of its remaining duration and shutdown.
        longest: `needed` plus the estimated resumption, in seconds.
        least: the shortest useful allocation in seconds.
        shutdown: seconds of its shutdown.
        resuming: True if it was suspended.
        cuttable: True if its run may end in a suspension.
        place: node -> host where it must resume; None if it may run anywhere.
    """

    lease: Lease
    needed: float
    longest: float
    least: float
    shutdown: float
    resuming: bool
    cuttable: bool
    place: dict[int, int] | None


class Planner:
    """The search for runs; it does not change the slot table.

    Attributes:
        mapper, overheads, settings: those of the site.
    """

    def __init__(self, mapper: GreedyMapper, overheads: Overheads, settings: LeaseSettings) -> None:
        self.mapper, self.overheads, self.settings = mapper, overheads, settings

    def at(self, start: float, lease: Lease, victims: Victims) -> tuple[LeaseRun, tuple[Lease, ...]] | None:
        """Return a run for [start, start + duration), and the leases to preempt for it; None if there is none."""
        mapping = self.mapper.find_with_victims(lease, start, self.end(lease, start), victims)
        return None if mapping is None else (self.exactly(lease, start, mapping), mapping.victims)

    def exactly(self, lease: Lease, start: float, mapping: Mapping) -> LeaseRun:
        """Return a run of the whole remaining duration of a lease on the hosts of a mapping."""
        end = self.end(lease, start)
        last = max(start, end - self.overheads.shutdown(lease))
        run = LeaseRun(lease, start, last, mapping.nodes, mapping.gpus)
        run.after.append(self.shut_down(run, end))
        return run

    def end(self, lease: Lease, start: float) -> float:
        """Return when a lease that starts at `start` and is not suspended frees its hosts, shutdown included."""
        inside = self.settings.shutdown_inside and lease.kind is LeaseKind.ADVANCE
        return start + lease.duration + (0.0 if inside else self.overheads.shutdown(lease))

    def as_soon_as_possible(self, lease: Lease, points: Iterable[Point], now: float) -> LeaseRun | None:
        """Return the first run found at the given times, which may end in a suspension; None if there is none."""
        if lease.resuming and not self.mapper.reaches(lease.memory_hosts.values()):
            return None  # its memory is on a host that is down
        wish: _Wish | None = None
        for time, hosts in self.mapper.possible(lease, points, stays=self._stays(lease)):
            wish = wish or self._wish(lease)
            run = self._at(wish, time, hosts, now)
            if run is not None:
                return run
        return None

    def cannot_start(self, lease: Lease, time: float) -> bool:
        """Return True if a quick test shows that there is no room for a lease at a time."""
        return not any(self.mapper.possible(lease, [(time, None)], stays=self._stays(lease)))

    def need(self, lease: Lease) -> RoomNeed | None:
        """Return what a lease needs to pass the test of `cannot_start`; None if it always does."""
        return self.mapper.need(lease, stays=self._stays(lease))

    def shut_down(self, run: LeaseRun, end: float) -> LeaseReservation:
        """Return the reservation of the shutdown after a run."""
        return LeaseReservation(run.lease, ReservationUse.SHUTDOWN, run.end, end, nodes=run.nodes, shares=run.shares)

    def suspendable(self, lease: Lease) -> bool:
        """Return whether the settings allow a lease to be suspended."""
        allowed = self.settings.suspension
        may = allowed == "all" or (allowed == "serial-only" and lease.size == 1)
        return may and lease.kind in (LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE) and lease.repeatable

    def suspension(self, run: LeaseRun, time: float, now: float) -> list[LeaseReservation] | None:
        """Return the reservations that suspend a run by a time; None if impossible, or if it would run too briefly."""
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
        """Return whether a suspended lease can resume only on its former hosts."""
        return self.settings.migration == "no" and lease.resuming

    def _cuttable(self, lease: Lease) -> bool:
        """Return whether a run may be shorter than the remaining duration and end in a suspension."""
        kept = self.settings.honour_preemptible and not lease.preemptible
        return lease.kind is LeaseKind.BEST_EFFORT and not kept and self.suspendable(lease)

    def _wish(self, lease: Lease) -> _Wish:
        shutdown, resuming = self.overheads.shutdown(lease), lease.resuming
        needed = lease.unplanned + shutdown
        longest = needed + self.overheads.estimated_resumption(lease) if resuming else needed
        cuttable = self._cuttable(lease)
        least = min(longest, self._estimated_least(lease)) if cuttable else longest
        place = dict(sorted(lease.memory_hosts.items())) if self._stays(lease) else None
        return _Wish(lease, needed, longest, least, shutdown, resuming, cuttable, place)

    def _at(self, wish: _Wish, time: float, hosts: Collection[int] | None, now: float) -> LeaseRun | None:
        """Return a run at this time; None if it would be too short."""
        lease, asked = wish.lease, time + wish.longest
        if wish.place is None:
            least = wish.least - _ROUNDING
            mapping = self.mapper.find(lease, time, asked, strict=not wish.cuttable, only=hosts, least=least)
        else:
            mapping = self.mapper.find_on(lease, wish.place, time, asked, strict=not wish.cuttable)
        if mapping is None or (mapping.end < asked and mapping.end - time < wish.least):
            return None
        run = LeaseRun(lease, time, mapping.end, mapping.nodes, mapping.gpus)
        if wish.resuming:
            moves = self.overheads.migrate(lease, mapping.nodes, now)
            if moves and moves[-1].end > time:
                return self._at(wish, moves[-1].end, hosts, now)
            run.before = [*moves, *self.overheads.resume(run, time)]
            run.start = run.before[-1].end
        needed = run.start + wish.needed
        if mapping.end >= needed - _ROUNDING:
            end = min(needed, mapping.end)
            run.end = max(run.start, end - wish.shutdown) if wish.shutdown else end
            run.after = [self.shut_down(run, end)]
            return run
        return self._cut(run, time, mapping.end) if wish.cuttable else None

    def _estimated_least(self, lease: Lease) -> float:
        """Return the shortest duration of a cut lease in seconds, estimated before its hosts are known."""
        if self.settings.estimates == "exact":
            return 0.0
        resumption = self.overheads.estimated_resumption(lease) if lease.state is LeaseState.SUSPENDED_QUEUED else 0.0
        return self.overheads.threshold(lease, self.overheads.estimated_suspension(lease), resumption)

    def _cut(self, run: LeaseRun, time: float, end: float) -> LeaseRun | None:
        """Return the run shortened to be suspended by `end`; None if it would be too short."""
        run.after = self.overheads.suspend(run, end)
        run.end = run.after[0].start
        if self.settings.estimates == "exact":
            least = self.overheads.threshold(run.lease, end - run.end, run.start - time)
            if end - time < least:
                return None
        # With all its time the lease would be done, and there is no room to shut it down.
        return run if 0 < run.end - run.start < run.lease.unplanned else None
