"""A resource manager on leases: a compute is a lease of one machine, a reservation a lease of many (M35).

Storages, networks, links and routers need no hosts, and exist after their creation delays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Final

from msgspec.structs import replace

from batsched_py.experiments.addresses import Addresses
from batsched_py.experiments.host_finder import HostFinder
from batsched_py.experiments.lease_records import (
    ENDS,
    LeasedReservation,
    LeasedResource,
    number_machines,
    reservation_state,
)
from batsched_py.experiments.model import Compute, Experiment, InstanceType, Network, PlannedResource
from batsched_py.experiments.resource_manager import (
    RESERVATIONS,
    RefusedByManagerError,
    ReservationRequest,
    ReservationStatus,
    ResourceRequest,
    ResourceStatus,
)
from batsched_py.experiments.testbed import Testbed
from batsched_py.leases.actions import Action, Occupy, Reject, Start, Stop
from batsched_py.leases.capacity import Amounts
from batsched_py.leases.lease import Lease
from batsched_py.leases.scheduler import LeaseScheduler
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import UNLIMITED
from batsched_py.model.resources import CPU, MEMORY
from batsched_py.results.lease_rows import LeaseState
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds

# A reservation is one lease of all its machines and not one for each: then all-or-nothing and the common start need no
# additional protocol. With a lease for each, another request may arrive between the first and the last, and a second
# round is needed to find the earliest common start (ADR 31). A compute outside a reservation is a lease of one machine
# without an end, which is unknown until the deployment is complete; `expect_end` sets it, so that others can plan with
# the host.
#
# The possible hosts of a machine are a set for each node of the lease, and not a type of resource: constraints are in
# descriptors, and the types of a site are fixed before.
#
# Between two calls `_of` maps each lease to its reservation or resource; a resource has its own lease or a node of a
# reservation's, which then lists it among its `users`, and never both. A change of a status appears in `news`, except
# after a deletion by the caller.

#: The number of a lease that has not been requested.
_UNKNOWN: Final = 0
#: One CPU in percent.
_ONE_CPU: Final = 100.0


class LeaseManager:
    """All resources and reservations of a run.

    Args:
        scheduler: the scheduler of the leases.
        enlist: returns the number of a new lease with a name.
        finder: the finder of hosts for computes.
        testbed: delays and types of instances.
        wait: maximum seconds that a compute waits for a host: 0 for no wait, infinity for no limit (M23).
    """

    def __init__(
        self,
        scheduler: LeaseScheduler,
        enlist: Callable[[str], int],
        finder: HostFinder,
        testbed: Testbed,
        *,
        wait: float = 0.0,
    ) -> None:
        self._scheduler, self._enlist, self._finder, self._testbed = scheduler, enlist, finder, testbed
        self._wait = wait
        self._experiments: dict[str, dict[str, None]] = {}
        self._resources: dict[str, LeasedResource] = {}
        self._reservations: dict[str, LeasedReservation] = {}
        #: Number of a lease -> id of its reservation or resource.
        self._of: dict[int, str] = {}
        self._addresses = Addresses()
        self._numbers = {kind: count(1) for kind in ("experiments", "resources", "reservations")}
        #: Heap of (time, number, id, new status; None at the end of the maximum wait).
        self._coming: list[tuple[float, int, str, ResourceStatus | None]] = []
        self._order = count()
        self._news: dict[str, None] = {}

    # The interface

    def create_experiment(self, experiment: Experiment, order: Sequence[PlannedResource], now: float) -> str:
        """Return its id."""
        del experiment, order, now
        id = self._new("experiments")
        self._experiments[id] = {}
        return id

    def delete_experiment(self, id: str, now: float) -> None:
        """Remove an experiment without resources."""
        del now
        for resource in self._experiments.pop(id):
            self._leave(resource)
            self._resources.pop(resource, None)
        self._addresses.forget(id)

    def create_resource(self, experiment: str, request: ResourceRequest, now: float) -> str:
        """Return its id; the creation of a compute begins when its machine starts."""
        id, planned = self._new("resources"), request.planned
        resource = LeasedResource(experiment, planned)
        if isinstance(planned.resource, Compute):
            self._give_machine(id, resource, planned.resource, request, now)
        else:
            self._coming_up(id, now + self._delay(planned), ResourceStatus("active", location=planned.location))
            if isinstance(planned.resource, Network):
                self._addresses.add(experiment, planned.resource)
        self._resources[id] = resource
        self._experiments[experiment][id] = None
        return id

    def get_resource(self, id: str, now: float) -> ResourceStatus:
        """Return its status."""
        del now
        return self._resources[id].status

    def delete_resource(self, id: str, now: float) -> None:
        """Release its machine; one in a reservation becomes free for another resource."""
        resource = self._resources[id]
        resource.status = ResourceStatus("failed", reason="it was deleted")
        self._experiments[resource.experiment].pop(id, None)
        self._leave(id)
        if resource.exclusive and resource.lease is not None:
            self._take_back(resource.lease, now)
        del self._resources[id]

    def expect_end(self, experiment: str, end: float, now: float) -> None:
        """Plan machines as free from this time on, at which their experiment ends."""
        for id in self._experiments[experiment]:
            resource = self._resources[id]
            if resource.exclusive and resource.lease is not None:
                self._scheduler.limit(resource.lease, end, now)
        self._scheduler.step(now)

    def has_room(self, request: ReservationRequest, now: float) -> bool:
        """Return whether hosts exist for the machines of a reservation."""
        try:
            return self._scheduler.has_room(self._reservation(_UNKNOWN, request, now), now)
        except RefusedByManagerError:
            return False

    def create_reservation(self, request: ReservationRequest, owner: str, now: float) -> str:
        """Return the id of a reservation of all machines at one time: its start, or the earliest possible one."""
        id = f"{RESERVATIONS}/{request.experiment}" if request.experiment else self._new("reservations")
        self.reserve(id, request, owner, now)
        return id

    @property
    def reservations(self) -> Mapping[str, LeasedReservation]:
        """The reservations by id, without deleted ones of experiments."""
        return self._reservations

    def withdraw(self, id: str, now: float) -> None:
        """Cancel a user's reservation; experiments in it lose their machines."""
        if id not in self._reservations or self._reservations[id].experiment:
            raise RefusedByManagerError(f"there is no reservation {displayed(id)} of a user")
        if self._reservations[id].lease.ended:
            raise RefusedByManagerError(f"reservation {displayed(id)} has ended")
        self._news[id] = None
        self._take_back(self._reservations[id].lease, now)

    def reserve(self, id: str, request: ReservationRequest, owner: str, now: float) -> None:
        """Create a reservation with this id."""
        if id in self._reservations:
            raise RefusedByManagerError(f"there is a reservation {displayed(id)} already")
        lease = self._reservation(self._enlist(id), request, now)
        if lease.start is None:
            lease.start = self._scheduler.earliest_start(lease, now)
        if lease.start is None:
            raise RefusedByManagerError("the site does not have enough resources")
        self._of[lease.id] = id
        self._request(lease, now)
        groups, nodes = number_machines(id, request.instances)
        self._reservations[id] = LeasedReservation(owner, lease, groups, nodes, request.experiment)

    def get_reservation(self, id: str, owner: str, now: float) -> ReservationStatus:
        """Return its status; unused machines come first."""
        del now
        one = self._reservations.get(id)
        if one is None:
            raise RefusedByManagerError("there is no reservation with this id")
        if one.owner != owner:
            raise RefusedByManagerError("it belongs to another owner")
        lease, run = one.lease, one.lease.runs[-1] if one.lease.runs else None
        used = set(one.users.values())
        return ReservationStatus(
            reservation_state(lease),
            start=lease.start if run is None else run.start,
            end=lease.end if run is None else run.end,
            instances=tuple(sorted(one.groups, key=lambda group: not used.isdisjoint(group.ids))),
        )

    def delete_reservation(self, id: str, now: float) -> None:
        """Cancel it."""
        self._take_back(self._reservations.pop(id).lease, now)

    def news(self, now: float) -> Sequence[str]:
        """Return the ids of resources and reservations with a changed status."""
        while self._coming and self._coming[0][0] <= now:
            _, _, id, status = heappop(self._coming)
            resource = self._resources.get(id)
            if resource is None or resource.status.state == "failed":
                continue
            if status is not None:
                resource.status = status
                self._news[id] = None
                if status.state == "failed":  # the orchestrator does not delete resources that were never created
                    self._leave(id)
                    if resource.exclusive and resource.lease is not None:
                        self._take_back(resource.lease, now)
            elif resource.host is None and resource.lease is not None:
                self._take_back(resource.lease, now)
                self._lose(id, f"no host within {seconds(self._wait)} s")
        news, self._news = list(self._news), {}
        return news

    def next_time(self) -> float:
        """Return the next time at which a creation ends, an address is known, or a maximum wait ends."""
        return self._coming[0][0] if self._coming else math.inf

    # What the leases do

    def owns(self, lease: Lease) -> bool:
        """Return whether a lease belongs to a resource or a reservation."""
        return lease.id in self._of

    def note(self, action: Action, now: float) -> None:
        """Process a change of a lease."""
        if isinstance(action, Occupy):
            return
        id = self._of[action.lease.id]
        if id in self._reservations:
            self._note_reservation(id, action)
        elif id in self._resources:
            if isinstance(action, Start):
                self._boot(id, self._resources[id], now)
            else:
                self._lose(id, action.why if isinstance(action, Reject) else ENDS.get(action.why, action.why))

    def _note_reservation(self, id: str, action: Start | Stop | Reject) -> None:
        one = self._reservations[id]
        self._news[id] = None
        if isinstance(action, Start):
            return
        if one.lease.state is not LeaseState.DONE:
            one.reason = action.why if isinstance(action, Reject) else ENDS.get(action.why, action.why)
        for user in one.users:
            if user in self._resources:
                self._lose(user, "its reservation is over")

    def _reservation(self, number: int, request: ReservationRequest, now: float) -> Lease:
        """Return the lease of all machines of a reservation; RefusedByManagerError if no host suits one of them."""
        demands, suitable = list[Amounts](), list[int]()
        for one in request.instances:
            demands += [self._demand(one.compute)] * len(one.names)
            suitable += [self._finder.find(one.compute, one.location)] * len(one.names)
        return Lease(
            number,
            LeaseKind.ADVANCE,
            now,
            request.duration,
            tuple(demands),
            start=request.start,
            preemptible=False,
            repeatable=False,
            suitable=dict(enumerate(suitable, 1)),
            apart=self._scheduler.site.exclusive,
        )

    def _give_machine(
        self, id: str, resource: LeasedResource, compute: Compute, request: ResourceRequest, now: float
    ) -> None:
        """Assign a machine of a reservation, or request a lease of one machine."""
        if request.reserved is not None:
            one = self._reservations.get(request.reservation or "")
            node = None if one is None else one.nodes.get(request.reserved)
            if one is None or node is None:
                raise RefusedByManagerError(f"there is no reserved resource {displayed(request.reserved)}")
            if request.reserved in one.users.values():
                raise RefusedByManagerError(f"the reserved resource {displayed(request.reserved)} is used already")
            if one.lease.state is not LeaseState.ACTIVE:
                raise RefusedByManagerError("its reservation does not run")
            one.users[id] = request.reserved
            resource.lease, resource.exclusive, resource.node = one.lease, False, node
            self._boot(id, resource, now)
            return
        until = math.inf if request.until is None else request.until
        if until <= now:
            raise RefusedByManagerError("its reservation is over")
        wait = self._wait if request.until is None else 0.0  # otherwise the reservation might end during the wait
        name = f"{resource.experiment}/{request.planned.name}"
        lease = resource.lease = Lease(
            self._enlist(name),
            LeaseKind.BEST_EFFORT if wait else LeaseKind.IMMEDIATE,
            now,
            min(UNLIMITED, until - now),
            (self._demand(compute),),
            preemptible=False,
            repeatable=False,
            suitable={1: self._finder.find(compute, request.planned.location)},
        )
        self._of[lease.id] = id
        self._request(lease, now)
        if math.isfinite(wait) and wait:
            self._coming_up(id, now + wait, None)

    def _leave(self, id: str) -> None:
        """Release the reserved machine of a resource, if it has one."""
        resource = self._resources.get(id)
        if resource is not None and not resource.exclusive and resource.lease is not None:
            reservation = self._reservations.get(self._of[resource.lease.id])
            if reservation is not None:
                reservation.users.pop(id, None)

    def _request(self, lease: Lease, now: float) -> None:
        """Request a lease; RefusedByManagerError if it is refused immediately."""
        self._scheduler.step(now, requests=[lease])
        if lease.state is LeaseState.REJECTED:
            latest = reversed(self._scheduler.actions)  # thousands may have been refused at this instant
            why = next((one.why for one in latest if isinstance(one, Reject) and one.lease is lease), "refused")
            raise RefusedByManagerError(why)

    def _take_back(self, lease: Lease, now: float) -> None:
        if not lease.ended:
            self._scheduler.cancel(lease, now)
            self._scheduler.step(now)

    def _boot(self, id: str, resource: LeasedResource, now: float) -> None:
        """Begin the creation of a compute on its machine."""
        lease = resource.lease
        assert lease is not None  # noqa: S101  # of a compute
        run = lease.running
        assert run is not None  # noqa: S101  # it has just been started
        resource.host = run.nodes[resource.node]
        location = resource.planned.location or self._finder.location_of(resource.host)
        created = now + self._delay(resource.planned, location)
        known = self._testbed.locations or {}
        addressed = created + (known[location].address_delay if location is not None and location in known else 0.0)
        status = ResourceStatus("active", location=location, host=resource.host)
        compute = resource.planned.resource
        assert isinstance(compute, Compute)  # noqa: S101
        try:
            addresses = self._addresses.give(compute, resource.experiment)
        except ValueError as error:
            self._coming_up(id, created, ResourceStatus("failed", reason=str(error)))
            return
        if addressed > created:
            self._coming_up(id, created, status)
        self._coming_up(id, addressed, replace(status, addresses=addresses))

    def _lose(self, id: str, reason: str) -> None:
        resource = self._resources[id]
        if resource.status.state != "failed":
            resource.status = ResourceStatus("failed", reason=reason, location=resource.status.location)
            self._news[id] = None

    def _demand(self, compute: Compute) -> Amounts:
        kind = compute.instance_type
        capacity = kind if isinstance(kind, InstanceType) else self._testbed.instance_types.get(kind)
        if capacity is None:
            raise RefusedByManagerError(f"there is no type of instances {displayed(str(kind))}")
        amounts = self._scheduler.site.amounts({CPU: capacity.cpu * _ONE_CPU, MEMORY: capacity.memory})
        assert amounts is not None  # noqa: S101  # every site has both types
        return amounts

    def _delay(self, planned: PlannedResource, location: str | None = None) -> float:
        known = (self._testbed.locations or {}).get(planned.location or location or "")
        return 0.0 if known is None else known.delay(type(planned.resource))

    def _coming_up(self, id: str, time: float, status: ResourceStatus | None) -> None:
        heappush(self._coming, (time, next(self._order), id, status))

    def _new(self, kind: str) -> str:
        return f"/{kind}/{next(self._numbers[kind])}"
