"""A resource manager whose answers are a script: delays, calls that fail, addresses that come late or never."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.experiments.api import (
    OVER,
    RESERVATION,
    Compute,
    Experiment,
    PlannedResource,
    Reference,
    RefusedByManagerError,
    ReservationRequest,
    ReservationState,
    ReservationStatus,
    ReservedInstances,
    ResourceRequest,
    ResourceStatus,
)

#: Networks of which each compute has an address, when it names none.
NOWHERE = ""


class Call(Struct, frozen=True):
    """A call that was made: when, which, about what, and whether it was refused."""

    time: float
    verb: str
    about: str
    refused: bool = False


class ScriptedManager:
    """Creates what is asked for after a delay, unless the script says otherwise.

    Attributes:
        calls: all of them, in order.
        created: id -> name of each resource that was asked for; `gone` are ids of those that were deleted or failed.
    """

    def __init__(
        self,
        *,
        delay: float = 0.0,
        delays: Mapping[str, float] | None = None,
        address_delay: Mapping[str, float] | None = None,
        refused: Mapping[str, Collection[int]] | None = None,
        broken: Collection[str] = (),
        free_at: float = 0.0,
        room: float = math.inf,
        existing: Collection[str] | None = None,
    ) -> None:
        """Begin with nothing.

        Args:
            delay: seconds of each creation; `delays` those of some names.
            address_delay: location -> seconds from a compute's creation to its address; infinity for never.
            refused: call -> which of them are refused, from 1.
            broken: names of resources whose creation fails when its time is over.
            free_at: the earliest start of a reservation.
            room: instances that can be reserved.
            existing: names to which `@name` may refer; None for any.
        """
        self._delay, self._delays = delay, delays or {}
        self._address_delay, self._refused, self._broken = address_delay or {}, refused or {}, broken
        self._free_at, self._room = free_at, room
        self._existing = None if existing is None else set(existing)
        self.calls: list[Call] = []
        self.created: dict[str, str] = {}
        self.gone: set[str] = set()
        self._deleted: set[str] = set()
        self.experiments: set[str] = set()
        self.reserved: dict[str, str | None] = {}
        self._numbers = {verb: count(1) for verb in ("create_experiment", "create_resource", "create_reservation")}
        self._made: dict[str, int] = {}
        self._resources: dict[str, ResourceStatus] = {}
        self._reservations: dict[str, tuple[str, ReservationStatus]] = {}
        #: Heap of (time, number, id, its new status).
        self._coming: list[tuple[float, int, str, ResourceStatus | ReservationState]] = []
        self._order = count()

    # What the script adds

    def reserve(
        self, id: str, owner: str, start: float, end: float, instances: Sequence[ReservedInstances] = ()
    ) -> None:
        """Let there be a reservation that nobody has asked for."""
        self._reservations[id] = owner, ReservationStatus(ReservationState.PENDING, start, end, tuple(instances))
        self._push(start, id, ReservationState.RUNNING)
        self._push(end, id, ReservationState.ENDED)

    def happen(self, time: float, id: str, state: ReservationState) -> None:
        """Let a reservation change at a time."""
        self._push(time, id, state)

    def lose(self, time: float, name: str, reason: str) -> None:
        """Let a resource that was asked for be lost at a time."""
        id = next(id for id, known in self.created.items() if known == name)
        self._push(time, id, ResourceStatus("failed", reason=reason))

    @property
    def held(self) -> list[str]:
        """Names of resources that were asked for and are not gone."""
        return [name for id, name in self.created.items() if id not in self.gone]

    @property
    def reservations(self) -> set[str]:
        """Ids of reservations that were not deleted."""
        return set(self._reservations)

    def asked(self, verb: str = "") -> list[tuple[float, str]]:
        """Times and subjects of the calls of a kind; without one of all but those that only look."""
        wanted = [call for call in self.calls if (call.verb == verb if verb else not call.verb.startswith("get"))]
        return [(call.time, call.about if verb else f"{call.verb} {call.about}") for call in wanted]

    # The interface

    def create_experiment(self, experiment: Experiment, order: Sequence[PlannedResource], now: float) -> str:
        """Return its id."""
        del order
        self._call(now, "create_experiment", experiment.name)
        id = f"/experiments/{next(self._numbers['create_experiment'])}"
        self.experiments.add(id)
        return id

    def delete_experiment(self, id: str, now: float) -> None:
        """Delete it."""
        self._call(now, "delete_experiment", id)
        self.experiments.remove(id)

    def create_resource(self, experiment: str, request: ResourceRequest, now: float) -> str:
        """Return its id; what it refers to must exist."""
        assert experiment in self.experiments
        planned = request.planned
        self._call(now, "create_resource", planned.name)
        for reference in _references(planned):
            if reference.exists and self._existing is not None and reference.name not in self._existing:
                raise RefusedByManagerError(f"there is no @{reference.name}")
        if request.reserved is not None and request.reserved not in self._reserved_ids(request.reservation):
            raise RefusedByManagerError(f"there is no reserved resource {request.reserved}")
        number = next(self._numbers["create_resource"])
        id = f"/resources/{number}"
        self.created[id], self.reserved[planned.name] = planned.name, request.reserved
        self._resources[id] = ResourceStatus("pending")
        there = now + self._delays.get(planned.name, self._delay)
        if planned.name in self._broken:
            self._push(there, id, ResourceStatus("failed", reason="no such image"))
            return id
        active = ResourceStatus("active", location=planned.location)
        addressed = replace(active, addresses=_addresses(planned, number))
        late = self._address_delay.get(planned.location or "", 0.0)
        if isinstance(planned.resource, Compute) and late:
            self._push(there, id, active)
            self._push(there + late, id, addressed)
        else:
            self._push(there, id, addressed)
        return id

    def get_resource(self, id: str, now: float) -> ResourceStatus:
        """Return how it stands."""
        self._call(now, "get_resource", id)
        return self._resources[id]

    def delete_resource(self, id: str, now: float) -> None:
        """Delete it."""
        self._call(now, "delete_resource", self.created[id])
        assert id not in self._deleted
        self._deleted.add(id)
        self.gone.add(id)

    def expect_end(self, experiment: str, end: float, now: float) -> None:
        """Ask for nothing: a script needs no plan."""
        assert experiment in self.experiments
        assert end >= now

    def has_room(self, request: ReservationRequest, now: float) -> bool:
        """Return whether there is room for so many instances."""
        del now
        return sum(len(each.names) for each in request.instances) <= self._room

    def create_reservation(self, request: ReservationRequest, owner: str, now: float) -> str:
        """Return its id, if there is room."""
        names = [name for each in request.instances for name in each.names]
        self._call(now, "create_reservation", ", ".join(names))
        if len(names) > self._room:
            raise RefusedByManagerError("not enough resources in the interval")
        number = next(self._numbers["create_reservation"])
        start = max(now, self._free_at) if request.start is None else request.start
        reserved = [
            ReservedInstances(one.location, one.compute.instance_type, tuple(f"{name}'" for name in one.names))
            for one in request.instances
        ]
        self.reserve(f"/reservations/{number}", owner, start, start + request.duration, reserved)
        return f"/reservations/{number}"

    def get_reservation(self, id: str, owner: str, now: float) -> ReservationStatus:
        """Return how it stands, if it is the owner's."""
        self._call(now, "get_reservation", id)
        if id not in self._reservations:
            raise RefusedByManagerError("there is no reservation with this id")
        of, status = self._reservations[id]
        if of != owner:
            raise RefusedByManagerError("it belongs to another owner")
        return status

    def delete_reservation(self, id: str, now: float) -> None:
        """Delete it."""
        self._call(now, "delete_reservation", id)
        del self._reservations[id]

    def news(self, now: float) -> Sequence[str]:
        """Return ids of what has changed."""
        found = dict[str, None]()
        while self._coming and self._coming[0][0] <= now:
            _, _, id, status = heappop(self._coming)
            if isinstance(status, ResourceStatus):
                if id not in self.gone:
                    self._resources[id] = status
                    found[id] = None
                if status.state == "failed":
                    self.gone.add(id)
            elif id in self._reservations and self._reservations[id][1].state not in OVER:
                owner, known = self._reservations[id]
                assert status in RESERVATION[known.state]
                self._reservations[id] = owner, replace(known, state=status)
                found[id] = None
        return list(found)

    def next_time(self) -> float:
        """Return when something changes next."""
        return self._coming[0][0] if self._coming else math.inf

    def _push(self, time: float, id: str, status: ResourceStatus | ReservationState) -> None:
        heappush(self._coming, (time, next(self._order), id, status))

    def _call(self, now: float, verb: str, about: str) -> None:
        self._made[verb] = self._made.get(verb, 0) + 1
        refused = self._made[verb] in self._refused.get(verb, ())
        self.calls.append(Call(now, verb, about, refused))
        if refused:
            raise RefusedByManagerError(f"call {self._made[verb]} of {verb} is refused")

    def _reserved_ids(self, reservation: str | None) -> list[str]:
        _, status = self._reservations[reservation or ""]
        return [id for group in status.instances for id in group.ids]


def _references(planned: PlannedResource) -> list[Reference]:
    resource: Any = planned.resource
    return [*getattr(resource, "storages", ()), *getattr(resource, "networks", ())]


def _addresses(planned: PlannedResource, number: int) -> dict[str, str]:
    if not isinstance(planned.resource, Compute):
        return {}
    networks = [network.name for network in planned.resource.networks] or [NOWHERE]
    return {network: f"10.{place}.0.{number}" for place, network in enumerate(networks)}
