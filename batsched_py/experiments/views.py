"""Views of experiments: immutable snapshots for other threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from batsched_py.experiments.log import LogMessage
from batsched_py.experiments.managed import ManagedExperiment, ManagedResource
from batsched_py.experiments.states import ExperimentState
from batsched_py.hostset import HostSet

#: The live table that contains them.
LIVE_EXPERIMENTS: Final = "live_experiments"


class ResourceView(Struct, frozen=True):
    """A resource of an experiment; times in simulated seconds, None for events that have not occurred.

    Attributes:
        name: its name in the deployment order.
        kind: compute, storage, network, site_link or router.
        state: planned, requested, created, failed, left out, removed, kept or leaked.
        id: its id at the resource manager.
        location: its location.
        host: number of a compute's host.
        requested, created, addressed, removed: times of these events.
        addresses: addresses of a compute, by network.
        contexts: contexts of a compute, with references replaced by addresses.
        after: its dependencies.
        reason: reason why it failed, or was left out.
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
        name, description: texts of its document.
        owner: user who submitted it.
        status: its state, or QUEUED.
        link: id of the experiment at the resource manager; None while there is none.
        reservation: id of its reservation; None for none.
        accepted: time of the submission.
        deployed: end of the deployment.
        ends: time at which it ends.
        start: time 0 of its timelines.
        timelines: whether it has timelines that have begun.
        failure: reason of its failure.
        resources: resources in deployment order.
        log: messages about its progress.
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
    timelines: bool
    failure: str
    resources: Sequence[ResourceView]
    log: Sequence[LogMessage]


def view_of(one: ManagedExperiment, host_of: Callable[[ManagedResource], HostSet]) -> ExperimentView:
    """Return the current view of an experiment, without the start of its timelines."""
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
        False,
        one.failure,
        tuple(_resource(each, host_of) for each in one.resources.values()),
        tuple(one.log.messages),
    )


def refused_view(id: str, owner: str, reason: str, now: float) -> ExperimentView:
    """Return the view of a submitted experiment that was refused: it has failed."""
    failed = ExperimentState.FAILED.value
    log = (LogMessage(now, None, "error", failed, "", f"{failed}: {reason}"),)
    return ExperimentView(id, "", "", owner, failed, None, None, now, None, None, None, False, reason, (), log)


def _resource(each: ManagedResource, host_of: Callable[[ManagedResource], HostSet]) -> ResourceView:
    return ResourceView(
        each.name,
        each.kind,
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
        each.needs,
        each.reason,
    )
