"""Book of leases: the only place that adds, changes and removes reservations in the slot table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from batsched_py.leases.agenda import Agenda
from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun, Phase
from batsched_py.leases.lifecycle import SUSPENDED
from batsched_py.leases.observer import Observer
from batsched_py.leases.preparation.image_transfer import ImageTransfer, TransferSettings
from batsched_py.leases.preparation.images import Disks
from batsched_py.leases.preparation.unmanaged import Unmanaged
from batsched_py.leases.site import Site
from batsched_py.leases.table import LeaseTable
from batsched_py.leases.undo import Undo
from batsched_py.results.lease_rows import LeaseState, ReservationUse


class LeaseBook:
    """All reservations that are not over, and the preparation of hosts.

    Attributes:
        table: the slot table.
        agenda: the next begins and ends of reservations.
        preparation: the preparation of hosts.
        runs: the runs that are planned or under way.
    """

    def __init__(self, site: Site, transfers: TransferSettings | None, observer: Observer) -> None:
        """Begin with an empty table; `transfers` None disables preparation. The observer is notified of plans."""
        self.observer = observer
        self.table = LeaseTable(site.capacities, exclusive=site.exclusive, types=site.types, pool=site.pool)
        self.agenda = Agenda()
        self.runs: set[LeaseRun] = set()
        self.preparation = (
            Unmanaged(Disks(None))
            if transfers is None
            else ImageTransfer(transfers, len(site.capacities), self._move_transfer)
        )

    def commit(self, lease: Lease, run: LeaseRun, now: float) -> bool:
        """Add a run with its preparation; if that cannot be over in time, return False and change nothing."""
        transfers = () if lease.resuming else self.preparation.prepare(lease, run, now)
        if transfers is None:
            return False
        self.put(lease, run, transfers, now)
        return True

    def put(self, lease: Lease, run: LeaseRun, transfers: Sequence[LeaseReservation], now: float) -> None:
        """Add a run with its transfers, notify the observer, and update the state of the lease."""
        lease.transfers += transfers
        for transfer in transfers:
            self._put(transfer)
        self.add(run)
        self.observer.planned(lease, run, now)
        if lease.state in SUSPENDED:
            lease.change(LeaseState.SUSPENDED_SCHEDULED, now)
            return
        lease.change(LeaseState.SCHEDULED, now)
        if self.preparation.ready(lease):
            lease.change(LeaseState.READY, now)

    def add(self, run: LeaseRun) -> None:
        """Add a run with its preceding and following reservations, as the last run of its lease."""
        run.lease.runs.append(run)
        self.runs.add(run)
        for reservation in run.all():
            reservation.run = run
            self._put(reservation)

    def lift(self, run: LeaseRun) -> None:
        """Remove a run with its preceding and following reservations."""
        run.lease.runs.remove(run)
        for reservation in run.all():
            self.remove(reservation)

    def take_back(self, lease: Lease, now: float) -> LeaseRun:
        """Remove the last run of a lease and its preparation, notify the observer, and return the run."""
        self.forget_preparation(lease, now)
        run = lease.runs[-1]
        self.lift(run)
        self.observer.taken_back(run, now)
        return run

    def drop(self, lease: Lease, now: float) -> None:
        """Remove all reservations of a lease that will not continue; those under way end now."""
        self.forget_preparation(lease, now)
        for run in list(lease.runs):
            if not run.begun:
                self.lift(run)
                continue
            for one in run.all():
                self._stop(one, now)

    def forget_preparation(self, lease: Lease, now: float) -> None:
        """Undo the preparation of hosts for a lease."""
        for transfer in self.preparation.cancel(lease, now):
            self._stop(transfer, now)

    def _stop(self, reservation: LeaseReservation, now: float) -> None:
        """Remove a reservation; if it is under way, it ends now."""
        under_way = reservation.phase is Phase.UNDER_WAY
        self.remove(reservation)
        if under_way:
            reservation.end = now
            self.observer.finished(reservation, now)

    def cut(self, run: LeaseRun, end: float, after: list[LeaseReservation]) -> None:
        """Shorten a run, replace its following reservations, and notify the observer."""
        self.shorten(run, end, after)
        self.observer.cut(run)

    def shorten(self, run: LeaseRun, end: float, after: list[LeaseReservation]) -> None:
        """Shorten a run and replace its following reservations; observers are not notified."""
        for following in run.after:
            self.remove(following)
        self.table.remove(run)
        run.end, run.after = end, after
        self.table.add(run)
        self.agenda.note(run)
        for following in after:
            following.run = run
            self._put(following)

    def remove(self, reservation: LeaseReservation) -> None:
        """Remove a reservation, unless it is over."""
        if reservation.phase is not Phase.OVER:
            self.table.remove(reservation)
            reservation.phase = Phase.OVER
            if isinstance(reservation, LeaseRun):
                self.runs.discard(reservation)

    def undo(self) -> Undo:
        """Return an Undo, which can restore the current runs of leases."""
        return Undo(self.table, self.runs)

    def frees_after(self, time: float, latest: float = math.inf) -> list[float]:
        """Return the times in (time, latest] at which hosts become free, in ascending order."""
        ends = {one.end for one in self.agenda.in_use(ReservationUse.SHUTDOWN) if time < one.end <= latest}
        for run in self.runs:
            end = run.after[-1].end if run.after else run.end
            if end <= latest and (run.end > time or (end > time and not run.suspends)):
                ends.add(end)
        return sorted(ends)

    def _put(self, reservation: LeaseReservation) -> None:
        reservation.phase = Phase.PLANNED  # it may have been removed before
        self.table.add(reservation)
        self.agenda.note(reservation)

    def _move_transfer(self, transfer: LeaseReservation, start: float) -> None:
        """Move a planned transfer to another start."""
        self.table.remove(transfer)
        transfer.start, transfer.end = start, start + (transfer.end - transfer.start)
        self._put(transfer)
