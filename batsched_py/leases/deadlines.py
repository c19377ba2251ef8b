"""Deadline leases: planned as a whole before their deadlines, if necessary by moving others of their kind (Haizea 1.1).

All or nothing: a refused lease leaves all plans unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence

from batsched_py.leases.book import LeaseBook
from batsched_py.leases.lease import Lease, LeaseRun, Phase
from batsched_py.leases.mapping import NO_NODES
from batsched_py.leases.planner import Planner
from batsched_py.leases.points import Point, points_from
from batsched_py.leases.policies.preemption import Preemptability
from batsched_py.leases.undo import Undo
from batsched_py.model.lease_kind import LeaseKind

# Between two calls all time that an accepted lease still needs is planned in its runs, and the last one ends by its
# deadline; only the loss of a host may break this. A property test plays drawn requests and checks it, and another one
# that a refusal changes nothing: runs, hosts, states and the order of ties.
#
# A new lease is tried in four ways, each only if the one before has failed: at its very start, with others moved for it
# (only where little slack is left, TIGHT); at the first time at which it fits; among all deadline leases that have not
# begun, planned anew in order of urgency; and planned anew once more in order of deadlines. The first three are Haizea
# 1.1's. The fourth (`deadline-rules = feasible`) is new: least slack per second of work misjudges a short lease with a
# near deadline, which has more slack than a long one and is late behind it, while the earliest deadline first is
# optimal for one host if all may begin at once (Jackson 1955). Of 80 random leases Haizea refuses three, with the
# fourth way it is one. To find an order that always works is NP-hard, so that a refusal is no proof.
#
# All attempts change the real book and take the changes back by `Undo`, instead of planning on a copy: a copy of the
# table costs time in proportion to everything that is reserved, an attempt in proportion to what it moves. Observers
# are notified when an attempt has succeeded (`_settle`), since a refused lease must leave no line in the log.
#
# Cost: a search of the table for each lease that is moved, so O(waiting deadline leases) searches for a lease that is
# refused.

#: A lease with at most this multiple of its duration between start and deadline is first tried exactly at its start.
TIGHT = 2.0


class _Room:
    """Hosts for a lease, the leases that were moved for it, and the running ones that are stopped for it."""

    def __init__(self, undo: Undo) -> None:
        self.undo = undo
        self.found = NO_NODES
        self.moved: list[Lease] = []
        self.stopped: list[LeaseRun] = []


class Deadlines:
    """The planner of deadline leases.

    Args:
        book: the reservations.
        planner: the planner of the site.
        preemption: the preemption policy.
        requeue: is called for each run under way that is stopped; its lease has another run planned.
    """

    def __init__(
        self,
        book: LeaseBook,
        planner: Planner,
        preemption: Preemptability,
        requeue: Callable[[LeaseRun, float], None],
    ) -> None:
        self._book, self._planner = book, planner
        self._mapper, self._overheads, self._settings = planner.mapper, planner.overheads, planner.settings
        self._preemption, self._requeue = preemption, requeue
        #: Requested deadline leases by id; ended ones are removed lazily.
        self._leases: dict[int, Lease] = {}

    def adopt(self, former: Deadlines) -> None:
        """Take over the leases of a planner under other rules, which is not used any more."""
        self._leases = former._leases

    def plan(self, lease: Lease, now: float) -> bool:
        """Plan a new deadline lease; if that is impossible, return False and change nothing."""
        self._leases[lease.id] = lease
        start, deadline = _terms(lease)
        if max(start, now) + lease.duration > deadline:
            return False
        tight = deadline - start <= TIGHT * lease.duration
        return (
            (tight and start >= now and self.make_room(lease, now))
            or self._settle(lease, self._fit(lease, now, now), now, self._book.undo())
            or self._reorder(lease, max(start, now), now, _urgency)
            or (
                self._settings.deadline_rules == "feasible"
                and self._reorder(lease, now, now, lambda one, _: _terms(one)[1])
            )
        )

    def resume(self, lease: Lease, now: float) -> bool:
        """Plan the rest of a lease whose last runs were removed; return False if it would miss its deadline."""
        run = self._fit(lease, now, now)
        if run is not None:
            self._book.add(run)
            self._book.observer.planned(lease, run, now)
        return run is not None

    def make_room(self, lease: Lease, now: float) -> bool:
        """Plan a lease exactly at its start, moving deadline leases if necessary; return False if impossible."""
        assert lease.start is not None  # noqa: S101  # it has an exact start
        start, end = lease.start, self._planner.end(lease, lease.start)
        ready = [hosts for time, hosts in self._book.preparation.points(lease, now) if time <= start]
        if not ready:
            return False
        hosts = [host for host in self._mapper.order(lease, start) if ready[-1] is None or host in ready[-1]]
        victims = self._victims(lease, start, end)
        room = self._room(lease, hosts, victims, now)
        if room is not None and self._settings.drop_unneeded_victims:
            used = self._mapper.used(lease, room.found)
            needed = [one for one in room.moved if room.undo.held(one, used, start, end)]
            if len(needed) < len(room.moved):
                room.undo.restore()
                # The place of a victim may depend on those moved before it: if the needed do not suffice, all move.
                room = self._room(lease, hosts, needed, now) or self._room(lease, hosts, victims, now)
        if room is None or not self._settle(lease, self._planner.exactly(lease, start, room.found), now, room.undo):
            return False
        for run in room.stopped:
            self._requeue(run, now)
        return True

    def move_forward(self, ended: Sequence[Lease], now: float) -> None:
        """Move deadline leases to earlier starts where possible, the most urgent first; none moves to a later one.

        The original rules try only leases that fit into the unused time of a lease in `ended`.
        """
        if self._settings.deadline_rules == "original":
            for lease in ended:
                self._fill(lease.size, lease.duration - lease.accumulated, now)
            return
        for lease in self._waiting(now):
            self._try_earlier(lease, now)

    def _fill(self, size: int, seconds: float, now: float) -> None:
        """Move leases forward into `seconds` freed on `size` hosts, until their total demand exceeds this."""
        until, left = now + seconds, size * seconds
        for lease in self._waiting(now):
            start, _ = _terms(lease)
            fits = lease.size <= size and start + lease.duration <= until and lease.duration <= seconds
            asked = lease.size * lease.duration
            if fits and asked <= left and not lease.runs[-1].before and self._try_earlier(lease, now, until):
                left -= asked

    def _waiting(self, now: float) -> list[Lease]:
        """Return leases with a single replannable run that could begin earlier, the most urgent first."""
        found = [
            lease
            for lease in self._open()
            if len(tail := self._tail(lease, now)) == 1 and tail[0].first_start > max(now, _terms(lease)[0])
        ]
        return sorted(found, key=lambda one: ((_terms(one)[1] - now) / one.duration, one.id))

    def _open(self) -> list[Lease]:
        """Return the leases that have not ended."""
        for lease in [one for one in self._leases.values() if one.ended]:
            del self._leases[lease.id]
        return list(self._leases.values())

    def _try_earlier(self, lease: Lease, now: float, until: float = math.inf) -> bool:
        run, undo = lease.runs[-1], self._book.undo()
        undo.note(lease)
        self._book.lift(run)
        found = self._fit(lease, now, now)
        if found is None or found.end > until or found.start >= run.start:
            undo.restore()
            return False
        self._book.add(found)
        undo.notify_removed(self._book.observer, now)
        undo.notify_planned(self._book.observer, now)
        return True

    def _fit(self, lease: Lease, earliest: float, now: float) -> LeaseRun | None:
        """Return the earliest run of all unplanned time of a lease; None if none ends before its deadline."""
        start, deadline = _terms(lease)
        earliest, latest = max(earliest, start, now), deadline - lease.unplanned
        if lease.resuming:
            after = max(earliest, lease.runs[-1].final_end)
            points: list[Point] = [(after + self._overheads.estimated_migration(lease), None)]
        else:
            points = points_from(self._book.preparation.points(lease, now), earliest)
        points += [(time, None) for time in self._book.frees_after(points[-1][0])]
        run = self._planner.as_soon_as_possible(lease, (one for one in points if one[0] <= latest), now)
        return run if run is not None and run.end <= deadline else None

    def _settle(self, lease: Lease, run: LeaseRun | None, now: float, undo: Undo) -> bool:
        """Commit the run of a new lease with its preparation; roll back if there is no run, or no time to prepare."""
        transfers = None if run is None else self._book.preparation.prepare(lease, run, now)
        if run is None or transfers is None:
            undo.restore()
            return False
        undo.notify_removed(self._book.observer, now)
        self._book.put(lease, run, transfers, now)
        undo.notify_planned(self._book.observer, now, but=lease)
        return True

    # Preemption of other deadline leases.

    def _victims(self, lease: Lease, start: float, end: float) -> list[Lease]:
        """Return the deadline leases that may be preempted, in the order in which they are tried."""
        sign = 1 if self._settings.victim_order == "oldest" else -1
        scored = [
            (self._preemption.score(lease, one, start), one)
            for one in self._book.table.leases_between(start, end)
            if one.kind is LeaseKind.DEADLINE and one is not lease
        ]
        may = [(score, one) for score, one in scored if score >= 0]
        return [one for _, one in sorted(may, key=lambda each: (sign * each[0], sign * each[1].id))]

    def _room(self, lease: Lease, hosts: Sequence[int], victims: Iterable[Lease], now: float) -> _Room | None:
        """Move victims one by one until the lease fits; if all are not enough, move none and return None."""
        assert lease.start is not None  # noqa: S101  # it has an exact start
        start, end = lease.start, self._planner.end(lease, lease.start)
        room = _Room(self._book.undo())
        found = self._mapper.find_among(lease, hosts, start, end)
        for victim in victims:
            if found is not None:
                break
            running = victim.running
            room.undo.note(victim)
            if self._give_way(victim, (start, end), now):
                room.moved.append(victim)
                room.stopped += [running] if running is not None and running not in victim.runs else []
                found = self._mapper.find_among(lease, hosts, start, end)
        if found is None:
            room.undo.restore()
            return None
        room.found = found
        return room

    def _give_way(self, lease: Lease, span: tuple[float, float], now: float) -> bool:
        """Free the hosts of a lease for [start, end) and plan its rest afterwards; return False if it would be late."""
        start, end = span
        first = next((run for run in lease.runs if run.phase is not Phase.OVER and run.final_end > start), None)
        if first is None:
            return False  # its suspension is under way
        undo = self._book.undo()
        undo.note(lease)
        steps = self._planner.suspension(first, start, now)
        if steps is None and not self._may_take_away(first):
            return False
        tail = lease.runs[lease.runs.index(first) :]
        for run in tail if steps is None else tail[1:]:
            self._book.lift(run)
        if steps is not None:
            self._book.shorten(first, steps[0].start, steps)
        found = self._fit(lease, end, now)
        if found is None:
            undo.restore()
            return False
        self._book.add(found)
        return True

    def _may_take_away(self, run: LeaseRun) -> bool:
        """Return whether a run may be removed without losing preceding reservations under way or its disk image."""
        may = not run.begun or (run.phase is Phase.UNDER_WAY and run.lease.repeatable)
        return may and (bool(run.before) or self._book.preparation.movable(run.lease))

    # Replanning of other deadline leases.

    def _reorder(self, lease: Lease, earliest: float, now: float, key: Callable[[Lease, float], float]) -> bool:
        """Plan a new lease together with those that have not begun, in the order of a key; return False if one is late.

        Leases after the new one in this order are replanned only if they conflict.
        """
        undo, lifted = self._lift(lease, earliest)
        # The key is computed after the lift: the work that is not planned includes that of the lifted runs.
        order = sorted((self._leases[each] for each in lifted), key=lambda one: (key(one, earliest), one.id))
        at = order.index(lease) + 1
        ahead, behind = order[:at], order[at:]
        reached = self._place(ahead, earliest, now)
        # Leases behind keep their plans if these cannot collide with the new ones, since each that is moved may become
        # late. Those that share hosts with a lease to be moved do not: they could leave that lease no place (`_apart`).
        used = {host for one in ahead for run in one.runs[-1:] for host in run.shares}
        apart = _apart(behind, lifted, used)
        undo.restore_these(apart)
        left = [one for one in behind if one not in apart]
        while reached is not None and left and min(lifted[one.id][0].first_start for one in left) <= reached:
            late = self._place([left.pop(0)], earliest, now)
            reached = None if late is None else max(reached, late)
        undo.restore_these(left)  # all of them begin after the last of the new plans has ended
        run = lease.runs[-1] if lease.runs else None
        if reached is None or run is None:
            undo.restore()
            return False
        self._book.lift(run)  # it goes in again together with its preparation, which may still be impossible
        return self._settle(lease, run, now, undo)

    def _lift(self, lease: Lease, earliest: float) -> tuple[Undo, dict[int, list[LeaseRun]]]:
        """Remove all runs that may be replanned; return them by lease, with an empty list for the new lease."""
        undo, lifted = self._book.undo(), {lease.id: list[LeaseRun]()}
        undo.note(lease)
        for other in self._open():
            tail = self._tail(other, earliest)
            if tail:
                undo.note(other)
                lifted[other.id] = tail
                for run in tail:
                    self._book.lift(run)
        return undo, lifted

    def _place(self, leases: Iterable[Lease], earliest: float, now: float) -> float | None:
        """Plan leases in order; return the time at which all have freed their hosts, None if one would be late."""
        reached = earliest
        for lease in leases:
            run = self._fit(lease, earliest, now)
            if run is None:
                return None
            self._book.add(run)
            reached = max(reached, run.final_end)
        return reached

    def _tail(self, lease: Lease, earliest: float) -> list[LeaseRun]:
        """Return the last runs of a deadline lease that end at or after a time and may be replanned."""
        at = len(lease.runs)
        while at and lease.runs[at - 1].end >= earliest and self._may_be_planned_anew(lease.runs[at - 1]):
            at -= 1
        return lease.runs[at:]

    def _may_be_planned_anew(self, run: LeaseRun) -> bool:
        return not run.begun and self._may_take_away(run)


def _terms(lease: Lease) -> tuple[float, float]:
    """Return start and deadline."""
    assert lease.start is not None  # noqa: S101  # a deadline lease has both
    assert lease.deadline is not None  # noqa: S101
    return lease.start, lease.deadline


def _urgency(lease: Lease, time: float) -> float:
    """Return the time left before the deadline as a multiple of the lease's unplanned time."""
    return (_terms(lease)[1] - time) / lease.unplanned


def _apart(leases: Sequence[Lease], runs: dict[int, list[LeaseRun]], used: Collection[int]) -> list[Lease]:
    """Return leases that share no host with the used ones, directly or through other leases."""
    hosts = {one.id: {host for run in runs[one.id] for host in run.shares} for one in leases}
    touched, apart = set(used), list(leases)
    while True:
        near = [one for one in apart if hosts[one.id] & touched]
        if not near:
            return apart
        apart = [one for one in apart if one not in near]
        touched.update(*(hosts[one.id] for one in near))
