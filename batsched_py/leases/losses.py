"""Losses: what becomes of leases when hosts go down, and of the hosts when they return."""

from __future__ import annotations

from collections.abc import Callable

from batsched_py.leases.book import LeaseBook
from batsched_py.leases.lease import Lease, Phase, Run
from batsched_py.leases.terms import Kind


class Losses:
    """Hosts that are down, and leases that have to leave them.

    Args:
        leases: those that have not ended, by id.
        book: where they are reserved.
        requeue: takes the last run of a best-effort lease away, and puts it back into the queue.
        plan_anew: plans another lease anew whose last runs were taken away.
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
        """Note which hosts are down, and no others are; what is planned there is planned anew elsewhere.

        What is under way there `fails`, or goes on.
        """
        lost, homeless = down - self._book.table.down, list[Lease]()
        for lease in list(self._leases.values()):
            runs = [run for run in lease.runs if lost & _open_hosts(run)]
            planned = [run for run in runs if not run.begun]
            if fails and len(planned) < len(runs):
                self._fail(lease, now)
            elif planned and lease.kind is Kind.BEST_EFFORT:
                self._requeue(lease, now)
            elif planned:
                self._take_away(lease, planned[0], now)
                homeless.append(lease)
        self._book.table.lose(set(down))
        for lease in sorted(homeless, key=_order):
            self._plan_anew(lease, now)

    def _take_away(self, lease: Lease, first: Run, now: float) -> None:
        """Take away a run and those behind it, and the image that was to be there for the first one."""
        if not lease.resuming:
            self._book.forget_preparation(lease, now)
        for run in lease.runs[lease.runs.index(first) :]:
            self._book.lift(run)
            self._book.observer.taken_back(run, now)


def _open_hosts(run: Run) -> set[int]:
    """Return the hosts that a run, and what belongs to it, holds now or later."""
    return {host for one in run.all() if one.phase is not Phase.OVER for host in (*one.shares, *one.nodes.values())}


def _order(lease: Lease) -> tuple[bool, float, int]:
    """Reservations come first, then who is due first."""
    return lease.kind is Kind.DEADLINE, lease.deadline or lease.start or lease.submit, lease.id
