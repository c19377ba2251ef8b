"""Book of leases: puts reservations into the table, changes them and takes them away, whatever they are for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from batsched_py.leases.lease import Lease, LeaseReservation, Phase, Run, Use
from batsched_py.leases.lifecycle import SUSPENDED, State
from batsched_py.leases.observer import Observer
from batsched_py.leases.preparation.image_transfer import ImageTransfer, TransferSettings
from batsched_py.leases.preparation.images import Disks
from batsched_py.leases.preparation.unmanaged import Unmanaged
from batsched_py.leases.site import Site
from batsched_py.leases.table import LeaseTable
from batsched_py.leases.undo import Undo
from batsched_py.leases.upcoming import Upcoming


class LeaseBook:
    """All reservations that are not over, and the preparation of the hosts.

    Attributes:
        table: what is reserved on which host.
        upcoming: what begins and ends next.
        preparation: of the hosts.
        runs: planned and under way.
    """

    def __init__(self, site: Site, transfers: TransferSettings | None, observer: Observer) -> None:
        """Begin with nothing reserved; without `transfers` nothing is prepared. The observer is told of plans."""
        self.observer = observer
        self.table = LeaseTable(site.capacities, exclusive=site.exclusive, types=site.types)
        self.upcoming = Upcoming()
        self.runs: set[Run] = set()
        self.preparation = (
            Unmanaged(Disks(None))
            if transfers is None
            else ImageTransfer(transfers, len(site.capacities), self._move_transfer)
        )

    def commit(self, lease: Lease, run: Run, now: float) -> bool:
        """Put in a run with its preparation; False if that cannot be over in time, and nothing has changed."""
        transfers = () if lease.resuming else self.preparation.prepare(lease, run, now)
        if transfers is None:
            return False
        self.put(lease, run, transfers, now)
        return True

    def put(self, lease: Lease, run: Run, transfers: Sequence[LeaseReservation], now: float) -> None:
        """Put in a run with all that belongs to it; the lease is scheduled, and ready if nothing is to be prepared."""
        lease.transfers += transfers
        for transfer in transfers:
            self._put(transfer)
        self.add(run)
        self.observer.planned(lease, run, now)
        if lease.state in SUSPENDED:
            lease.change(State.SUSPENDED_SCHEDULED, now)
            return
        lease.change(State.SCHEDULED, now)
        if self.preparation.ready(lease):
            lease.change(State.READY, now)

    def add(self, run: Run) -> None:
        """Put in a run with all that leads to it and follows it, as the last one of its lease."""
        run.lease.runs.append(run)
        self.runs.add(run)
        for reservation in run.all():
            reservation.run = run
            self._put(reservation)

    def lift(self, run: Run) -> None:
        """Take away a run with all that leads to it and follows it."""
        run.lease.runs.remove(run)
        for reservation in run.all():
            self.remove(reservation)

    def take_back(self, lease: Lease, now: float) -> Run:
        """Take away the last run of a lease, with what leads to it and follows it; return the run."""
        self.forget_preparation(lease, now)
        run = lease.runs[-1]
        self.lift(run)
        self.observer.taken_back(run, now)
        return run

    def drop(self, lease: Lease, now: float) -> None:
        """Take away all that a lease has, for it will not go on; what was under way ends now."""
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
        """Take a reservation away, or end it now if it is under way."""
        under_way = reservation.phase is Phase.UNDER_WAY
        self.remove(reservation)
        if under_way:
            reservation.end = now
            self.observer.finished(reservation, now)

    def cut(self, run: Run, end: float, after: list[LeaseReservation]) -> None:
        """Let a run end earlier, and something else follow it than before."""
        self.shorten(run, end, after)
        self.observer.cut(run)

    def shorten(self, run: Run, end: float, after: list[LeaseReservation]) -> None:
        """Let a run end earlier, and something else follow it than before; nobody is told yet."""
        for following in run.after:
            self.remove(following)
        self.table.remove(run)
        run.end, run.after = end, after
        self.table.add(run)
        self.upcoming.note(run)
        for following in after:
            following.run = run
            self._put(following)

    def remove(self, reservation: LeaseReservation) -> None:
        """Take away a reservation, unless it is over."""
        if reservation.phase is not Phase.OVER:
            self.table.remove(reservation)
            reservation.phase = Phase.OVER
            if isinstance(reservation, Run):
                self.runs.discard(reservation)

    def undo(self) -> Undo:
        """Return what can bring leases back to the runs that they have now."""
        return Undo(self.table, self.runs)

    def frees_after(self, time: float, latest: float = math.inf) -> list[float]:
        """Return times after `time`, and not after `latest`, at which hosts become free, in order."""
        ends = {one.end for one in self.upcoming.in_use(Use.SHUTDOWN) if time < one.end <= latest}
        for run in self.runs:
            end = run.after[-1].end if run.after else run.end
            if end <= latest and (run.end > time or (end > time and not run.suspends)):
                ends.add(end)
        return sorted(ends)

    def _put(self, reservation: LeaseReservation) -> None:
        reservation.phase = Phase.PLANNED  # it may have been lifted
        self.table.add(reservation)
        self.upcoming.note(reservation)

    def _move_transfer(self, transfer: LeaseReservation, start: float) -> None:
        """Let a planned transfer begin at another time."""
        self.table.remove(transfer)
        transfer.start, transfer.end = start, start + (transfer.end - transfer.start)
        self._put(transfer)
