"""Reservations of users: requested on their own, for experiments to come, and shown with those of experiments (M15)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from batsched_py.experiments.descriptor_cache import ReadExperiment
from batsched_py.experiments.lease_manager import LeaseManager
from batsched_py.experiments.lease_records import LeasedReservation, reservation_state
from batsched_py.experiments.managed import ManagedExperiment
from batsched_py.experiments.model import CUSTOM, InstanceType
from batsched_py.experiments.reservation_requests import computes_of, reserve_most
from batsched_py.experiments.reservation_views import MachineView, ReservationView
from batsched_py.experiments.resource_manager import RESERVATIONS, RefusedByManagerError, ReservationRequest
from batsched_py.experiments.states import ReservationState
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: The largest number of names in a text.
_MOST_NAMES: Final = 5


class _Requested(Struct):
    """A reservation that a user has requested with a descriptor; `refusal` is "" unless it was refused."""

    name: str
    description: str
    owner: str
    time: float
    left_out: str = ""
    refusal: str = ""


class UserReservations:
    """The reservations that users have requested, until they are deleted.

    Args:
        manager: manager of the reservations.
        allowed: whether reservations are allowed at all.
    """

    def __init__(self, manager: LeaseManager, *, allowed: bool) -> None:
        self._manager, self._allowed = manager, allowed
        #: Id -> request with a number, in order of the requests, without deleted ones.
        self._requested: dict[str, _Requested] = {}

    def check(self, found: ReadExperiment) -> None:
        """Raise RefusedByManagerError if the computes of a descriptor cannot be reserved for a user."""
        if not self._allowed:
            raise RefusedByManagerError("reserve needs reservations=on")
        if found.experiment.reservation is not None:
            raise RefusedByManagerError("a reservation cannot be made in another reservation")
        if not computes_of(found.order):
            raise RefusedByManagerError("there is no compute to reserve for")

    def reserve(self, id: str, found: ReadExperiment, owner: str, now: float) -> str:
        """Reserve the computes of a descriptor under an id; return a text about those left out, "" for none (M30).

        RefusedByManagerError if nothing is reserved.
        """
        self.check(found)

        def create(request: ReservationRequest) -> str:
            self._manager.reserve(id, request, owner, now)
            return id

        computes = computes_of(found.order)
        _, names = reserve_most(found.experiment, computes, self._manager, create, now)
        missing = [one.name for one in computes if one.name not in names]
        if not missing:
            return ""
        listed = ", ".join([*map(displayed, missing[:_MOST_NAMES]), *(["..."] if len(missing) > _MOST_NAMES else [])])
        return f"no place for {counted(len(missing), 'machine')}: {listed}"

    def request(self, number: int, found: ReadExperiment, owner: str, now: float) -> None:
        """Reserve the computes of a descriptor under a number. RefusedByManagerError if that is impossible."""
        if not number:
            raise RefusedByManagerError("reservation must be a number from 1")
        id, experiment = f"{RESERVATIONS}/{number}", found.experiment
        if id in self._requested or id in self._manager.reservations:
            raise RefusedByManagerError(f"there is a reservation {id} already")
        record = _Requested(experiment.name, experiment.description, owner, now)
        self._requested[id] = record
        try:
            record.left_out = self.reserve(id, found, owner, now)
        except RefusedByManagerError as error:
            record.refusal = str(error)
            raise

    def refuse(self, number: int, owner: str, reason: str, now: float) -> None:
        """Record why a requested reservation was refused, unless another one has its number."""
        id = f"{RESERVATIONS}/{number}"
        if id not in self._manager.reservations:
            self._requested.setdefault(id, _Requested("", "", owner, now, refusal=reason))

    def withdraw(self, id: str, now: float) -> None:
        """Delete a user's reservation; experiments in it lose their machines.

        A reservation with a number may be deleted in any state. RefusedByManagerError if there is none with this id.
        """
        record = self._requested.pop(id, None)
        if record is None or (not record.refusal and not self._manager.reservations[id].lease.ended):
            self._manager.withdraw(id, now)

    def views(
        self, experiments: Mapping[str, ManagedExperiment], number_of: Callable[[int], int]
    ) -> Iterator[ReservationView]:
        """Yield views of the requested reservations, then of those of experiments.

        Args:
            experiments: id -> experiment.
            number_of: returns the number of a host of the platform from that at the site.
        """
        reservations = self._manager.reservations
        for id, record in self._requested.items():
            if record.refusal:
                yield ReservationView(
                    id=id,
                    name=record.name,
                    description=record.description,
                    owner=record.owner,
                    state=ReservationState.FAILED.value,
                    requested=record.time,
                    start=None,
                    end=None,
                    reason=record.refusal,
                    experiment=None,
                    machines=(),
                )
            else:
                view = _view(id, reservations[id], number_of)
                reason = view.reason or record.left_out
                yield view._replace(name=record.name, description=record.description, reason=reason)
        for id, one in reservations.items():
            if one.experiment in experiments:
                experiment = experiments[one.experiment].experiment
                view = _view(id, one, number_of)
                yield view._replace(name=experiment.name, description=experiment.description, experiment=one.experiment)


def _view(id: str, one: LeasedReservation, number_of: Callable[[int], int]) -> ReservationView:
    """Return the view of a reservation, without the texts of its descriptor."""
    lease, run = one.lease, one.lease.runs[-1] if one.lease.runs else None
    used = {machine: resource for resource, machine in one.users.items()}

    def host(machine: str) -> int | None:
        found = None if run is None else run.nodes.get(one.nodes[machine])
        return None if found is None else number_of(found)

    machines = tuple(
        MachineView(machine, group.location, _type(group.instance_type), host(machine), used.get(machine))
        for group in one.groups
        for machine in group.ids
    )
    return ReservationView(
        id=id,
        name="",
        description="",
        owner=one.owner,
        state=reservation_state(lease).value,
        requested=lease.submit,
        start=lease.start if run is None else run.start,
        end=lease.end if run is None else run.end,
        reason=one.reason,
        experiment=None,
        machines=machines,
    )


def _type(kind: str | InstanceType) -> str:
    return kind if isinstance(kind, str) else CUSTOM
