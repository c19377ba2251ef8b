"""Undo of plans: brings leases back to the runs that they had, as if nothing had been tried."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from batsched_py.leases.lease import Lease, LeaseReservation, Phase, Run
from batsched_py.leases.observer import Observer
from batsched_py.leases.table import LeaseTable


class _Part(NamedTuple):
    """A reservation as it was."""

    reservation: LeaseReservation
    start: float
    end: float
    phase: Phase
    order: int


class _Before(NamedTuple):
    """The runs of a lease as they were, each with what led to it and followed it."""

    lease: Lease
    runs: list[tuple[Run, list[LeaseReservation], list[LeaseReservation]]]
    parts: list[_Part]


class Undo:
    """The runs of leases as they were when each was noted first.

    What begins and ends next needs no care: what is taken away stays noted there, and counts again when it is back.

    Args:
        table: where they are reserved.
        runs: those that are planned or under way.
    """

    def __init__(self, table: LeaseTable, runs: set[Run]) -> None:
        self._table, self._runs = table, runs
        self._before: dict[int, _Before] = {}

    def note(self, lease: Lease) -> None:
        """Note the runs of a lease, before any of them is changed; only the first time counts."""
        if lease.id in self._before:
            return
        parts = [_Part(one, one.start, one.end, one.phase, one.order) for run in lease.runs for one in _open(run)]
        self._before[lease.id] = _Before(lease, [(run, run.before, run.after) for run in lease.runs], parts)

    def held(self, lease: Lease, hosts: Collection[int], start: float, end: float) -> bool:
        """Return whether a lease held one of these hosts at some moment of [start, end)."""
        return any(
            one.start < end and one.end > start and any(host in one.reservation.shares for host in hosts)
            for one in self._before[lease.id].parts
        )

    def tell_taken(self, observer: Observer, now: float) -> None:
        """Tell an observer which of the runs were taken back or cut."""
        for lease, runs, _ in self._before.values():
            for run, _, following in runs:
                if run not in lease.runs:
                    observer.taken_back(run, now)
                elif run.after is not following:
                    observer.cut(run)

    def tell_planned(self, observer: Observer, now: float, *, but: Lease | None = None) -> None:
        """Tell an observer which runs are new, of all leases `but` one."""
        for lease, runs, _ in self._before.values():
            if lease is but:
                continue
            known = [run for run, _, _ in runs]
            for run in lease.runs:
                if run not in known:
                    observer.planned(lease, run, now)

    def restore(self) -> None:
        """Bring all leases back."""
        self.restore_these([each.lease for each in self._before.values()])

    def restore_these(self, leases: Iterable[Lease]) -> None:
        """Bring some of the leases back; nobody else may be in their places."""
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
                if isinstance(one, Run):
                    self._runs.add(one)


def _open(run: Run) -> list[LeaseReservation]:
    """Return what is not over of a run and of all that belongs to it."""
    return [one for one in run.all() if one.phase is not Phase.OVER]
