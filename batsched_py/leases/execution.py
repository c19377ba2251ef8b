"""Execution of plans: begins and ends of reservations, with the state changes of their leases."""

from __future__ import annotations

from collections.abc import Callable

from batsched_py.leases.actions import Action, Occupy, Start, Stop
from batsched_py.leases.book import LeaseBook
from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun, Phase
from batsched_py.leases.overheads import Overheads
from batsched_py.leases.queue import LeaseQueue
from batsched_py.results.lease_rows import LeaseState, ReservationUse


class Execution:
    """The execution of reservations, instant by instant.

    Args:
        book: the reservations.
        overheads: the overheads of the site.
        queue: receives suspended leases without a planned run.
        actions: receives commands for the caller.
        forget: is called for each lease that is done.
    """

    def __init__(
        self,
        book: LeaseBook,
        overheads: Overheads,
        queue: LeaseQueue,
        actions: list[Action],
        forget: Callable[[Lease, float], None],
    ) -> None:
        self._book, self._overheads, self._queue, self._actions = book, overheads, queue, actions
        self._preparation, self._disks, self._observer = book.preparation, book.preparation.disks, book.observer
        self._forget = forget

    def finish(self, now: float) -> None:
        """End reservations under way whose end has come, in order."""
        for reservation in self._book.agenda.ends(now):
            self._end(reservation, now)

    def begin(self, now: float) -> None:
        """Begin planned reservations whose start has come."""
        for reservation in self._book.agenda.starts(now):
            self._start(reservation, now)

    def _start(self, reservation: LeaseReservation, now: float) -> None:
        reservation.phase = Phase.UNDER_WAY
        lease = reservation.lease
        lease.executed.append(reservation)
        if isinstance(reservation, LeaseRun):
            if lease.state is LeaseState.SCHEDULED:  # it shares the transfer of another lease
                lease.change(LeaseState.READY, now)
            if lease.state is LeaseState.READY:
                lease.started = now
            lease.change(LeaseState.ACTIVE, now)
            self._queue.future.pop(lease.id, None)
            self._actions.append(Start(lease, reservation))
        elif reservation.use in (ReservationUse.SUSPEND, ReservationUse.RESUME):
            self._start_memory(reservation, now)
        elif reservation.use is ReservationUse.TRANSFER:
            self._preparation.begin(reservation, now)
        self._book.agenda.note(reservation)
        self._observer.began(reservation, now)
        if reservation.end <= reservation.start and reservation.use not in (ReservationUse.VM, ReservationUse.SHUTDOWN):
            self._end(reservation, now)  # reservations without duration end before machines start

    def _start_memory(self, reservation: LeaseReservation, now: float) -> None:
        """Begin a suspension or a resumption: memory files take disk space from now on, or no longer (H53)."""
        lease, suspends = reservation.lease, reservation.use is ReservationUse.SUSPEND
        self._actions.append(Occupy(reservation))
        for node, host in reservation.nodes.items():
            if suspends:
                self._disks.save(host, lease, node, self._overheads.node_memory(lease, node))
            else:
                self._disks.load(host, lease, node)
        if suspends and lease.state is LeaseState.ACTIVE:
            lease.change(LeaseState.SUSPENDING, now)
        elif not suspends and lease.state is LeaseState.SUSPENDED_SCHEDULED:
            lease.change(LeaseState.RESUMING, now)

    def _end(self, reservation: LeaseReservation, now: float) -> None:
        self._book.remove(reservation)
        self._observer.finished(reservation, now)
        lease = reservation.lease
        if isinstance(reservation, LeaseRun):
            self._stop(lease, reservation, "suspend" if reservation.suspends else "shutdown")
        elif reservation.use in (
            ReservationUse.SUSPEND,
            ReservationUse.RESUME,
            ReservationUse.MIGRATE_DISK,
            ReservationUse.MIGRATE_MEMORY,
        ):
            self._moved_memory(reservation, now)
        elif reservation.use is ReservationUse.SHUTDOWN:
            self._done(lease, now)
        elif reservation.use is ReservationUse.TRANSFER:
            self._preparation.finish(reservation, now)

    def _moved_memory(self, reservation: LeaseReservation, now: float) -> None:
        """Update locations and files after a suspension, resumption or migration."""
        lease, run, disks = reservation.lease, reservation.run, self._disks
        assert run is not None  # noqa: S101  # only transfers have none
        for node, host in reservation.nodes.items():
            if reservation.use is ReservationUse.SUSPEND:
                lease.location[node] = host
            elif reservation.use is ReservationUse.MIGRATE_DISK:
                disks.move_copy(lease.location[node], host, lease, node)
            elif reservation.use is ReservationUse.MIGRATE_MEMORY:
                disks.load(lease.location[node], lease, node)
                disks.save(host, lease, node, self._overheads.node_memory(lease, node))
                lease.location[node] = host
        if reservation.use is ReservationUse.SUSPEND and reservation is run.after[-1]:
            lease.change(LeaseState.SUSPENDED_PENDING, now)
            if run is not lease.runs[-1]:
                lease.change(LeaseState.SUSPENDED_SCHEDULED, now)
                return
            self._queue.put_back(lease)
            lease.change(LeaseState.SUSPENDED_QUEUED, now)
        elif reservation.use is ReservationUse.RESUME and reservation is run.before[-1]:
            lease.change(LeaseState.RESUMED_READY, now)

    def _stop(self, lease: Lease, run: LeaseRun, why: str) -> None:
        lease.accumulated += run.end - run.start
        self._actions.append(Stop(lease, run, why))

    def end_early(self, lease: Lease, now: float) -> None:
        """End an active lease whose work is complete before the end of its run."""
        run = lease.running
        assert run is not None  # noqa: S101  # it is active
        while lease.runs[-1] is not run:
            self._book.lift(lease.runs[-1])
        for following in run.after:
            self._book.remove(following)
        run.after = []
        self._book.remove(run)
        run.end = now
        lease.accumulated += now - run.start
        self._observer.finished(run, now)
        self._done(lease, now)

    def _done(self, lease: Lease, now: float) -> None:
        lease.change(LeaseState.DONE, now)
        lease.end = now
        self._preparation.forget(lease)
        self._forget(lease, now)
