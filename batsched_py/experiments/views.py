"""Views of experiments: how one stands, unchangeable, for those who look on from other threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from batsched_py.experiments.log import Message
from batsched_py.experiments.managed import ManagedExperiment, ManagedResource
from batsched_py.experiments.model import KINDS
from batsched_py.hostset import HostSet

#: The live table that has them.
LIVE_EXPERIMENTS: Final = "live_experiments"


class ResourceView(Struct, frozen=True):
    """A resource of an experiment; times in simulated seconds, None for what it has not come to.

    Attributes:
        name: its name in the deployment order.
        kind: compute, storage, network, site_link or router.
        state: planned, requested, created, failed, left out, removed, kept or leaked.
        id: at the resource manager.
        location: where it is.
        host: that of a compute, by number.
        requested, created, addressed, removed: when that was.
        addresses: of a compute, by network.
        contexts: of a compute, with addresses for references to them.
        after: resources that it needs.
        reason: why it failed, or was left out.
    """

    name: str
    kind: str
    state: str
    id: str | None
    location: str | None
    host: str
    requested: float | None
    created: float | None
    addressed: float | None
    removed: float | None
    addresses: Mapping[str, str]
    contexts: Mapping[str, str]
    after: Sequence[str]
    reason: str


class ExperimentView(NamedTuple):
    """An experiment; times in simulated seconds.

    Attributes:
        id: its number.
        name, description: of its document.
        owner: who handed it in.
        status: its state, or QUEUED.
        link: id of the experiment at the resource manager; None while there is none.
        reservation: id of its reservation; None for none.
        accepted: when it was handed in.
        deployed: when it was.
        ends: when it ends.
        start: when the clock of its timelines began.
        failure: why it has failed.
        resources: in deployment order.
        log: what has happened.
    """

    id: str
    name: str
    description: str
    owner: str
    status: str
    link: str | None
    reservation: str | None
    accepted: float
    deployed: float | None
    ends: float | None
    start: float | None
    failure: str
    resources: Sequence[ResourceView]
    log: Sequence[Message]


def view_of(one: ManagedExperiment, host_of: Callable[[ManagedResource], HostSet]) -> ExperimentView:
    """Return how an experiment stands now, without the start of its timelines."""
    return ExperimentView(
        one.id,
        one.experiment.name,
        one.experiment.description,
        one.owner,
        one.status,
        one.link,
        None if one.reservation is None else one.reservation.id,
        one.accepted,
        one.deployed,
        one.ends,
        None,
        one.failure,
        tuple(_resource(each, host_of) for each in one.resources.values()),
        tuple(one.log.messages),
    )


def _resource(each: ManagedResource, host_of: Callable[[ManagedResource], HostSet]) -> ResourceView:
    return ResourceView(
        each.name,
        KINDS[type(each.planned.resource)],
        each.state.value,
        each.id,
        each.location,
        str(host_of(each)),
        each.requested,
        each.created,
        each.addressed,
        each.removed,
        dict(each.addresses),
        dict(each.contexts),
        tuple(dict.fromkeys((*each.planned.after, *each.planned.addresses))),
        each.reason,
    )
