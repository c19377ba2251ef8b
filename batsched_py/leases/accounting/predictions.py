"""Predicted starts of waiting leases: an observer that records each prediction, and estimates of the starts to come."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Final, NamedTuple

from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun, Phase
from batsched_py.leases.observer import LeaseSchedule, Observer
from batsched_py.leases.site import Site
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.table import Table
from batsched_py.results.lease_rows import PredictionRow

# A lease that waits has a planned start, or none yet: then its start is estimated from the work ahead of it, which
# costs a number instead of a plan. The plan itself is no option: to plan all of a long queue at each request is
# quadratic, and a site repeats all requests when it starts again.
#
# The estimate is the later of two times: when the hosts in service have done the work of the leases that run on them,
# are planned, or come before it in the queue, evenly; and when as many of them as it needs have ended what they run
# now. There is none while too few hosts are in service, since the return of others is not known. Held leases are no
# work ahead: their release may never come. It knows no reservation in the future, no constraint, and no lease that ends
# early: the records say how good it is.

#: The live table with estimates; the largest number of its rows: those of the first leases in the queue.
START_ESTIMATES: Final = "start_estimates"
_MOST: Final = 1000
#: Kinds of leases whose starts are predicted: others start as requested or not at all.
_WAIT: Final = frozenset({LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE})


class EstimateRow(NamedTuple):
    """The estimated start of a waiting lease without a plan.

    Attributes:
        lease: the number of the lease.
        start: seconds of the simulation; None while too few hosts are in service.
        ahead: how many leases come before it in the queue.
    """

    lease: int
    start: float | None
    ahead: int


class _Use(NamedTuple):
    """The use of the hosts in service by runs, which stays true until one of them begins, ends or is planned.

    Attributes:
        hosts: the number of all hosts.
        nodes: the number of nodes of the runs under way.
        until: the sum of their ends, one for each node.
        planned: the node seconds of planned runs.
        free: when each host in service is free, ascending; minus infinity for one without a run under way.
    """

    hosts: int
    nodes: int
    until: float
    planned: float
    free: Sequence[float]

    def estimate(self, lease: Lease, ahead: float, now: float) -> float | None:
        """Return the estimated start of a lease with so many node seconds of waiting leases ahead; None for none."""
        needed = min(lease.size, self.hosts)  # nodes may share a host
        if not 0 < needed <= len(self.free):
            return None
        work = max(0.0, self.until - now * self.nodes) + self.planned + max(0.0, ahead)
        return max(now + work / len(self.free), self.free[needed - 1])


class Predictions(Observer):
    """The predictions of a run: an estimate at the request, if the lease is not planned at once, and its first plan.

    Attributes:
        wanted: whether they are recorded: if leases are requested while the run goes on.
    """

    def __init__(self, *, wanted: bool = True) -> None:
        self.wanted = wanted
        #: [lease, time, planned, start], in order of time.
        self._made: list[tuple[int, float, int, float]] = []
        #: Number of a lease that was held before it started -> predictions of then; those of its own no longer count.
        self._void: dict[int, int] = {}
        #: Numbers of leases whose first plan was recorded, or that have started; time of each first start.
        self._planned: set[int] = set()
        self._started: dict[int, float] = {}
        #: Leases that were requested at this instant.
        self._new: list[Lease] = []
        #: Number of a lease -> its run that is planned or under way.
        self._runs: dict[int, LeaseRun] = {}
        #: Number of a lease in the queue -> its work in node seconds; their sum.
        self._waiting: dict[int, float] = {}
        self._work = 0.0
        self._site: Site | None = None
        #: The hosts out of service.
        self._down: Collection[int] = ()
        #: The use of hosts; None after a change.
        self._known: _Use | None = None

    def opened(self, site: Site) -> None:
        """Keep the site."""
        self._site = site

    def queued(self, lease: Lease, now: float) -> None:
        """Note a new lease in the queue, which may be held at once."""
        del now
        self._new.append(lease)
        if not lease.held:
            self._wait(lease)

    def planned(self, lease: Lease, run: LeaseRun, now: float) -> None:
        """Record the first plan of a lease that waits."""
        self._runs[lease.id], self._known = run, None
        self._leave(lease)
        if lease.id not in self._planned:
            self._planned.add(lease.id)
            if run.start > now and lease.kind in _WAIT:
                self._made.append((lease.id, now, 1, run.start))

    def cut(self, run: LeaseRun) -> None:
        """Note an earlier end of a run."""
        del run
        self._known = None

    def taken_back(self, run: LeaseRun, now: float) -> None:
        """Note a lease that waits again."""
        del now
        self._runs.pop(run.lease.id, None)
        self._known = None
        if run.lease.kind is LeaseKind.BEST_EFFORT:
            self._wait(run.lease)

    def held(self, lease: Lease, now: float) -> None:
        """Take the work of a held lease out of the queue, and its predictions back: its user decides when it starts."""
        del now
        self._leave(lease)
        if lease.id not in self._started:
            self._void[lease.id] = len(self._made)
            self._planned.discard(lease.id)

    def released(self, lease: Lease, now: float) -> None:
        """Note a lease that waits again."""
        del now
        if lease.kind is LeaseKind.BEST_EFFORT:
            self._wait(lease)

    def began(self, reservation: LeaseReservation, now: float) -> None:
        """Note the first start of a lease."""
        self._known = None
        if isinstance(reservation, LeaseRun):
            self._started.setdefault(reservation.lease.id, now)

    def finished(self, reservation: LeaseReservation, now: float) -> None:
        """Note the end of a run."""
        del now
        if self._runs.get(reservation.lease.id) is reservation:
            self._known = None
            del self._runs[reservation.lease.id]

    def ended(self, lease: Lease, now: float) -> None:
        """Forget a lease, except for its predictions."""
        del now
        if self._runs.pop(lease.id, None) is not None:
            self._known = None
        self._leave(lease)
        self._planned.discard(lease.id)

    def stepped(self, scheduler: LeaseSchedule, now: float) -> None:
        """Estimate the starts of new leases without a plan."""
        if scheduler.down is not self._down:
            self._down, self._known = scheduler.down, None
        new, self._new = self._new, []
        left = [lease for lease in new if lease.id in self._waiting]
        if not left or self._site is None or not self._site.exclusive:
            return
        use = self._use()
        ahead = self._work - sum(self._waiting[lease.id] for lease in left)
        for lease in left:
            start = use.estimate(lease, ahead, now)
            if start is not None:
                self._made.append((lease.id, now, 0, start))
            ahead += self._waiting[lease.id]

    def tables(self) -> list[Table]:
        """Return the table `predictions`, in order of time, with the starts that followed; none without predictions."""
        made = [one for number, one in enumerate(self._made) if number >= self._void.get(one[0], 0)]
        rows = [PredictionRow(*one, self._started.get(one[0])) for one in made]
        return [Table("predictions", PredictionRow._fields, rows)] if rows else []

    def live_tables(self, queue: Sequence[Lease], now: float) -> list[Table]:
        """Return the live table of estimates for the first leases of the queue; none if predictions are not wanted."""
        if not self.wanted:
            return []
        found, ahead = list[EstimateRow](), 0.0
        if self._site is not None and self._site.exclusive and queue:
            use = self._use()
            for number, lease in enumerate(islice(queue, _MOST)):
                found.append(EstimateRow(lease.id, use.estimate(lease, ahead, now), number))
                ahead += lease.remaining * lease.size
        return [Table(START_ESTIMATES, EstimateRow._fields, found)]

    def _wait(self, lease: Lease) -> None:
        self._leave(lease)
        work = self._waiting[lease.id] = lease.remaining * lease.size
        self._work += work

    def _leave(self, lease: Lease) -> None:
        self._work -= self._waiting.pop(lease.id, 0.0)
        if not self._waiting:
            self._work = 0.0  # without the errors of the sums before

    def _use(self) -> _Use:
        """Return the use of hosts; the same one until it changes, since thousands may ask meanwhile.

        It follows from phases and not from the time, so that it does not matter who asked first, and when.
        """
        if self._known is None:
            assert self._site is not None  # noqa: S101  # checked by the callers
            hosts = len(self._site.capacities)
            free = {host: -math.inf for host in range(hosts) if host not in self._down}
            under_way = [
                (run, [host for host in run.nodes.values() if host in free])
                for run in self._runs.values()
                if run.phase is Phase.UNDER_WAY
            ]
            planned = [run for run in self._runs.values() if run.phase is Phase.PLANNED]
            for run, nodes in under_way:
                free.update((host, max(free[host], run.final_end)) for host in nodes)
            self._known = _Use(
                hosts,
                sum(len(nodes) for _, nodes in under_way),
                math.fsum(run.end * len(nodes) for run, nodes in under_way),
                math.fsum((run.end - run.start) * run.lease.size for run in planned),
                sorted(free.values()),
            )
        return self._known
