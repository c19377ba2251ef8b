"""Eviction: preemption of best-effort leases for a reservation (H34, H35)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from batsched_py.leases.book import LeaseBook
from batsched_py.leases.lease import Lease, Phase
from batsched_py.leases.planner import Planner
from batsched_py.leases.policies.preemption import Preemptability
from batsched_py.leases.settings import LeaseSettings
from batsched_py.model.lease_kind import LeaseKind

# Only the order and the possibility are decided here; how many victims are needed, the mapper finds out by taking them
# one by one (`GreedyMapper.find_with_victims`), and those on hosts that the mapping does not use after all are spared
# (`drop_unneeded_victims`), which Haizea does not do.
#
# Ties in the score are broken by the id, in the same direction, so that the order never depends on the table. Haizea
# sorts the least preemptable first, against its manual; `victim_order` has both.
#
# A victim must be out of the way *by* the start, so its suspension is planned backwards from there. If that would begin
# before now, or its run would be too short to be worth a suspension, its run is taken away and it waits again with its
# work lost, so that all victims must be repeatable. A lease whose suspension is under way already is no victim, because
# its hosts are freed anyway and cannot be freed faster. Cost: O(v log v) for v leases.


class Eviction:
    """The choice of victims, and their suspension or return to the queue.

    Args:
        book: the reservations.
        planner: the planner of the site.
        preemption: the preemption policy.
        settings: the rules.
        requeue: removes the last run of a lease, and puts the lease back into the queue.
    """

    def __init__(
        self,
        book: LeaseBook,
        planner: Planner,
        preemption: Preemptability,
        settings: LeaseSettings,
        requeue: Callable[[Lease, float], None],
    ) -> None:
        self._book, self._planner, self._settings = book, planner, settings
        self._preemption, self._requeue = preemption, requeue

    def victims(self, now: float, preemptor: Lease, leases: Sequence[Lease], time: float) -> list[Lease]:
        """Return the leases that may be preempted by `time`, in the order in which they are tried."""
        settings = self._settings
        scored = [
            (self._preemption.score(preemptor, lease, time), lease)
            for lease in leases
            if lease is not preemptor
            and lease.kind is not LeaseKind.DEADLINE  # they have their own rules
            and lease.repeatable
            and (lease.preemptible or not settings.honour_preemptible)
        ]
        may = [(score, lease) for score, lease in scored if score >= 0 and self._can_give_way(lease, time, now)]
        sign = 1 if settings.victim_order == "oldest" else -1
        return [lease for _, lease in sorted(may, key=lambda each: (sign * each[0], sign * each[1].id))]

    def _can_give_way(self, lease: Lease, time: float, now: float) -> bool:
        """Return whether the hosts of a lease's last run can be freed by `time`."""
        run = lease.runs[-1]
        if run.phase is Phase.OVER:
            return False  # its suspension is under way
        return run.phase is Phase.UNDER_WAY or not run.begun or self._planner.suspension(run, time, now) is not None

    def preempt(self, lease: Lease, time: float, now: float) -> None:
        """Free the hosts of a lease by `time`: suspend it, or remove its run and put it back into the queue."""
        run = lease.runs[-1]
        steps = self._planner.suspension(run, time, now)
        if steps is None:
            self._requeue(lease, now)
        else:
            self._book.cut(run, steps[0].start, steps)
