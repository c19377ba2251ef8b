"""Controls: leases that are held back, released, and moved in the queue, at the request of users and operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from batsched_py.leases.book import LeaseBook
from batsched_py.leases.lease import Lease, Phase
from batsched_py.leases.queue import LeaseQueue
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import LeaseState
from batsched_py.scheduling.queue_requests import HOLD_JOB, RELEASE_JOB, QueueRequest

# A held lease has no reservation at all: its planned place is lifted, as that of a lease whose hosts are lost, so that
# others get it at the same instant. It needs no state of its own. A best-effort lease stays queued, out of the list
# that is served; others are pending, as between their request and their plan, and their release is planned like a
# request. Planned starts that others have got meanwhile stay. What has begun cannot be held: to stop it is to suspend
# or to cancel it, which have rules of their own.
#
# A priority is an order of the queue, not of time: planned starts of best-effort leases that come after the new or the
# former place are taken back, and planned again in the new order. A lease that is overtaken may start later than it was
# planned, which no other event may cause.

#: States in which a lease may be held.
_WAITING: Final = frozenset(
    {
        LeaseState.NEW,
        LeaseState.PENDING,
        LeaseState.QUEUED,
        LeaseState.SCHEDULED,
        LeaseState.PREPARING,
        LeaseState.READY,
        LeaseState.SUSPENDED_QUEUED,
        LeaseState.SUSPENDED_SCHEDULED,
    }
)


class Controls:
    """The holds and priorities of leases.

    Args:
        book: the reservations.
        queue: the best-effort leases.
        requeue: removes the last run of a best-effort lease, and puts the lease back into the queue.
        plan: plans a pending lease of another kind.
        free: is called with each lease whose place was given back.
    """

    def __init__(
        self,
        book: LeaseBook,
        queue: LeaseQueue,
        *,
        requeue: Callable[[Lease, float], None],
        plan: Callable[[Lease, float], None],
        free: Callable[[Lease], None],
    ) -> None:
        self._book, self._queue, self._requeue, self._plan, self._free = book, queue, requeue, plan, free

    @staticmethod
    def fault(lease: Lease, change: QueueRequest) -> str:
        """Return the rule that a change violates; "" for none."""
        by_user = change.by == "user"
        if lease.ended:
            return f"it has ended: {lease.state.label}"
        if change.kind == HOLD_JOB:
            return _hold_fault(lease, change)
        if change.kind == RELEASE_JOB:
            if not lease.held:
                return "it is not held"
            return (
                "an operator holds it, and only an operator may release it" if by_user and lease.held != "user" else ""
            )
        if lease.kind is not LeaseKind.BEST_EFFORT:
            return "only best-effort leases have a priority: others have their time"
        if by_user and change.priority > lease.priority:
            return f"only an operator may raise its priority, which is {lease.priority}"
        return ""

    def carry_out(self, lease: Lease, change: QueueRequest, now: float) -> None:
        """Carry out a change without a fault; call `step` of the scheduler at the same instant."""
        self._book.table.advance(now)
        if change.kind == HOLD_JOB:
            self._hold(lease, now)
            lease.held = change.by
            self._book.observer.held(lease, now)
        elif change.kind == RELEASE_JOB:
            lease.held = ""
            if lease.state is not LeaseState.NEW:
                self._book.observer.released(lease, now)
                self._release(lease, now)
        else:
            self._prioritise(lease, change.priority, now)

    def _hold(self, lease: Lease, now: float) -> None:
        """Give the planned place of a lease back, and keep the lease from being planned."""
        planned = [run for run in lease.runs if not run.begun]
        if lease.kind is LeaseKind.BEST_EFFORT:
            if planned:
                self._requeue(lease, now)
            self._queue.forget(lease)
        elif planned:
            for _ in planned:
                self._book.take_back(lease, now)
            lease.change(LeaseState.PENDING, now)
        if planned:
            self._free(lease)

    def _release(self, lease: Lease, now: float) -> None:
        if lease.kind is LeaseKind.BEST_EFFORT:
            self._queue.put_back(lease)
        else:
            self._plan(lease, now)

    def _prioritise(self, lease: Lease, priority: int, now: float) -> None:
        former = self._queue.rank(lease)
        lease.priority = priority
        first = min(former, self._queue.rank(lease))
        for other in self._queue.movable(first):
            self._requeue(other, now)
            self._free(other)
        self._queue.reorder(lease)


def _hold_fault(lease: Lease, change: QueueRequest) -> str:
    if lease.kind is LeaseKind.IMMEDIATE:
        return "an immediate lease does not wait"
    if lease.held and (lease.held == "operator" or change.by == "user"):
        return "it is held already"
    resuming = any(run.begun and run.phase is Phase.PLANNED for run in lease.runs)
    continues = lease.kind is not LeaseKind.BEST_EFFORT and lease.started is not None
    if lease.state not in _WAITING or resuming or continues:
        return f"it has begun ({lease.state.label}): only waiting leases can be held"
    return ""
