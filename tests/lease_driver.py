"""The driver of a lease scheduler alone, without Batsim: requests arrive, runs end early, and time passes (H20)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from batsched_py.leases.actions import Start
from batsched_py.leases.lease import Lease, LeaseRun, Phase
from batsched_py.leases.observer import Observer
from batsched_py.leases.policies.admission import Admission
from batsched_py.leases.policies.hosts import GreedyHosts
from batsched_py.leases.policies.makers import Policies
from batsched_py.leases.policies.preemption import ReservationsFirst
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.leases.scheduler import LeaseScheduler
from batsched_py.leases.settings import LeaseSettings
from batsched_py.leases.site import Site
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import DiskImage
from batsched_py.model.resources import CPU, MEMORY

#: Policies with which reservations go first.
RESERVATIONS_FIRST = Policies(lambda _: Admission(), lambda _: ReservationsFirst(), GreedyHosts)


class Request(NamedTuple):
    """A lease, requested at its `submit`, and the seconds that its machines really run; None if all that it asks."""

    lease: Lease
    real: float | None = None


class LeaseDriver:
    """Time, for a scheduler of leases.

    Attributes:
        leases: of all requests, in their order.
        now: the last instant.
        instants: their number.
    """

    def __init__(self, scheduler: LeaseScheduler, requests: Iterable[Request]) -> None:
        self.scheduler = scheduler
        given = list(requests)
        self.leases = [lease for lease, _ in given]
        self._real = {lease.id: real for lease, real in given}
        #: In order of arrival, the next one last.
        self._arriving = sorted((request.lease for request in given), key=lambda one: (-one.submit, -one.id))
        #: When machines end by themselves; entries of runs that were stopped or planned anew are out of date.
        self._ends: list[tuple[float, int, LeaseRun]] = []
        self.now, self.instants = 0.0, 0

    def run(self, until: float = math.inf) -> LeaseDriver:
        """Go on until nothing is left to happen by `until`."""
        while (now := self._next()) <= until and now < math.inf:
            assert now >= self.now, f"time goes back from {self.now:g} to {now:g}"
            self.now, self.instants = now, self.instants + 1
            self._step(now)
        return self

    def visit(self, now: float) -> None:
        """Go through one more instant, as the scheduler was told of something."""
        self.now, self.instants = now, self.instants + 1
        self._step(now)

    def _next(self) -> float:
        while self._ends and self._ends[0][2].phase is not Phase.UNDER_WAY:
            heapq.heappop(self._ends)
        planned = self.scheduler.next_instant()
        times = [math.inf if planned is None else planned]
        times += [lease.submit for lease in self._arriving[-1:]]
        return min([*times, *(end for end, _, _ in self._ends[:1])])

    def _step(self, now: float) -> None:
        ended = list[Lease]()
        while self._ends and self._ends[0][0] <= now:
            time, _, run = heapq.heappop(self._ends)
            if run.phase is Phase.UNDER_WAY and (time < run.end or run.suspends):
                ended.append(run.lease)
        requests = list[Lease]()
        while self._arriving and self._arriving[-1].submit <= now:
            requests.append(self._arriving.pop())
        self.scheduler.step(now, ended, requests)
        for action in self.scheduler.actions:
            real = self._real[action.lease.id] if isinstance(action, Start) else None
            if isinstance(action, Start) and real is not None:
                end = action.run.start + real - action.lease.accumulated
                heapq.heappush(self._ends, (end, action.run.order, action.run))
        self.scheduler.actions.clear()


def site(hosts: int, cpu: float = 100.0, memory: float = 1024.0) -> Site:
    """A site of equal hosts."""
    return Site.of([{CPU: cpu, MEMORY: memory}] * hosts)


def lease(number: int, submit: float, nodes: int, duration: float, **terms: Any) -> Lease:
    """A lease of whole hosts, best effort unless it has a `start` or is of another `kind`.

    Args:
        number: its id.
        submit: seconds.
        nodes: their number.
        duration: seconds.
        terms: `cpu` and `memory` of each node, `image` as (name, size), and what Lease takes.
    """
    demand = terms.pop("cpu", 100.0), terms.pop("memory", 1024.0)
    image = terms.pop("image", None)
    kind = terms.pop("kind", LeaseKind.ADVANCE if "start" in terms else LeaseKind.BEST_EFFORT)
    software = None if image is None else DiskImage(*image)
    return Lease(number, kind, submit, duration, (demand,) * nodes, software=software, **terms)


def play(
    requests: Iterable[Request | Lease],
    *,
    hosts: int = 4,
    policies: Policies = RESERVATIONS_FIRST,
    transfers: TransferSettings | None = None,
    observer: Observer | None = None,
    **settings: Any,
) -> LeaseDriver:
    """A run of these requests to its end, with Haizea's settings unless others are given."""
    scheduler = LeaseScheduler(site(hosts), LeaseSettings(**settings), policies, transfers, observer)
    return LeaseDriver(scheduler, [one if isinstance(one, Request) else Request(one) for one in requests]).run()
