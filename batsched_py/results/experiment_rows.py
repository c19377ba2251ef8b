"""Rows of the tables of experiments: experiments, their resources, samples of metrics, and logs."""

from __future__ import annotations

from typing import NamedTuple


class ExperimentRow(NamedTuple):
    """An experiment at the end of the run; times in seconds, None for events that did not occur.

    Attributes:
        experiment: its number.
        name: its name.
        owner: user who submitted it.
        state: its state.
        accepted: time of the submission.
        reserved: time at which it had a reservation.
        deploying: begin of the deployment.
        deployed: end of the deployment.
        start: time 0 of its timelines.
        ended: time at which it ended, failed or was deleted.
        reservation: id of its reservation.
        failure: reason of its failure.
    """

    experiment: str
    name: str
    owner: str | None
    state: str
    accepted: float
    reserved: float | None
    deploying: float | None
    deployed: float | None
    start: float | None
    ended: float | None
    reservation: str | None
    failure: str | None


class ResourceRow(NamedTuple):
    """A resource of an experiment; times in seconds.

    Attributes:
        experiment: number of its experiment.
        resource: its name.
        kind: compute, storage, network, site_link or router.
        state: its state.
        location: its location.
        hosts: number of a compute's host.
        requested: time of the request.
        created: time of the creation.
        addressed: time at which its address was known.
        removed: time of the removal.
        addresses: addresses of a compute, separated by blanks.
        reserved: id of its reserved resource.
        after: its dependencies, separated by blanks.
        reason: reason why it failed, or was left out.
    """

    experiment: str
    resource: str
    kind: str
    state: str
    location: str | None
    hosts: str | None
    requested: float | None
    created: float | None
    addressed: float | None
    removed: float | None
    addresses: str | None
    reserved: str | None
    after: str | None
    reason: str | None


class LogRow(NamedTuple):
    """A log message of an experiment; `state` is the state of the experiment."""

    experiment: str
    time: float
    level: str
    state: str
    resource: str | None
    text: str


class SampleRow(NamedTuple):
    """A sample of a metric in a compute; `busy` is the number of entries of its timeline running at that time (M38)."""

    experiment: str
    resource: str
    metric: str
    time: float
    busy: int
