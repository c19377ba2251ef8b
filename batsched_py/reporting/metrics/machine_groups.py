"""The metrics of the machine in a run: use of hosts, queue, layout of jobs, energy, states of hosts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import chain
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.model.step_signal import StepSignal
from batsched_py.protocol.events import REJECTED
from batsched_py.reporting.metrics.catalogue import (
    EnergyMetrics,
    HostTimeMetrics,
    LayoutMetrics,
    QueueMetrics,
    ResourceMetrics,
    UseMetrics,
    undefined,
)
from batsched_py.reporting.metrics.energy import consumed_energy, energy_between, weighted_energy
from batsched_py.reporting.metrics.gpu_fragmentation import free_gpus
from batsched_py.reporting.metrics.host_times import host_times
from batsched_py.reporting.metrics.job_metrics import JobMetrics
from batsched_py.reporting.metrics.over_time import busy_hosts, computing_hosts, queue_length, queued_hosts
from batsched_py.reporting.metrics.resource_use import resource_curves
from batsched_py.reporting.metrics.statistics import mean
from batsched_py.reporting.metrics.steps import highest, integral, mean_over
from batsched_py.reporting.metrics.summary import Summary, lost_work, overhead_time
from batsched_py.reporting.schedules.job_uses import CORES, GPUS, LICENCE, MEMORY, OTHER, ResourceName
from batsched_py.reporting.schedules.occupancy import FreeHostCurve
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.time_window import TimeWindow
from batsched_py.results.energy_integrals import energy_span


def use_of(summary: Summary) -> UseMetrics:
    """Return the use of hosts in a whole run."""
    return UseMetrics(
        hosts=summary.hosts,
        makespan=summary.makespan,
        utilisation=summary.utilisation,
        useful_utilisation=summary.useful_utilisation,
        useful_work=summary.useful_work,
        lost_work=summary.lost_work,
        throughput=summary.throughput,
    )


def measure_use(schedule: Schedule, ran: Sequence[JobMetrics], window: TimeWindow) -> UseMetrics:
    """Measure the use of hosts in a window, by all jobs; the makespan is that of the jobs that ran."""
    begin, end = window.begin, window.end
    allocated, everything = integral(busy_hosts(schedule), begin, end), schedule.hosts * window.seconds
    again = schedule.attempts
    lost = lost_work(again, schedule.leases, schedule.hosts, (begin, end))
    useful = allocated - lost - overhead_time(again, (begin, end))
    once = (job for job in schedule.ran if job.job.id not in again.firsts and job.job.id not in again.jobs)
    ends = (job.finish for job in once)
    lasts = (job.last.finish for job in again.jobs.values() if job.last.state != REJECTED)
    finished = sum(begin < finish <= end for finish in chain(ends, lasts))  # a window may end with the last job
    return UseMetrics(
        hosts=schedule.hosts,
        makespan=max((job.record.finish for job in ran), default=begin) - begin,
        utilisation=allocated / everything if everything else None,
        useful_utilisation=useful / everything if everything else None,
        useful_work=useful,
        lost_work=lost,
        throughput=finished / window.seconds,
    )


def measure_shared_use(use: UseMetrics, schedule: Schedule, begin: float, end: float) -> UseMetrics:
    """Measure the use of hosts that jobs share from `begin` to `end`: one with at least one task is in use.

    The work of an attempt is lost if it was thrown away, and useful on a host where the work of another was kept.
    """
    again = schedule.attempts
    wasted = {one.job_id for job in again.jobs.values() for one in (*job.unmarked, *job.overheads)}
    kept = schedule
    if wasted:
        kept = replace(schedule, jobs=tuple(record for record in schedule.jobs if record.job.id not in wasted))
    allocated, useful = (integral(computing_hosts(one), begin, end) for one in (schedule, kept))
    everything = schedule.hosts * (end - begin)
    return dataclasses.replace(
        use,
        utilisation=allocated / everything if everything > 0 else None,
        useful_utilisation=useful / everything if everything > 0 else None,
        useful_work=useful,
        lost_work=allocated - useful,
    )


def measure_resources(schedule: Schedule, begin: float, end: float) -> ResourceMetrics:
    """Measure the mean use of each resource from `begin` to `end`; undefined without capacities."""
    curves = resource_curves(schedule)
    if not curves:
        return undefined(ResourceMetrics)
    allocated = {curve.resource: mean_over(curve.allocated, begin, end) for curve in curves}
    requested = {curve.resource: mean_over(curve.requested, begin, end) for curve in curves}
    cores, memory, gpus = map(ResourceName, (CORES, MEMORY, GPUS))
    named = [[allocated[one] for one in allocated if one.kind == kind] for kind in (OTHER, LICENCE)]
    others, licences = (mean([value for value in values if value is not None]) for values in named)
    return ResourceMetrics(
        core_utilisation=allocated.get(cores),
        requested_cores=requested.get(cores),
        memory_utilisation=allocated.get(memory),
        requested_memory=requested.get(memory),
        gpu_utilisation=allocated.get(gpus),
        requested_gpus=requested.get(gpus),
        gpu_fragmentation=_gpu_fragmentation(schedule, begin, end),
        other_utilisation=others,
        licence_utilisation=licences,
    )


def measure_queue(schedule: Schedule, begin: float, end: float) -> QueueMetrics:
    """Measure the queue from `begin` to `end`."""
    length, hosts = queue_length(schedule), queued_hosts(schedule)
    return QueueMetrics(
        mean_queue_length=mean_over(length, begin, end),
        max_queue_length=highest(length, begin, end),
        mean_queued_hosts=mean_over(hosts, begin, end),
        max_queued_hosts=highest(hosts, begin, end),
    )


def measure_layout(free: FreeHostCurve | None, ran: Sequence[JobMetrics], begin: float, end: float) -> LayoutMetrics:
    """Measure the pieces of jobs, and the fragmentation of free hosts, None if hosts are unknown."""
    pieces = [job.pieces for job in ran if job.pieces]
    return LayoutMetrics(
        mean_pieces=mean(pieces),
        contiguous=pieces.count(1) / len(pieces) if pieces else None,
        fragmentation=_fragmentation(free, begin, end),
    )


class EnergySignals(Struct, frozen=True):
    """The carbon intensity of energy and its price; None if unknown."""

    carbon: StepSignal | None = None
    price: StepSignal | None = None

    @property
    def known(self) -> bool:
        """True if one is known: the energy must then be traced."""
        return self.carbon is not None or self.price is not None


#: Neither is known.
NO_SIGNALS: Final = EnergySignals()


def measure_energy(
    schedule: Schedule, ran: Sequence[JobMetrics], window: TimeWindow | None, signals: EnergySignals
) -> EnergyMetrics:
    """Measure the energy of a run, or of a window."""
    if window is None:
        energy = consumed_energy(schedule)
        submissions = (record.job.submit_time for record in schedule.jobs)
        begin, end = energy_span(submissions, (job.record.finish for job in ran))
    else:
        begin, end = window.begin, window.end
        energy = energy_between(schedule, begin, end)
    of_jobs = [job.record.energy for job in ran if job.record.energy >= 0]
    return EnergyMetrics(
        energy=energy,
        mean_power=energy / (end - begin) if energy is not None and end > begin else None,
        mean_job_energy=mean(of_jobs) if len(of_jobs) == len(ran) else None,
        carbon=None if signals.carbon is None else weighted_energy(schedule, signals.carbon, begin, end),
        energy_cost=None if signals.price is None else weighted_energy(schedule, signals.price, begin, end),
    )


def measure_host_times(schedule: Schedule, free: FreeHostCurve | None, begin: float, end: float) -> HostTimeMetrics:
    """Measure the time of hosts in each state."""
    times = host_times(schedule, begin, end, None if free is None else computing_hosts(schedule))
    return HostTimeMetrics(
        computing_time=times["computing"],
        idle_time=times["idle"],
        sleeping_time=times["sleeping"],
        switching_on_time=times["switching_on"],
        switching_off_time=times["switching_off"],
        unavailable_time=times["unavailable"],
    )


def _gpu_fragmentation(schedule: Schedule, begin: float, end: float) -> float | None:
    """Return the share of the free GPU seconds that expected tasks cannot use; None if unknown, or if none is free."""
    rows = free_gpus(schedule)
    free = integral([(row.time, row.free) for row in rows], begin, end)
    return integral([(row.time, row.fragments) for row in rows], begin, end) / free if free > 0 else None


def _fragmentation(free: FreeHostCurve | None, begin: float, end: float) -> float | None:
    """Return the share of the free host seconds outside the longest run of free hosts; None if no host is ever free."""
    if free is None:
        return None
    total = integral(list(zip(free.times, free.free, strict=True)), begin, end)
    outside = [(time, count - one) for time, count, one in zip(free.times, free.free, free.longest, strict=True)]
    scattered = integral(outside, begin, end)
    return scattered / total if total > 0 else None
