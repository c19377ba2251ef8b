"""Losses: the effects of failed and restored hosts on leases."""

from __future__ import annotations

from collections.abc import Callable

from batsched_py.leases.book import LeaseBook
from batsched_py.leases.lease import Lease, LeaseRun, Phase
from batsched_py.model.lease_kind import LeaseKind


class Losses:
    """The replanning of leases whose hosts go down.

    Args:
        leases: the leases that have not ended, by id.
        book: the reservations.
        requeue: removes the last run of a best-effort lease, and puts the lease back into the queue.
        plan_anew: plans a lease of another kind again after its last runs were removed.
        fail: lets a lease fail.
    """

    def __init__(
        self,
        leases: dict[int, Lease],
        book: LeaseBook,
        *,
        requeue: Callable[[Lease, float], None],
        plan_anew: Callable[[Lease, float], None],
        fail: Callable[[Lease, float], None],
    ) -> None:
        self._leases, self._book = leases, book
        self._requeue, self._plan_anew, self._fail = requeue, plan_anew, fail

    def lose(self, down: set[int], now: float, *, fails: bool) -> None:
        """Set the hosts that are down, and replan reservations on them on other hosts.

        Leases under way on these hosts fail if `fails`, otherwise they continue.
        """
        lost, displaced = down - self._book.table.down, list[Lease]()
        for lease in list(self._leases.values()):
            runs = [run for run in lease.runs if lost & _open_hosts(run)]
            planned = [run for run in runs if not run.begun]
            if fails and len(planned) < len(runs):
                self._fail(lease, now)
            elif planned and lease.kind is LeaseKind.BEST_EFFORT:
                self._requeue(lease, now)
            elif planned:
                self._take_away(lease, planned[0], now)
                displaced.append(lease)
        self._book.table.lose(set(down))
        for lease in sorted(displaced, key=_order):
            self._plan_anew(lease, now)

    def _take_away(self, lease: Lease, first: LeaseRun, now: float) -> None:
        """Remove a run and all later ones, and the preparation of the first run."""
        if not lease.resuming:
            self._book.forget_preparation(lease, now)
        for run in lease.runs[lease.runs.index(first) :]:
            self._book.lift(run)
            self._book.observer.taken_back(run, now)


def _open_hosts(run: LeaseRun) -> set[int]:
    """Return the hosts that a run and its reservations hold now or later."""
    return {host for one in run.all() if one.phase is not Phase.OVER for host in (*one.shares, *one.nodes.values())}


def _order(lease: Lease) -> tuple[bool, float, int]:
    """Return the sort key of a lease: deadline leases last, then by deadline, start or submission."""
    return lease.kind is LeaseKind.DEADLINE, lease.deadline or lease.start or lease.submit, lease.id
