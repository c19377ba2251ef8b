"""Undo of tentative plans: restores the former runs of leases."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun, Phase
from batsched_py.leases.observer import Observer
from batsched_py.leases.table import LeaseTable


class _Part(NamedTuple):
    """The former values of a reservation."""

    reservation: LeaseReservation
    start: float
    end: float
    phase: Phase
    order: int


class _Before(NamedTuple):
    """The former runs of a lease, each with its preceding and following reservations."""

    lease: Lease
    runs: list[tuple[LeaseRun, list[LeaseReservation], list[LeaseReservation]]]
    parts: list[_Part]


class Undo:
    """Saved runs of leases.

    `Agenda` needs no rollback: it keeps entries of removed reservations, which become valid again when restored.

    Args:
        table: the slot table.
        runs: the runs that are planned or under way.
    """

    def __init__(self, table: LeaseTable, runs: set[LeaseRun]) -> None:
        self._table, self._runs = table, runs
        self._before: dict[int, _Before] = {}

    def note(self, lease: Lease) -> None:
        """Save the runs of a lease before they are changed; only the first call for a lease has an effect."""
        if lease.id in self._before:
            return
        parts = [_Part(one, one.start, one.end, one.phase, one.order) for run in lease.runs for one in _open(run)]
        self._before[lease.id] = _Before(lease, [(run, run.before, run.after) for run in lease.runs], parts)

    def held(self, lease: Lease, hosts: Collection[int], start: float, end: float) -> bool:
        """Return whether a saved lease held one of these hosts within [start, end)."""
        return any(
            one.start < end and one.end > start and any(host in one.reservation.shares for host in hosts)
            for one in self._before[lease.id].parts
        )

    def notify_removed(self, observer: Observer, now: float) -> None:
        """Notify an observer of the saved runs that were removed or cut."""
        for lease, runs, _ in self._before.values():
            for run, _, following in runs:
                if run not in lease.runs:
                    observer.taken_back(run, now)
                elif run.after is not following:
                    observer.cut(run)

    def notify_planned(self, observer: Observer, now: float, *, but: Lease | None = None) -> None:
        """Notify an observer of the new runs of all saved leases but one."""
        for lease, runs, _ in self._before.values():
            if lease is but:
                continue
            known = [run for run, _, _ in runs]
            for run in lease.runs:
                if run not in known:
                    observer.planned(lease, run, now)

    def restore(self) -> None:
        """Restore all saved leases."""
        self.restore_these([each.lease for each in self._before.values()])

    def restore_these(self, leases: Iterable[Lease]) -> None:
        """Restore some of the saved leases; their places must be free."""
        noted = [self._before.pop(lease.id) for lease in leases]
        for before in noted:
            for run in before.lease.runs:
                for one in _open(run):
                    self._table.remove(one)
                    one.phase = Phase.OVER
                self._runs.discard(run)
        for before in noted:
            before.lease.runs[:] = [run for run, _, _ in before.runs]
            for run, leading, following in before.runs:
                run.before, run.after = leading, following
            for one, start, end, phase, order in before.parts:
                one.start, one.end, one.phase, one.order = start, end, phase, order
                self._table.put_back(one)
                if isinstance(one, LeaseRun):
                    self._runs.add(one)


def _open(run: LeaseRun) -> list[LeaseReservation]:
    """Return the reservations of a run that are not over, including the run itself."""
    return [one for one in run.all() if one.phase is not Phase.OVER]
