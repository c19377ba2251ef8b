"""Scheduler of leases: admits them, plans them, and follows their reservations from instant to instant (H20 to H33).

It has no clock and starts nothing: `step` is told the time, what has happened, and who asks; `actions` are the machines
to start and to stop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from batsched_py.leases.book import LeaseBook
from batsched_py.leases.deadlines import Deadlines
from batsched_py.leases.eviction import Eviction
from batsched_py.leases.lease import Lease
from batsched_py.leases.lifecycle import State
from batsched_py.leases.losses import Losses
from batsched_py.leases.mapping import GreedyMapper
from batsched_py.leases.negotiation import nearest_start
from batsched_py.leases.observer import Observer
from batsched_py.leases.overheads import Overheads
from batsched_py.leases.planner import Planner, Point
from batsched_py.leases.policies.admission import Admission
from batsched_py.leases.policies.hosts import GreedyHosts, HostOrder
from batsched_py.leases.policies.preemption import Preemptability
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.leases.reservations import LeaseReservation, Phase, Run, Use
from batsched_py.leases.settings import LeaseSettings
from batsched_py.leases.site import Site
from batsched_py.leases.table import LeaseTable
from batsched_py.leases.terms import Kind
from batsched_py.model.resources import CPU


class Policies(NamedTuple):
    """Who is admitted, who gives way, and which hosts are taken first; each is made of the table."""

    admission: Callable[[LeaseTable], Admission]
    preemption: Callable[[LeaseTable], Preemptability]
    hosts: Callable[[LeaseTable], HostOrder]


#: Haizea's own choices where a configuration names none.
DEFAULT_POLICIES = Policies(lambda _: Admission(), lambda _: Preemptability(), GreedyHosts)


class Start(NamedTuple):
    """Start, or resume, the machines of a lease."""

    lease: Lease
    run: Run


class Stop(NamedTuple):
    """Stop the machines of a lease: to save them ("suspend"), for good, or to run again ("requeue").

    For good: their time is over ("shutdown"), the lease was taken back ("cancel"), or a host is down ("fail").
    """

    lease: Lease
    run: Run
    why: str


class Reject(NamedTuple):
    """Refuse a lease.

    `alternative_start` is the first start at which there would be room, for one that asked for a time; None for others,
    and if there is none.
    """

    lease: Lease
    why: str
    alternative_start: float | None = None


Action = Start | Stop | Reject

#: States in which a lease waits for a run that is planned.
_MOVABLE = frozenset({State.PREPARING, State.READY, State.SCHEDULED, State.SUSPENDED_SCHEDULED})

NOT_ADMITTED = "the admission policy does not accept it"
TOO_LARGE = "it would not fit on the empty site"
NO_HOSTS = "the host selection policy leaves it too few hosts"
NO_ROOM = "not enough resources in the interval"
NOT_NOW = "it cannot start at once"
PAST = "its start is past"
MISSED = "it would not be over by its deadline"
LOST = "its hosts are down"
TOO_LATE = "its image cannot arrive in time"


class LeaseScheduler:
    """All leases of a run, and their reservations.

    Attributes:
        site: the hosts.
        leases: those that have not ended, by id.
        queue: best-effort leases that wait for a run, by their submission.
        future: best-effort leases that hold a start in the future, by id.
        actions: what is to be done outside; the caller empties it.
        table: what is reserved.
        disks: files on the hosts.
    """

    def __init__(
        self,
        site: Site,
        settings: LeaseSettings,
        policies: Policies = DEFAULT_POLICIES,
        transfers: TransferSettings | None = None,
        observer: Observer | None = None,
    ) -> None:
        """Begin with no leases; without `transfers` nothing is prepared."""
        self._observer = observer or Observer()
        self._observer.opened(site)
        self.site, self._settings = site, settings
        self._book = LeaseBook(site, transfers, self._observer)
        self.table, self._preparation = self._book.table, self._book.preparation
        self._admission, preemption = policies.admission(self.table), policies.preemption(self.table)
        self._hosts = policies.hosts(self.table)
        mapper = GreedyMapper(self.table, self._hosts, drop_unneeded=settings.drop_unneeded_victims)
        empty = LeaseTable(site.capacities, exclusive=site.exclusive)
        self._empty = GreedyMapper(empty, HostOrder(empty))
        #: A demand that fits where a CPU has anything to give.
        self._breath = tuple(1e-9 if name == CPU else 0.0 for name in site.types)
        self._overheads = Overheads(settings, site.memory, self._preparation.seconds)
        self._planner = Planner(mapper, self._overheads, settings)
        self._eviction = Eviction(self._book, self._planner, preemption, settings, self._requeue)
        self.disks = self._preparation.disks
        self.leases: dict[int, Lease] = {}
        self.queue: list[Lease] = []
        self.future: dict[int, Lease] = {}
        self.actions: list[Action] = []
        self._pending: list[Lease] = []
        #: Something ended before its time, or hosts came back, since the last step.
        self._freed: list[Lease] | None = None
        self._losses = Losses(
            self.leases, self._book, requeue=self._requeue, plan_anew=self._plan_anew, fail=self._lose
        )
        self._deadlines = Deadlines(self.leases, self._book, self._planner, preemption, self._run_later)

    def next_instant(self) -> float | None:
        """Return when the next reservation begins or ends; None if there is none."""
        return self._book.upcoming.next_instant()

    def step(self, now: float, ended: Iterable[Lease] = (), requests: Iterable[Lease] = ()) -> None:
        """Go through one instant.

        Args:
            now: seconds, not before those of the last step.
            ended: active leases that have ended before the end of their run.
            requests: new leases, in the order in which they are numbered.
        """
        self.table.advance(now)
        freed, self._freed = self._freed, None
        for lease in ended:
            self._end_early(lease, now)
            if self._settings.replan_after_each:
                self.replan(now, [lease])
            else:
                freed = [*(freed or ()), lease]
        if freed is not None:
            self.replan(now, freed)
        self._finish(now)
        self._begin(now)
        for lease in requests:
            self._request(lease, now)
        self._schedule(now)
        self._begin(now)
        self._finish(now)
        self._observer.stepped(self, now)

    def lose_hosts(self, down: set[int], now: float, *, fails: bool = False) -> None:
        """Note which hosts are down, and no others are; find other places for runs that were planned there.

        What is under way there goes on, or `fails`. A best-effort lease goes back into the queue; if its memory is on
        such a host, it waits for it. Another lease is rejected if there is no other place for it at its time.
        """
        self.table.advance(now)
        self._losses.lose(down, now, fails=fails)
        self.replan(now)

    def under_way(self) -> Iterator[LeaseReservation]:
        """Iterate over reservations that have begun and are not over, in no order."""
        return self._book.upcoming.under_way()

    def replan(self, now: float, ended: Sequence[Lease] = ()) -> None:
        """Plan leases with a start in the future anew, in the order of the queue; none comes later than before.

        Deadline leases follow; `ended` are leases that have just made room.
        """
        for lease in sorted(self.future.values(), key=_queue_order):
            if lease.state in _MOVABLE and not any(
                one.phase is Phase.UNDER_WAY for one in (*lease.runs[-1].before, *lease.transfers)
            ):
                self._move_forward(lease, now)
        self._deadlines.move_forward(ended, now)

    def _move_forward(self, lease: Lease, now: float) -> None:
        """Plan a best-effort lease anew, unless it would come later: its image might have to be transferred again."""
        old, undo = lease.runs[-1], self._book.undo()
        undo.note(lease)
        self.future.pop(lease.id)
        self._book.lift(old)
        run, later = self._find(lease, now)
        if run is None or (run.start > old.start and self._settings.never_later):
            undo.restore()
            self.future[lease.id] = lease
            return
        suspended = lease.state is State.SUSPENDED_SCHEDULED
        if not suspended:
            self._book.forget_preparation(lease, now)
        self._observer.taken_back(old, now)
        lease.change(State.SUSPENDED_PENDING if suspended else State.PENDING, now)
        found = self._commit(lease, run, now)
        assert found, f"{lease!r} cannot be prepared"  # noqa: S101  # it was found with its preparation
        if later:
            self.future[lease.id] = lease

    def cancel(self, lease: Lease, now: float) -> None:
        """Take back a lease that has not ended, whatever its state; `step` follows at the same instant (H84)."""
        self._dismiss(lease, State.CANCELLED, now, "cancel")

    def fail(self, lease: Lease, now: float) -> None:
        """Let a lease fail whose machines have stopped by themselves; `step` follows at the same instant (H104)."""
        self._dismiss(lease, State.FAIL, now, None)

    # What begins and ends.

    def _finish(self, now: float) -> None:
        """End what is under way and over by now, in order."""
        for reservation in self._book.upcoming.ends(now):
            self._end(reservation, now)

    def _begin(self, now: float) -> None:
        """Begin what is planned for now."""
        for reservation in self._book.upcoming.starts(now):
            self._start(reservation, now)

    def _start(self, reservation: LeaseReservation, now: float) -> None:
        reservation.phase = Phase.UNDER_WAY
        lease = reservation.lease
        lease.executed.append(reservation)
        if isinstance(reservation, Run):
            if lease.state is State.SCHEDULED:  # it shares a transfer of another
                lease.change(State.READY, now)
            if lease.state is State.READY:
                lease.started = now
            lease.change(State.ACTIVE, now)
            self.future.pop(lease.id, None)
            self.actions.append(Start(lease, reservation))
        elif reservation.use in (Use.SUSPEND, Use.RESUME):
            self._start_memory(reservation, now)
        elif reservation.use is Use.TRANSFER:
            self._preparation.begin(reservation, now)
        self._book.upcoming.note(reservation)
        self._observer.began(reservation, now)
        if reservation.end <= reservation.start and reservation.use not in (Use.VM, Use.SHUTDOWN):
            self._end(reservation, now)  # what takes no time is over before the machines start

    def _start_memory(self, reservation: LeaseReservation, now: float) -> None:
        """Begin to write the memory of machines, or to read it: its files take room from then on, or no more (H53)."""
        lease, suspends = reservation.lease, reservation.use is Use.SUSPEND
        for node, host in reservation.nodes.items():
            if suspends:
                self.disks.save(host, lease, node, self._overheads.node_memory(lease, node))
            else:
                self.disks.load(host, lease, node)
        if suspends and lease.state is State.ACTIVE:
            lease.change(State.SUSPENDING, now)
        elif not suspends and lease.state is State.SUSPENDED_SCHEDULED:
            lease.change(State.RESUMING, now)

    def _end(self, reservation: LeaseReservation, now: float) -> None:
        self._book.remove(reservation)
        self._observer.finished(reservation, now)
        lease = reservation.lease
        if isinstance(reservation, Run):
            self._stop(lease, reservation, "suspend" if reservation.suspends else "shutdown")
        elif reservation.use in (Use.SUSPEND, Use.RESUME, Use.MIGRATE_DISK, Use.MIGRATE_MEMORY):
            self._moved_memory(reservation, now)
        elif reservation.use is Use.SHUTDOWN:
            self._done(lease, now)
        elif reservation.use is Use.TRANSFER:
            self._preparation.finish(reservation, now)

    def _moved_memory(self, reservation: LeaseReservation, now: float) -> None:
        """Follow the memory of machines that were suspended, resumed, or moved to another host."""
        lease, run, disks = reservation.lease, reservation.run, self.disks
        assert run is not None  # noqa: S101  # only transfers have none
        for node, host in reservation.nodes.items():
            if reservation.use is Use.SUSPEND:
                lease.location[node] = host
            elif reservation.use is Use.MIGRATE_DISK:
                disks.move_copy(lease.location[node], host, lease, node)
            elif reservation.use is Use.MIGRATE_MEMORY:
                disks.load(lease.location[node], lease, node)
                disks.save(host, lease, node, self._overheads.node_memory(lease, node))
                lease.location[node] = host
        if reservation.use is Use.SUSPEND and reservation is run.after[-1]:
            lease.change(State.SUSPENDED_PENDING, now)
            if run is not lease.runs[-1]:
                lease.change(State.SUSPENDED_SCHEDULED, now)
                return
            self._enqueue(lease)
            lease.change(State.SUSPENDED_QUEUED, now)
        elif reservation.use is Use.RESUME and reservation is run.before[-1]:
            lease.change(State.RESUMED_READY, now)

    def _stop(self, lease: Lease, run: Run, why: str) -> None:
        lease.accumulated += run.end - run.start
        self.actions.append(Stop(lease, run, why))

    def _end_early(self, lease: Lease, now: float) -> None:
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
        lease.change(State.DONE, now)
        lease.end = now
        self._preparation.forget(lease)
        self._forget(lease, now)

    def _forget(self, lease: Lease, now: float) -> None:
        """Leave alone a lease that is in a final state."""
        del self.leases[lease.id]
        self._observer.ended(lease, now)

    # Requests.

    def _request(self, lease: Lease, now: float) -> None:
        lease.change(State.PENDING, now)
        self.leases[lease.id] = lease
        self._observer.requested(lease, now)
        if not self._admission.accepts(lease):
            self._reject(lease, NOT_ADMITTED, now)
            return
        self._observer.admitted(lease, now)
        if self._empty.find(lease, 0.0, math.inf, strict=False) is None:
            self._reject(lease, TOO_LARGE, now)
        elif not self._hosts.total and not self._has_hosts(lease, now):
            self._reject(lease, NO_HOSTS, now)
        else:
            self._pending.append(lease)

    def _has_hosts(self, lease: Lease, now: float) -> bool:
        """Return whether the selection leaves a new lease enough hosts: it would wait for others in vain."""
        at = now if lease.start is None else max(now, lease.start)
        hosts = self._hosts.sort(lease, range(len(self.site.capacities)), at)
        return self._empty.find_among(lease, hosts, 0.0, math.inf) is not None

    def _reject(self, lease: Lease, why: str, now: float, alternative: float | None = None) -> None:
        lease.change(State.REJECTED, now)
        self._observer.refused(lease, why, now)
        self._forget(lease, now)
        self.actions.append(Reject(lease, why, alternative))

    def _reject_time(self, lease: Lease, why: str, now: float) -> None:
        """Refuse a lease that asked for a time, and offer another."""
        victims = partial(self._eviction.victims, now)
        self._reject(lease, why, now, nearest_start(lease, now, self._book, self._planner, victims))

    def _schedule(self, now: float) -> None:
        """Plan who asks, then whoever waits (H23)."""
        pending, self._pending = self._pending, []
        for lease in pending:
            if lease.kind is Kind.BEST_EFFORT:
                self.queue.append(lease)
                lease.change(State.QUEUED, now)
                self._observer.queued(lease, now)
        for lease in pending:
            if lease.kind is Kind.IMMEDIATE:
                self._plan_immediate(lease, now)
        for lease in pending:
            if lease.kind is Kind.ADVANCE:
                self._plan_reservation(lease, now)
            elif lease.kind is Kind.DEADLINE:
                self._plan_by_deadline(lease, now)
        self._serve_queue(now)

    def _serve_queue(self, now: float) -> None:
        """Plan leases of the queue, first come first served; the others stay in their order (H31)."""
        waiting, left = self.queue, list[Lease]()
        self.queue = []
        at_once = self._preparation.at_once and self._settings.migration != "yes"
        for at, lease in enumerate(waiting):
            ahead = self._may_plan_ahead
            if not ahead and self._is_full(now):
                left += waiting[at:]
                break
            self._observer.tried(lease, now)
            hopeless = not ahead and at_once and self._planner.cannot_start(lease, now)
            if hopeless or not self._plan_best_effort(lease, now):
                left.append(lease)
                if self._settings.stop_at_first:
                    left += waiting[at + 1 :]
                    break
        self.queue = left

    @property
    def _may_plan_ahead(self) -> bool:
        return len(self.future) < self._settings.future_leases

    def _is_full(self, now: float) -> bool:
        """Return whether no host has a CPU to give."""
        return not self.table.fitting(self._breath, now)

    def _enqueue(self, lease: Lease) -> None:
        """Put a lease back into the queue, where it was."""
        at = len(self.queue)
        while at and self.queue[at - 1].submit > lease.submit:
            at -= 1
        self.queue.insert(at, lease)

    # Plans.

    def _plan_best_effort(self, lease: Lease, now: float) -> bool:
        run, later = self._find(lease, now)
        if run is None or not self._commit(lease, run, now):
            return False
        if later:
            self.future[lease.id] = lease
        return True

    def _find(self, lease: Lease, now: float) -> tuple[Run | None, bool]:
        """Return a run of a best-effort lease, and whether it is one that counts as a start in the future."""
        ahead = self._may_plan_ahead
        near = self._points(lease, now)
        run = self._planner.as_soon_as_possible(lease, near, now)
        if run is not None or not ahead:
            return run, False
        later: list[Point] = [(time, None) for time in self._book.frees_after(near[-1][0])]
        run = self._planner.as_soon_as_possible(lease, later, now)
        some = self.table.down or not self._hosts.total
        assert run or some, f"no place for {lease!r} on an empty site"  # noqa: S101  # it fits on the site
        return run, True

    def _plan_immediate(self, lease: Lease, now: float) -> None:
        self._observer.tried(lease, now)
        run = self._planner.as_soon_as_possible(lease, self._preparation.points(lease, now), now)
        if run is None or not self._commit(lease, run, now):
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
        transfers = self._preparation.prepare(lease, found[0], now)
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

    def _points(self, lease: Lease, now: float) -> Sequence[Point]:
        if lease.resuming:
            return [(now + self._overheads.estimated_migration(lease), None)]
        return self._preparation.points(lease, now)

    def _commit(self, lease: Lease, run: Run, now: float) -> bool:
        """Book a run and its preparation; False if that cannot be over in time."""
        transfers = () if lease.resuming else self._preparation.prepare(lease, run, now)
        if transfers is None:
            return False
        self._book.put(lease, run, transfers, now)
        return True

    # What is taken away.

    def _requeue(self, lease: Lease, now: float) -> None:
        """Take the last run of a best-effort lease away, and put it back into the queue."""
        suspended = lease.state is State.SUSPENDED_SCHEDULED
        self.future.pop(lease.id, None)
        running = lease.running
        self._book.take_back(lease, now)
        if running is not None:
            self._stop_run(running, now, "requeue")
        if lease.state is State.PREPARING:
            lease.change(State.PENDING, now)
        lease.change(State.SUSPENDED_QUEUED if suspended else State.QUEUED, now)
        self._enqueue(lease)

    def _plan_anew(self, lease: Lease, now: float) -> None:
        """Plan a lease anew that has lost its hosts before it began, or before it resumed."""
        if lease.runs or lease.resuming:
            if not self._deadlines.resume(lease, now):
                self._lose(lease, now)
            return
        lease.change(State.PENDING, now)
        if lease.kind is Kind.IMMEDIATE:
            self._plan_immediate(lease, now)
        elif lease.kind is Kind.ADVANCE:
            self._plan_reservation(lease, now)
        else:
            self._plan_by_deadline(lease, now)

    def _lose(self, lease: Lease, now: float) -> None:
        """Let a lease fail because of its hosts."""
        waits = lease.running is None
        self._dismiss(lease, State.FAIL, now, "fail")
        if waits:
            self.actions.append(Reject(lease, LOST))

    def _dismiss(self, lease: Lease, state: State, now: float, why: str | None) -> None:
        """End a lease before its time; its machines are stopped unless nobody says why."""
        for waiting in (self.queue, self._pending):
            if lease in waiting:
                waiting.remove(lease)
        self.future.pop(lease.id, None)
        running = lease.running
        self._book.drop(lease, now)
        if running is not None:
            lease.accumulated += now - running.start
            if why is not None:
                self._stop_run(running, now, why)
        lease.change(state, now)
        self._preparation.forget(lease)
        self._forget(lease, now)
        self._freed = [*(self._freed or ()), lease]

    def _run_later(self, run: Run, now: float) -> None:
        """Stop a run of a deadline lease that has another one planned."""
        self._stop_run(run, now, "requeue")
        for state in (State.QUEUED, State.SCHEDULED, State.READY):
            run.lease.change(state, now)

    def _stop_run(self, run: Run, now: float, why: str) -> None:
        """Stop a run that was taken away."""
        run.end = now
        self.actions.append(Stop(run.lease, run, why))


def _queue_order(lease: Lease) -> tuple[float, int]:
    return lease.submit, lease.id
