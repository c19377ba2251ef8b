"""Metrics of a schedule over time: hosts in use, queue, fragmentation, states of hosts, power."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from batsched_py.reporting.metrics.gpu_fragmentation import free_gpus
from batsched_py.reporting.metrics.resource_use import resource_curves
from batsched_py.reporting.metrics.steps import Steps, changes, scaled, stacked
from batsched_py.reporting.schedules.schedule import Schedule


def busy_hosts(schedule: Schedule) -> Steps:
    """Count the allocated compute hosts.

    A host that several jobs share counts once for each, but only once if these jobs request parts of hosts.
    """
    if schedule.shares_hosts:
        return changes(computing_hosts(schedule))
    return stacked((record.start, record.finish, schedule.size(record)) for record in schedule.ran)


def utilisation(schedule: Schedule) -> Steps:
    """Return the share of allocated compute hosts, empty without hosts; above 1 if jobs without demands share hosts."""
    return scaled(busy_hosts(schedule), schedule.hosts) if schedule.hosts else []


def running_jobs(schedule: Schedule) -> Steps:
    """Count the running jobs."""
    return stacked((record.start, record.finish, 1) for record in schedule.ran)


def queue_length(schedule: Schedule) -> Steps:
    """Count the submitted jobs that have not started, without rejected ones: no file has the time of a rejection."""
    return stacked((record.job.submit_time, record.start, 1) for record in schedule.ran)


def queued_hosts(schedule: Schedule) -> Steps:
    """Sum the sizes of the waiting jobs, which evalys calls the queue."""
    return stacked((record.job.submit_time, record.start, record.job.size) for record in schedule.ran)


def fragmentation(schedule: Schedule) -> Steps:
    """Return the share of the free hosts outside the longest run of free hosts with consecutive numbers.

    0 if no host is free, or if all free hosts form one run. Empty if the hosts of jobs are unknown. A host counts as
    free if no job has it, even if it sleeps, which jobs files do not show.
    """
    if not schedule.hosts_known:
        return []
    found = schedule.occupancy
    rows = zip(found.times, found.free, found.longest, strict=True)
    return changes((time, (count - longest) / count if count else 0.0) for time, count, longest in rows)


def allocated_resources(schedule: Schedule) -> Mapping[str, Steps]:
    """Return the share of each resource that no other job could have; empty if jobs have whole hosts only."""
    return {str(curve.resource): curve.allocated for curve in resource_curves(schedule)}


def requested_resources(schedule: Schedule) -> Mapping[str, Steps]:
    """Return the share of each resource that running tasks requested; empty if jobs have whole hosts only."""
    return {str(curve.resource): curve.requested for curve in resource_curves(schedule)}


def gpu_fragmentation(schedule: Schedule) -> Steps:
    """Return the share of the free GPUs that the expected tasks cannot use; 0 if none is free, empty if unknown."""
    return changes((row.time, row.fragments / row.free if row.free else 0.0) for row in free_gpus(schedule))


def computing_hosts(schedule: Schedule) -> Steps:
    """Count the compute hosts with a job; one that several jobs share counts once.

    If hosts are unknown, it is the sum of the sizes of the jobs, limited to the number of hosts.
    """
    if schedule.hosts_known:
        found = schedule.occupancy
        return [(time, schedule.hosts - free) for time, free in zip(found.times, found.free, strict=True)]
    return changes((time, min(value, schedule.hosts)) for time, value in busy_hosts(schedule))


def host_states(schedule: Schedule) -> Mapping[str, Steps]:
    """Count the compute hosts in each state (of HOST_STATES).

    With a trace of machine states, all hosts are idle before its first row. Without a trace, the jobs determine whether
    hosts are idle or computing.
    """
    rows = schedule.machine_states
    if rows is None:
        computing = computing_hosts(schedule)
        return {"idle": [(time, schedule.hosts - count) for time, count in computing], "computing": computing}
    states = {}
    for name, counts in rows.columns().items():
        before = (0.0, schedule.hosts if name == "idle" else 0)
        states[name] = changes([before, *zip(rows.times, counts, strict=True)])
    return states


def power(schedule: Schedule) -> Steps:
    """Return the power of all hosts in watts, as means between rows of `_consumed_energy.csv`; empty without it."""
    rows = schedule.consumed_energy
    if rows is None:
        return []
    readings = [(0.0, 0.0)]
    for time, joules in zip(rows.times, rows.joules, strict=True):
        if time > readings[-1][0]:
            readings.append((time, joules))
    steps = changes((low, (after - before) / (high - low)) for (low, before), (high, after) in pairwise(readings))
    return [*steps, (readings[-1][0], 0.0)] if steps else []
