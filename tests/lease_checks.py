"""Checks of a scheduler of leases at every instant: what must hold whatever is requested."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

from batsched_py.leases.capacity import add, fits
from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun, Phase
from batsched_py.leases.observer import LeaseSchedule, Observer
from batsched_py.leases.scheduler import LeaseScheduler
from batsched_py.leases.table import LeaseTable


def plans(scheduler: LeaseSchedule) -> list[tuple[object, ...]]:
    """All that is planned or under way, lease by lease, in order of time."""
    return [
        (lease.id, one.use, one.start, one.end, tuple(sorted(one.nodes.items())), one.phase, one.order)
        for lease in scheduler.leases.values()
        for run in lease.runs
        for one in run.all()
        if one.phase is not Phase.OVER
    ]


def free(table: LeaseTable) -> list[list[tuple[float, object]]]:
    """Return the free amounts of each host, step by step."""
    found = []
    for host in table.hosts:
        time, steps = -1.0, list[tuple[float, object]]()
        while time != float("inf"):
            steps.append((time, host.free_at(time)))
            time = host.next_change(time)
        found.append(steps)
    return found


class Checks(Observer):
    """An observer for which an impossible reservation is an error, and to which plans are told without a gap."""

    def __init__(self) -> None:
        #: Runs that are planned or under way, as they were told.
        self.told: list[LeaseRun] = []

    def planned(self, lease: Lease, run: LeaseRun, now: float) -> None:
        """Keep it."""
        assert run.first_start >= now
        assert run.lease is lease
        self.told.append(run)

    def taken_back(self, run: LeaseRun, now: float) -> None:
        """Keep it no more."""
        assert run.start <= max(now, run.start)
        self.told.remove(run)

    def finished(self, reservation: LeaseReservation, now: float) -> None:
        """Keep runs until they are over."""
        assert reservation.start <= now
        if isinstance(reservation, LeaseRun):
            self.told.remove(reservation)

    def ended(self, lease: Lease, now: float) -> None:
        """Forget runs that it needs no more."""
        del now
        self.told = [run for run in self.told if run.lease is not lease]

    def stepped(self, scheduler: LeaseSchedule, now: float) -> None:
        """Check the plans against the hosts, and against what was told."""
        runs = [run for lease in scheduler.leases.values() for run in lease.runs if run.phase is not Phase.OVER]
        assert sorted(map(id, runs)) == sorted(map(id, self.told))
        if isinstance(scheduler, LeaseScheduler):
            scheduler.check()
        check_capacity(
            [one for lease in scheduler.leases.values() for run in lease.runs for one in run.all()], scheduler
        )
        for lease in scheduler.leases.values():
            check_order(lease)


def check_capacity(reservations: list[LeaseReservation], scheduler: LeaseSchedule) -> None:
    """Assert that no host is asked for more than it has, by adding up all shares at each start."""
    open_ones = [one for one in reservations if one.phase is not Phase.OVER and one.start < one.end]
    for start in {one.start for one in open_ones}:
        there = [one for one in open_ones if one.start <= start < one.end]
        for host, capacity in enumerate(scheduler.site.capacities):
            shares = [one.shares[host] for one in there if host in one.shares]
            assert not shares or fits(reduce(add, shares), capacity), f"host {host} is overbooked at {start:g}: {there}"


def check_order(lease: Lease) -> None:
    """Assert that the reservations of a lease follow each other, and that its runs add up to no more than it asked."""
    # A run that was taken away while it was under way counts for nothing.
    ones = [one for run in lease.runs for one in run.all() if one.phase is not Phase.OVER]
    for one, other in pairwise(ones):
        assert one.end <= other.start or one.use is other.use, f"{one} overlaps {other}"
    assert lease.unplanned >= 0
