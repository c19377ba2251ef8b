"""Queue of best-effort leases: waiting ones, and those with a planned start in the future (H31, H33)."""

from __future__ import annotations

import math

from batsched_py.leases.book import LeaseBook
from batsched_py.leases.lease import Lease, LeaseRun, Phase
from batsched_py.leases.overheads import Overheads
from batsched_py.leases.planner import Planner
from batsched_py.leases.points import Point
from batsched_py.leases.policies.hosts import HostOrder
from batsched_py.leases.waiting_line import WaitingLine
from batsched_py.model.resources import CPU
from batsched_py.results.lease_rows import LeaseState

# Between two calls each best-effort lease that is not over is in `waiting`, has something planned or under way, or is
# held; those in `future` have one that counts against `future_leases` (0: no backfilling, 1: aggressive, infinity:
# conservative). `waiting` is in order of priority, then of submission. A lease that gives way returns to its place in
# it, not to the end, so that being preempted costs a lease no rank.
#
# When anything ends early, each lease of `future` is lifted and planned anew in order, the compression of conservative
# backfilling. Eight in ten come out where they were. They are not skipped: each gets a new number in the order of ties,
# and a line in the log, as in Haizea (ADR 27). So the cost of an early end is a search for each of them, which makes
# conservative backfilling quadratic in the queue, or worse. Unlike in Haizea a lease never gets a later start by that
# (`never_later`): if its image had to be transferred again for the new place, it keeps the old one.
#
# A lease whose image or memory is on its way cannot be lifted. It is noted (`_held_up`), and planned anew when that is
# over.
#
# Where no further start may be planned ahead, `serve` must not cost more when thousands wait: one question finds that
# the site is full, and one expression the leases that may start now (`WaitingLine`); only these are tried.

#: States in which a lease waits for a planned run.
_MOVABLE = frozenset({LeaseState.PREPARING, LeaseState.READY, LeaseState.SCHEDULED, LeaseState.SUSPENDED_SCHEDULED})


class LeaseQueue:
    """Leases to run as soon as possible, first come first served.

    Attributes:
        line: the waiting leases.
        future: leases with a planned start in the future, by id.
    """

    def __init__(self, book: LeaseBook, planner: Planner, overheads: Overheads, order: HostOrder) -> None:
        """Create an empty queue; `order` is the host selection policy, which may exclude hosts."""
        self._book, self._planner, self._overheads, self._order = book, planner, overheads, order
        self._settings, self._observer = planner.settings, book.observer
        #: A minimal demand, which fits on every host with free CPU.
        hidden = len(book.table.hosts[0].capacity) - len(book.table.types) if book.table.hosts else 0
        self._least_demand = (*(1e-9 if name == CPU else 0.0 for name in book.table.types), *(0 for _ in range(hidden)))
        #: True once a lease was in the queue that may need no CPU.
        self._without_cpu = False
        self.line = WaitingLine(planner.need)
        self.future: dict[int, Lease] = {}
        #: Ids of leases that were not replanned because a transfer for them was under way.
        self._held_up = set[int]()

    @property
    def waiting(self) -> list[Lease]:
        """Leases without a planned run, in the order of priority and submission, without held ones."""
        return self.line.leases

    def adopt(self, former: LeaseQueue) -> None:
        """Take over the leases of a queue under other rules, which is not used any more."""
        for lease in former.waiting:
            self.line.insert(len(self.waiting), lease)
        self.future, self._held_up, self._without_cpu = former.future, former._held_up, former._without_cpu

    def join(self, lease: Lease, now: float) -> None:
        """Add a new lease; a held one is not served before it is released."""
        if not lease.held:
            self.put_back(lease)
        self._without_cpu = self._without_cpu or lease.needs is not None
        lease.change(LeaseState.QUEUED, now)
        self._observer.queued(lease, now)

    def put_back(self, lease: Lease) -> None:
        """Insert a lease again, at its place in the order of priority and submission."""
        waiting = self.waiting
        at, rank = len(waiting), self.rank(lease)
        while at and self.rank(waiting[at - 1]) > rank:
            at -= 1
        self.line.insert(at, lease)

    @staticmethod
    def rank(lease: Lease) -> tuple[int, float]:
        """Return the sort key of a lease in the queue."""
        return -lease.priority, lease.submit

    def reorder(self, lease: Lease) -> None:
        """Move a lease, if it waits, to its place after its priority has changed."""
        if self.line.remove(lease):
            self.put_back(lease)

    def movable(self, first: tuple[int, float]) -> list[Lease]:
        """Return the leases with a planned start from a rank on for which nothing is under way."""
        return [
            lease
            for lease in self.future.values()
            if lease.state in _MOVABLE and self.rank(lease) >= first and not _is_under_way(lease)
        ]

    def forget(self, lease: Lease) -> None:
        """Remove a lease that will not continue, if present."""
        self.line.remove(lease)
        self.future.pop(lease.id, None)

    def serve(self, now: float) -> None:
        """Plan waiting leases in order, as many as the settings allow (H31)."""
        if not self.waiting:
            return
        at_once = self._book.preparation.at_once and self._settings.migration != "yes"
        # A log of tries has each of them, and without backfilling only the first that cannot start counts.
        one_by_one = not at_once or self._settings.stop_at_first or self._observer.follows_tries
        waiting, planned, place = self.waiting, list[int](), 0
        full = self._may_start_none(now)
        while place < len(waiting) and not full and (one_by_one or self._may_plan_ahead):
            if self._try(waiting[place], now, at_once=at_once):
                planned.append(place)
                full = self._may_start_none(now)
            elif self._settings.stop_at_first:
                break
            place += 1
        if not full and not one_by_one:
            planned += self._serve_promising(place, now)
        for place in reversed(planned):
            self.line.remove_at(place)

    def _serve_promising(self, begin: int, now: float) -> list[int]:
        """Plan the leases, from a place in the queue on, that may start now; return the places of planned ones."""
        waiting, planned, table = self.waiting, list[int](), self._book.table
        for place in self.line.promising(begin, lambda demand: table.room(demand, now)):
            if self._try(waiting[place], now, at_once=True):
                planned.append(place)
                if self._may_start_none(now):
                    break
        return planned

    def _try(self, lease: Lease, now: float, *, at_once: bool) -> bool:
        """Plan a lease, if possible; return whether it is planned."""
        self._observer.tried(lease, now)
        if at_once and not self._may_plan_ahead and self._planner.cannot_start(lease, now):
            return False
        return self._plan(lease, now)

    def move_forward(self, now: float) -> None:
        """Replan leases with a planned start in the future, in the order of the queue (H33)."""
        self._held_up.clear()
        for lease in sorted(self.future.values(), key=_order):
            self._move_forward(lease, now)

    def catch_up(self, now: float) -> None:
        """Replan leases that were skipped because of a transfer under way, unless they would start later."""
        if self._held_up and self._settings.never_later:
            left, self._held_up = self._held_up, set[int]()
            for lease in sorted((self.future[one] for one in left if one in self.future), key=_order):
                self._move_forward(lease, now)

    def _move_forward(self, lease: Lease, now: float) -> None:
        if lease.state not in _MOVABLE:
            return
        if _is_under_way(lease):
            self._held_up.add(lease.id)
        else:
            self._plan_anew(lease, now)

    @property
    def _may_plan_ahead(self) -> bool:
        return len(self.future) < self._settings.future_leases

    def _may_start_none(self, now: float) -> bool:
        """Return True if nothing may be planned ahead, and no host has free CPU."""
        if self._may_plan_ahead or self._without_cpu:
            return False
        return not self._book.table.room(self._least_demand, now)

    def _plan(self, lease: Lease, now: float) -> bool:
        run, later = self._find(lease, now)
        if run is None or not self._book.commit(lease, run, now):
            return False
        if later:
            self.future[lease.id] = lease
        return True

    def _plan_anew(self, lease: Lease, now: float) -> None:
        """Replan a lease, unless it would start later, for example because its image must be transferred again."""
        old, undo = lease.runs[-1], self._book.undo()
        undo.note(lease)
        self.future.pop(lease.id)
        self._book.lift(old)
        run, later = self._find(lease, now, old.start if self._settings.never_later else math.inf)
        if run is None or (run.start > old.start and self._settings.never_later):
            undo.restore()
            self.future[lease.id] = lease
            return
        suspended = lease.state is LeaseState.SUSPENDED_SCHEDULED
        if not suspended:
            self._book.forget_preparation(lease, now)
        self._observer.taken_back(old, now)
        lease.change(LeaseState.SUSPENDED_PENDING if suspended else LeaseState.PENDING, now)
        found = self._book.commit(lease, run, now)
        assert found, f"{lease!r} cannot be prepared"  # noqa: S101  # it was found with its preparation
        if later:
            self.future[lease.id] = lease

    def _find(self, lease: Lease, now: float, latest: float = math.inf) -> tuple[LeaseRun | None, bool]:
        """Return a run or None, and whether the run counts as a start in the future.

        Runs that begin after `latest` may be missed.
        """
        ahead = self._may_plan_ahead
        near = self._points(lease, now)
        run = self._planner.as_soon_as_possible(lease, near, now)
        if run is not None or not ahead:
            return run, False
        later: list[Point] = [(time, None) for time in self._book.frees_after(near[-1][0], latest)]
        run = self._planner.as_soon_as_possible(lease, later, now)
        some = self._book.table.down or not self._order.total or latest < math.inf
        assert run or some, f"no place for {lease!r} on an empty site"  # noqa: S101  # it fits on the site
        return run, True

    def _points(self, lease: Lease, now: float) -> list[Point]:
        if lease.resuming:
            return [(now + self._overheads.estimated_migration(lease), None)]
        return list(self._book.preparation.points(lease, now))


def _is_under_way(lease: Lease) -> bool:
    """Return True if the image or the memory of a lease with a planned run is on its way."""
    return any(one.phase is Phase.UNDER_WAY for one in (*lease.runs[-1].before, *lease.transfers))


def _order(lease: Lease) -> tuple[int, float, int]:
    return -lease.priority, lease.submit, lease.id
