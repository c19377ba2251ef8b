"""Managed experiment: the data of one accepted experiment, with its resources and its reservation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from batsched_py.experiments.log import ExperimentLog, Level
from batsched_py.experiments.model import KINDS, AddressOf, Compute, Experiment, PlannedResource
from batsched_py.experiments.resource_manager import ReservationStatus, ResourceStatus
from batsched_py.experiments.states import (
    ENDED_STATES,
    QUEUED,
    RESOURCE,
    WITH_RESERVATION,
    WITHOUT_RESERVATION,
    ExperimentState,
    ResourceState,
)

# States change only by the tables in `states`, and any other change is an error in the program and not of the user:
# hence assertions. `history` and the log are written by the same call that changes the state, so they cannot
# disagree with it.
#
# A resource's `requested`, `created`, `addressed` and `removed` are the data of tables and charts;
# `held` are the resources that an undoing must remove. A leaked resource counts as held: it still exists at the
# manager.

#: States in which resources exist, or are being created.
HELD: Final = frozenset({ResourceState.REQUESTED, ResourceState.CREATED, ResourceState.LEAKED})


class ManagedResource(Struct):
    """The state and history of a resource in the deployment order.

    Attributes:
        planned: its description.
        state: its current state.
        id: its id at the resource manager; None before the request.
        requested: time of the request.
        created: time of the creation.
        addressed: time at which its address was known.
        removed: time at which it was removed, or found lost.
        addresses: network -> address of a compute.
        contexts: key -> text, as of the creation.
        location: its location.
        host: number of its host at the site; None without a host.
        reserved: id of the reserved resource that it uses; None for none.
        optional: whether the experiment can be deployed without it.
        reason: reason why it failed, or was left out.
    """

    planned: PlannedResource
    state: ResourceState = ResourceState.PLANNED
    id: str | None = None
    requested: float | None = None
    created: float | None = None
    addressed: float | None = None
    removed: float | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)
    contexts: Mapping[str, str] = field(default_factory=dict)
    location: str | None = None
    host: int | None = None
    reserved: str | None = None
    optional: bool = False
    reason: str = ""

    @property
    def name(self) -> str:
        """Its name in the deployment order."""
        return self.planned.name

    @property
    def kind(self) -> str:
        """Its kind: compute, storage, network, site_link or router."""
        return KINDS[type(self.planned.resource)]

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of its dependencies, each once."""
        return tuple(dict.fromkeys((*self.planned.after, *self.planned.addresses)))

    @property
    def is_compute(self) -> bool:
        """True for an instance of a compute."""
        return isinstance(self.planned.resource, Compute)

    def change(self, state: ResourceState, now: float) -> None:
        """Enter a state; AssertionError if the table does not contain the change."""
        assert state in RESOURCE[self.state], f"{self.name} cannot become {state.value}: it is {self.state.value}"  # noqa: S101
        self.state = state
        if state is ResourceState.REQUESTED:
            self.requested = now
        elif state is ResourceState.CREATED:
            self.created = now
        elif self.requested is not None and state not in (ResourceState.LEAKED, ResourceState.KEPT):
            self.removed = now


class ManagedReservation(Struct):
    """The reservation of an experiment.

    Attributes:
        id: at the resource manager.
        created: whether the orchestrator has created it, and deletes it.
        status: its status at the last check.
        names: instances for which it was created.
    """

    id: str
    created: bool
    status: ReservationStatus
    names: frozenset[str] = frozenset()


class ManagedExperiment:
    """An accepted experiment.

    Attributes:
        id: its id.
        number: its number in the order of acceptance, from 1.
        experiment: the requested experiment.
        resources: name -> resource, in deployment order.
        owner: user who may see and delete it; "" without access control.
        accepted: time of the acceptance.
        state: its current state.
        history: (time, state) of each change.
        log: messages about its progress.
        link: id of the experiment at the resource manager; None while there is none.
        reservation: its own reservation or the user's; None for none.
        reserves: whether it is deployed in a reservation.
        queued: whether it only waits for a worker.
        deployed: time of the end of its deployment.
        ends: time at which it ends; None while unknown.
        failure: reason of its failure; "" if it has not failed.
    """

    def __init__(
        self,
        number: int,
        experiment: Experiment,
        order: Sequence[PlannedResource],
        now: float,
        *,
        owner: str,
        reserves: bool,
        log: ExperimentLog,
    ) -> None:
        self.id, self.number, self.experiment, self.owner = str(number), number, experiment, owner
        self.resources = {one.name: ManagedResource(one, location=one.location) for one in order}
        self.accepted, self.log, self.reserves = now, log, reserves
        self.state = ExperimentState.READY
        self.history = [(now, self.state)]
        self.link: str | None = None
        self.reservation: ManagedReservation | None = None
        self.queued = False
        self.deployed: float | None = None
        self.ends: float | None = None
        self.failure = ""
        #: Template -> its instances, in order.
        self._instances: dict[str, list[ManagedResource]] = {}
        for resource in self.resources.values():
            self._instances.setdefault(resource.planned.resource.name, []).append(resource)

    def __repr__(self) -> str:
        return f"<experiment {self.id}, {self.state.value}>"

    @property
    def status(self) -> str:
        """Its state, or QUEUED if it waits for a worker (M24)."""
        return QUEUED if self.queued and self.state is ExperimentState.DEPLOYABLE else self.state.value

    @property
    def waits_for_start(self) -> bool:
        """True if it only waits for its start time, without machines to reserve."""
        waits = self.state is ExperimentState.DEPLOYABLE and not self.queued
        return waits and not self.reserves and self.experiment.start is not None

    @property
    def waits_for_machines(self) -> bool:
        """True if requested computes do not exist yet."""
        return any(one.is_compute and one.state is ResourceState.REQUESTED for one in self.resources.values())

    @property
    def open(self) -> bool:
        """True if it has not ended."""
        return self.state not in ENDED_STATES

    @property
    def order(self) -> tuple[PlannedResource, ...]:
        """The deployment order."""
        return tuple(one.planned for one in self.resources.values())

    @property
    def computes(self) -> list[ManagedResource]:
        """Instances of computes, in deployment order."""
        return [one for one in self.resources.values() if one.is_compute]

    @property
    def held(self) -> list[ManagedResource]:
        """Resources that exist or are being created, in deployment order."""
        return [one for one in self.resources.values() if one.state in HELD]

    def change(self, state: ExperimentState, now: float, text: str = "", *, level: Level = "info") -> None:
        """Enter a state and log the change; AssertionError if the table does not contain it."""
        table = WITH_RESERVATION if self.reserves else WITHOUT_RESERVATION
        assert state in table[self.state], f"{self!r} cannot become {state.value}"  # noqa: S101
        self.state = state
        self.history.append((now, state))
        self.log_message(now, f"{state.value}: {text}" if text else state.value, level=level)

    def log_message(self, now: float, text: str, *, resource: str = "", level: Level = "info") -> None:
        """Add a message to the log."""
        self.log.add(now, self.state.value, text, resource=resource, level=level)

    def note_status(self, resource: ManagedResource, status: ResourceStatus, now: float) -> None:
        """Record the place of a resource, and newly known addresses."""
        resource.location = status.location or resource.location
        resource.host = status.host if resource.host is None else resource.host
        if status.addresses and resource.addressed is None:
            resource.addresses, resource.addressed = dict(status.addresses), now

    def resolved_contexts(self, compute: Compute) -> dict[str, str]:
        """Return the contexts of a compute with addresses for references to them (M32, M38).

        The address of a template is the list of its instances' addresses. KeyError names a compute without one.
        """
        found = dict[str, str]()
        for key, value in compute.contexts.items():
            if isinstance(value, AddressOf):
                there = [one for one in self._instances[value.compute] if one.addressed is not None]
                found[key] = ",".join(_address(one, value.network) for one in there)
            else:
                found[key] = value
        return found


def _address(one: ManagedResource, network: str) -> str:
    """Return the address in a network; any address if the compute does not list its networks."""
    planned = one.planned.resource
    if network not in one.addresses and isinstance(planned, Compute) and not planned.networks and one.addresses:
        return next(iter(one.addresses.values()))
    try:
        return one.addresses[network]
    except KeyError:
        raise KeyError(one.name) from None
