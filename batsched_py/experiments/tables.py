"""Tables of experiments: final states of experiments and resources, samples of metrics, and logs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from batsched_py.experiments.managed import ManagedExperiment, ManagedResource
from batsched_py.experiments.model import KINDS, Compute
from batsched_py.experiments.states import ExperimentState
from batsched_py.hostset import HostSet
from batsched_py.model.table import Table
from batsched_py.timelines.run import TimelineRun

#: Maximum number of rows in the table of metrics; later instants are left out.
MOST_SAMPLES: Final = 1_000_000


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


def experiment_tables(
    experiments: Sequence[ManagedExperiment],
    run_of: Callable[[str], TimelineRun | None],
    host_of: Callable[[ManagedResource], HostSet],
) -> list[Table]:
    """Return the tables of a run; the table of metrics only if an experiment has metrics."""
    tables = [
        Table("experiments", ExperimentRow._fields, [_row(one, run_of(one.id)) for one in experiments]),
        Table(
            "experiment_resources",
            ResourceRow._fields,
            [_resource_row(one, each, host_of) for one in experiments for each in one.resources.values()],
        ),
        Table("experiment_log", LogRow._fields, [row for one in experiments for row in _log_rows(one)]),
    ]
    samples = list[SampleRow]()
    for one in experiments:
        for row in _samples(one, run_of(one.id)):
            if len(samples) == MOST_SAMPLES:
                break
            samples.append(row)
    if samples:
        tables.append(Table("experiment_metrics", SampleRow._fields, samples))
    return tables


def _row(one: ManagedExperiment, run: TimelineRun | None) -> ExperimentRow:
    times = {state: time for time, state in one.history}
    ends = (ExperimentState.ENDED, ExperimentState.FAILED, ExperimentState.DELETED)
    return ExperimentRow(
        one.id,
        one.experiment.name,
        one.owner or None,
        one.state.value,
        one.accepted,
        times.get(ExperimentState.RESERVED),
        times.get(ExperimentState.DEPLOYING),
        one.deployed,
        None if run is None else run.start,
        next((times[state] for state in ends if state in times), None),
        None if one.reservation is None else one.reservation.id,
        one.failure or None,
    )


def _resource_row(
    one: ManagedExperiment, each: ManagedResource, host_of: Callable[[ManagedResource], HostSet]
) -> ResourceRow:
    hosts = host_of(each)
    return ResourceRow(
        one.id,
        each.name,
        KINDS[type(each.planned.resource)],
        each.state.value,
        each.location,
        str(hosts) if hosts else None,
        each.requested,
        each.created,
        each.addressed,
        each.removed,
        " ".join(each.addresses.values()) or None,
        each.reserved,
        " ".join(dict.fromkeys((*each.planned.after, *each.planned.addresses))) or None,
        each.reason or None,
    )


def _log_rows(one: ManagedExperiment) -> Iterator[LogRow]:
    for message in one.log.messages:
        yield LogRow(one.id, message.time, message.level, message.state, message.resource or None, message.text)


def _samples(one: ManagedExperiment, run: TimelineRun | None) -> Iterator[SampleRow]:
    """Yield the samples of all metrics: one every `rate` seconds from a compute's creation to its removal."""
    for each in one.computes:
        compute = each.planned.resource
        assert isinstance(compute, Compute)  # noqa: S101
        if each.created is None:
            continue
        last = each.created if each.removed is None else each.removed
        spans = _busy(run, each.name)
        for metric in compute.metrics:
            for number in range(math.ceil((last - each.created) / metric.rate)):
                time = each.created + number * metric.rate
                busy = sum(begin <= time < end for begin, end in spans)
                yield SampleRow(one.id, each.name, metric.name, time, busy)


def _busy(run: TimelineRun | None, name: str) -> list[tuple[float, float]]:
    """Return the begins and ends of a VM's entries."""
    if run is None:
        return []
    spans = (span for record in run.vms[name].records.values() for span in record.spans)
    return [(span.begin, math.inf if span.end is None else span.end) for span in spans]
