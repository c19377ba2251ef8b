"""Tables of experiments: final states of experiments and resources, samples of metrics, and logs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from batsched_py.experiments.managed import ManagedExperiment, ManagedResource
from batsched_py.experiments.model import Compute
from batsched_py.experiments.states import ExperimentState
from batsched_py.hostset import HostSet
from batsched_py.model.table import Table
from batsched_py.results.experiment_rows import ExperimentRow, LogRow, ResourceRow, SampleRow
from batsched_py.timelines.run import TimelineRun

#: Maximum number of rows in the table of metrics; later instants are left out.
MOST_SAMPLES: Final = 1_000_000


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
        each.kind,
        each.state.value,
        each.location,
        str(hosts) if hosts else None,
        each.requested,
        each.created,
        each.addressed,
        each.removed,
        " ".join(each.addresses.values()) or None,
        each.reserved,
        " ".join(each.needs) or None,
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
