"""Scheduler of leases: admits them, plans them, and executes their reservations instant by instant (H20 to H33).

It has no clock and starts nothing itself: `step` takes the time, early ends and new requests; `actions` are commands to
start and stop machines. `queue` plans best-effort leases, `execution` begins and ends reservations, `eviction` and
`deadlines` preempt leases for others, `losses` handles failed hosts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from batsched_py.leases.actions import (
    CANCELLED,
    FAILED,
    LOST,
    MISSED,
    NO_HOSTS,
    NO_ROOM,
    NOT_ADMITTED,
    NOT_NOW,
    PAST,
    TOO_LARGE,
    TOO_LATE,
    Action,
    Reject,
    Stop,
)
from batsched_py.leases.book import LeaseBook
from batsched_py.leases.capacity import Amounts
from batsched_py.leases.controls import Controls
from batsched_py.leases.deadlines import Deadlines
from batsched_py.leases.eviction import Eviction
from batsched_py.leases.execution import Execution
from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun
from batsched_py.leases.losses import Losses
from batsched_py.leases.mapping import GreedyMapper
from batsched_py.leases.negotiation import nearest_start
from batsched_py.leases.observer import Observer
from batsched_py.leases.overheads import Overheads
from batsched_py.leases.planner import Planner
from batsched_py.leases.policies.hosts import HostOrder
from batsched_py.leases.policies.makers import DEFAULT_POLICIES, Policies
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.leases.queue import LeaseQueue
from batsched_py.leases.settings import LeaseSettings
from batsched_py.leases.site import Site
from batsched_py.leases.table import LeaseTable
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import LeaseState

#: The largest number of cached answers to whether a request is too large.
_MOST_KEPT: Final = 4096


class LeaseScheduler:
    """All leases of a run, and their reservations.

    Attributes:
        site: the hosts.
        leases: the leases that have not ended, by id.
        actions: commands for the caller, which empties the list.
        table: the slot table.
        disks: the files on the hosts.
        controls: holds, releases and priorities.
    """

    def __init__(
        self,
        site: Site,
        settings: LeaseSettings,
        policies: Policies = DEFAULT_POLICIES,
        transfers: TransferSettings | None = None,
        observer: Observer | None = None,
    ) -> None:
        """Begin without leases; `transfers` None disables preparation."""
        self._observer = observer or Observer()
        self._observer.opened(site)
        self.site = site
        self._book = LeaseBook(site, transfers, self._observer)
        self.table, self.disks = self._book.table, self._book.preparation.disks
        self.leases: dict[int, Lease] = {}
        self.actions: list[Action] = []
        self._pending: list[Lease] = []
        #: Leases that have ended early since the last step, and freed hosts.
        self._freed: list[Lease] = []
        empty = LeaseTable(site.capacities, exclusive=site.exclusive, pool=site.pool)
        self._empty = GreedyMapper(empty, HostOrder(empty))
        #: Demands of a lease's nodes -> True if they do not fit on the empty site.
        self._too_large: dict[tuple[Amounts, ...], bool] = {}
        self._losses = Losses(
            self.leases, self._book, requeue=self._requeue, plan_anew=self._plan_anew, fail=self._lose
        )
        self._follow(settings, policies)

    def _follow(self, settings: LeaseSettings, policies: Policies) -> None:
        """Begin with an empty queue under these rules."""
        self._admission, preemption = policies.admission(self.table), policies.preemption(self.table)
        self._hosts = policies.hosts(self.table)
        overheads = Overheads(settings, self.site.memory, self._book.preparation.seconds)
        mapper = GreedyMapper(self.table, self._hosts, drop_unneeded=settings.drop_unneeded_victims)
        self._planner = Planner(mapper, overheads, settings)
        self._queue = LeaseQueue(self._book, self._planner, overheads, self._hosts)
        self._execution = Execution(self._book, overheads, self._queue, self.actions, self._forget)
        self._eviction = Eviction(self._book, self._planner, preemption, settings, self._requeue)
        self._deadlines = Deadlines(self._book, self._planner, preemption, self._run_later)
        self.controls = Controls(
            self._book, self._queue, requeue=self._requeue, plan=self._plan_pending, free=self._freed_place
        )

    def change_rules(self, settings: LeaseSettings, policies: Policies) -> None:
        """Follow other rules from the next step on; what is planned stays planned."""
        queue, deadlines = self._queue, self._deadlines
        self._follow(settings, policies)
        self._queue.adopt(queue)
        self._deadlines.adopt(deadlines)

    @property
    def queue(self) -> Sequence[Lease]:
        """Best-effort leases without a planned run, in the order of the queue, without held ones."""
        return self._queue.waiting

    @property
    def down(self) -> Collection[int]:
        """Hosts that are down, on which nothing can be placed; another object after each change."""
        return self.table.down

    @property
    def future(self) -> Mapping[int, Lease]:
        """Best-effort leases with a planned start in the future, by id."""
        return self._queue.future

    def next_instant(self) -> float | None:
        """Return when the next reservation begins or ends; None if there is none."""
        return self._book.agenda.next_instant()

    def step(self, now: float, ended: Iterable[Lease] = (), requests: Iterable[Lease] = ()) -> None:
        """Process one instant.

        Args:
            now: the time in seconds, not before that of the last step.
            ended: active leases whose work is complete before the end of their run.
            requests: new leases, in the order of their numbers.
        """
        self.table.advance(now)
        self.end(ended, now)
        freed, self._freed = self._freed, []
        if freed:
            self.replan(now, freed)
        self._execution.finish(now)
        self._queue.catch_up(now)
        self._execution.begin(now)
        for lease in requests:
            self._request(lease, now)
        self._schedule(now)
        self._execution.begin(now)
        self._execution.finish(now)
        self._observer.stepped(self, now)

    def end(self, leases: Iterable[Lease], now: float) -> None:
        """End active leases whose work is complete before the end of their run; call `step` at the same instant."""
        self.table.advance(now)
        for lease in leases:
            self._execution.end_early(lease, now)
            if self._planner.settings.replan_after_each:
                self.replan(now, [lease])
            else:
                self._freed.append(lease)

    def lose_hosts(self, down: set[int], now: float, *, fails: bool = False) -> None:
        """Set the hosts that are down, and replan runs on them.

        Leases under way on these hosts fail if `fails`, otherwise they continue. A best-effort lease goes back into the
        queue; if its memory is on such a host, it waits for the host. Another lease is rejected if it cannot be placed
        elsewhere at its time.
        """
        self.table.advance(now)
        self._losses.lose(down, now, fails=fails)
        self.replan(now)

    def check(self) -> None:
        """Assert that what is kept of waiting leases is true."""
        self._queue.line.check()

    def under_way(self) -> Iterator[LeaseReservation]:
        """Iterate over reservations under way, in no particular order."""
        return self._book.agenda.under_way()

    def replan(self, now: float, ended: Sequence[Lease] = ()) -> None:
        """Replan leases with a planned start in the future, in the order of the queue, then deadline leases.

        No lease moves to a later start unless the settings allow it. `ended` are the leases that have freed hosts.
        """
        self._queue.move_forward(now)
        self._deadlines.move_forward(ended, now)

    def cancel(self, lease: Lease, now: float) -> None:
        """Cancel a lease in any state but a final one; call `step` at the same instant (H84)."""
        self._dismiss(lease, LeaseState.CANCELLED, now, "cancel", CANCELLED)

    def fail(self, lease: Lease, now: float) -> None:
        """Let a lease fail, and stop its running machines; call `step` at the same instant (H104)."""
        self._dismiss(lease, LeaseState.FAIL, now, "fail", FAILED)

    def earliest_start(self, lease: Lease, now: float) -> float | None:
        """Return the earliest start of a hypothetical reservation, from now on; None if there is none."""
        lease.start = now
        if self._is_too_large(lease):
            return None
        return nearest_start(lease, now, self._book, self._planner, partial(self._eviction.victims, now))

    def has_room(self, lease: Lease, now: float) -> bool:
        """Return whether a hypothetical reservation would find room at its start; without a start, at any time."""
        if self._is_too_large(lease):
            return False
        victims = partial(self._eviction.victims, now)
        return lease.start is None or self._planner.at(lease.start, lease, victims) is not None

    def limit(self, lease: Lease, end: float, now: float) -> None:
        """Shorten an active lease to end at `end`; call `step` at the same instant."""
        run = lease.running
        if run is None or end >= run.end:
            return
        self.table.advance(now)
        lease.duration = lease.accumulated + (end - run.start)
        after = self._planner.shut_down(run, end + self._planner.overheads.shutdown(lease))
        after.start = end
        self._book.shorten(run, end, [after])
        self.replan(now)

    # Requests.

    def _request(self, lease: Lease, now: float) -> None:
        lease.change(LeaseState.PENDING, now)
        self.leases[lease.id] = lease
        self._observer.requested(lease, now)
        if not self._admission.accepts(lease, self.leases.values()):
            self._reject(lease, f"{NOT_ADMITTED} {self._admission.name}", now)
            return
        self._observer.admitted(lease, now)
        if self._is_too_large(lease):
            self._reject(lease, TOO_LARGE, now)
        elif not self._hosts.total and not self._has_hosts(lease, now):
            self._reject(lease, NO_HOSTS, now)
        else:
            self._pending.append(lease)

    def _is_too_large(self, lease: Lease) -> bool:
        """Return whether a lease does not fit on the empty site; cached, because few requests differ."""
        if lease.suitable is not None or lease.needs is not None:
            return self._empty.find(lease, 0.0, math.inf, strict=False) is None
        known = self._too_large.get(lease.demands)
        if known is None:
            if len(self._too_large) >= _MOST_KEPT:
                self._too_large.clear()
            found = self._empty.find(lease, 0.0, math.inf, strict=False)
            known = self._too_large[lease.demands] = found is None
        return known

    def _has_hosts(self, lease: Lease, now: float) -> bool:
        """Return whether the host selection policy leaves a new lease enough hosts; if not, it would wait forever."""
        at = now if lease.start is None else max(now, lease.start)
        hosts = self._hosts.sort(lease, self.table.everywhere, at)
        return self._empty.find_among(lease, hosts, 0.0, math.inf) is not None

    def _reject(self, lease: Lease, why: str, now: float, alternative: float | None = None) -> None:
        lease.alternative_start = alternative
        lease.change(LeaseState.REJECTED, now)
        self._observer.refused(lease, why, now)
        self._forget(lease, now)
        self.actions.append(Reject(lease, why, alternative))

    def _reject_time(self, lease: Lease, why: str, now: float) -> None:
        """Refuse a lease with a requested time, and offer an alternative start."""
        victims = partial(self._eviction.victims, now)
        self._reject(lease, why, now, nearest_start(lease, now, self._book, self._planner, victims))

    def _schedule(self, now: float) -> None:
        """Plan new requests, then the queue (H23)."""
        pending, self._pending = self._pending, []
        for lease in pending:
            if lease.kind is LeaseKind.BEST_EFFORT:
                self._queue.join(lease, now)
        pending = [lease for lease in pending if not lease.held]
        for lease in pending:
            if lease.kind is LeaseKind.IMMEDIATE:
                self._plan_immediate(lease, now)
        for lease in pending:
            if lease.kind in (LeaseKind.ADVANCE, LeaseKind.DEADLINE):
                self._plan_pending(lease, now)
        self._queue.serve(now)

    # Plans.

    def _plan_immediate(self, lease: Lease, now: float) -> None:
        self._observer.tried(lease, now)
        run = self._planner.as_soon_as_possible(lease, self._book.preparation.points(lease, now), now)
        if run is None or not self._book.commit(lease, run, now):
            self._reject(lease, NOT_NOW, now)

    def _plan_reservation(self, lease: Lease, now: float) -> None:
        assert lease.start is not None  # noqa: S101  # it is an advance reservation
        self._observer.tried(lease, now)
        if lease.start < now:
            self._reject_time(lease, PAST, now)
            return
        found = self._planner.at(lease.start, lease, partial(self._eviction.victims, now))
        if found is None:
            if not self._deadlines.make_room(lease, now):
                self._reject_time(lease, NO_ROOM, now)
            return
        transfers = self._book.preparation.prepare(lease, found[0], now)
        if transfers is None:
            self._reject_time(lease, TOO_LATE, now)
            return
        run, victims = found
        for victim in victims:
            self._eviction.preempt(victim, run.start, now)
        self._book.put(lease, run, transfers, now)

    def _plan_by_deadline(self, lease: Lease, now: float) -> None:
        self._observer.tried(lease, now)
        if not self._deadlines.plan(lease, now):
            self._reject_time(lease, MISSED, now)

    # Removal of runs and leases.

    def _requeue(self, lease: Lease, now: float) -> None:
        """Remove the last run of a best-effort lease, and put the lease back into the queue."""
        suspended = lease.state is LeaseState.SUSPENDED_SCHEDULED
        self._queue.forget(lease)
        running = lease.running
        self._book.take_back(lease, now)
        if running is not None:
            self._stop_run(running, now, "requeue")
        if lease.state is LeaseState.PREPARING:
            lease.change(LeaseState.PENDING, now)
        lease.change(LeaseState.SUSPENDED_QUEUED if suspended else LeaseState.QUEUED, now)
        self._queue.put_back(lease)

    def _plan_anew(self, lease: Lease, now: float) -> None:
        """Replan a lease that lost its hosts before its start or its resumption."""
        if lease.runs or lease.resuming:
            if not self._deadlines.resume(lease, now):
                self._lose(lease, now)
            return
        lease.change(LeaseState.PENDING, now)
        self._plan_pending(lease, now)

    def _plan_pending(self, lease: Lease, now: float) -> None:
        """Plan a pending lease that is not best effort, or reject it."""
        if lease.kind is LeaseKind.IMMEDIATE:
            self._plan_immediate(lease, now)
        elif lease.kind is LeaseKind.ADVANCE:
            self._plan_reservation(lease, now)
        else:
            self._plan_by_deadline(lease, now)

    def _lose(self, lease: Lease, now: float) -> None:
        """Let a lease fail because of failed hosts."""
        self._dismiss(lease, LeaseState.FAIL, now, "fail", LOST)

    def _dismiss(self, lease: Lease, state: LeaseState, now: float, why: str, reason: str) -> None:
        """End a lease early: stop its machines for the reason `why`, or reject it with `reason` if it does not run."""
        if lease in self._pending:
            self._pending.remove(lease)
        self._queue.forget(lease)
        running = lease.running
        self._book.drop(lease, now)
        if running is not None:
            lease.accumulated += now - running.start
            self._stop_run(running, now, why)
        else:
            self.actions.append(Reject(lease, reason))
        lease.change(state, now)
        self._book.preparation.forget(lease)
        self._forget(lease, now)
        self._freed.append(lease)

    def _freed_place(self, lease: Lease) -> None:
        self._freed.append(lease)

    def _run_later(self, run: LeaseRun, now: float) -> None:
        """Stop a run of a deadline lease that has another run planned."""
        self._stop_run(run, now, "requeue")
        for state in (LeaseState.QUEUED, LeaseState.SCHEDULED, LeaseState.READY):
            run.lease.change(state, now)

    def _stop_run(self, run: LeaseRun, now: float, why: str) -> None:
        """Stop a run that was removed from the plan."""
        run.end = now
        self.actions.append(Stop(run.lease, run, why))

    def _forget(self, lease: Lease, now: float) -> None:
        """Drop a lease in a final state, and notify the observer."""
        del self.leases[lease.id]
        self._observer.ended(lease, now)
