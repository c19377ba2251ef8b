"""The metrics of Batsim's `_schedule.csv`, computed from the jobs with Batsim's names and definitions."""

from __future__ import annotations

import math
from bisect import bisect_left

from msgspec import Struct

from batsched_py.reporting.metrics.host_times import batsim_times
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.tracing import JOB_ENDED, EnergyRows


class BatsimMetrics(Struct, frozen=True):
    """The columns of Batsim's `_schedule.csv`, in its order, except its version and measured times.

    Means are over all jobs, and a rejected job adds 0 to their sums; maxima are 0 if no job ran. Metrics that cannot be
    computed from the files are None.
    """

    consumed_joules: float | None
    makespan: float
    max_slowdown: float
    max_turnaround_time: float
    max_waiting_time: float
    mean_slowdown: float
    mean_turnaround_time: float
    mean_waiting_time: float
    nb_computing_machines: int
    nb_grouped_switches: int | None
    nb_jobs: int
    nb_jobs_finished: int
    nb_jobs_killed: int
    nb_jobs_rejected: int
    nb_jobs_success: int
    nb_machine_switches: int | None
    success_rate: float
    time_computing: float | None
    time_idle: float | None
    time_sleeping: float | None
    time_switching_off: float | None
    time_switching_on: float | None
    time_unavailable: float | None


def batsim_metrics(schedule: Schedule) -> BatsimMetrics:
    """Compute Batsim's metrics of a run. The hosts are compute hosts only; Batsim counts storage hosts, too."""
    ran = schedule.ran
    jobs = len(schedule.jobs) + schedule.unlisted
    success = sum(record.success for record in ran)
    waits = [record.waiting for record in ran]
    turnarounds = [record.turnaround for record in ran]
    slowdowns = [schedule.stretch(record) for record in ran]
    grouped, switched = _switches(schedule)
    return BatsimMetrics(
        consumed_joules=traced_energy(schedule),
        makespan=max((record.finish for record in ran), default=0.0),
        max_slowdown=max(slowdowns, default=0.0),
        max_turnaround_time=max(turnarounds, default=0.0),
        max_waiting_time=max(waits, default=0.0),
        mean_slowdown=_over(slowdowns, jobs),
        mean_turnaround_time=_over(turnarounds, jobs),
        mean_waiting_time=_over(waits, jobs),
        nb_computing_machines=schedule.hosts,
        nb_grouped_switches=grouped,
        nb_jobs=jobs,
        nb_jobs_finished=len(ran),
        nb_jobs_killed=len(ran) - success,
        nb_jobs_rejected=jobs - len(ran),
        nb_jobs_success=success,
        nb_machine_switches=switched,
        success_rate=success / jobs if jobs else 0.0,
        **{f"time_{state}": seconds for state, seconds in batsim_times(schedule).items()},
    )


def consumed_energy(schedule: Schedule) -> float | None:
    """Return the energy of all hosts in joules, from `_schedule.csv`, else from the trace; None if neither has it."""
    if not _counted(schedule):
        return None
    written = schedule.batsim_row.get("consumed_joules")
    joules = traced_energy(schedule) if written is None else float(written)
    return None if joules is None else max(0.0, joules)


def energy_between(schedule: Schedule, begin: float, end: float) -> float | None:
    """Return the energy of all hosts from `begin` to `end` in joules, from the trace; None without a trace."""
    rows = schedule.consumed_energy
    if rows is None or not rows.times:
        return None
    return max(_joules_at(rows, end) - _joules_at(rows, begin), 0.0)


def traced_energy(schedule: Schedule) -> float | None:
    """Return the traced energy from the first submission to the last completion in joules.

    0 if energy was not counted, None if it was counted but not traced. Before the first completion Batsim counts -1 J.
    """
    rows = schedule.consumed_energy
    if rows is None:
        return None if _counted(schedule) else 0.0
    first = min((record.job.submit_time for record in schedule.jobs), default=0.0)
    if not rows.joules:
        return None if first else -1.0
    ends = [joules for joules, kind in zip(rows.joules, rows.kinds, strict=True) if kind == JOB_ENDED]
    return (ends[-1] if ends else -1.0) - _joules_at(rows, first)


def _joules_at(rows: EnergyRows, time: float) -> float:
    """Interpolate the joules at a time: between two rows the power is constant."""
    above = bisect_left(rows.times, time)
    if above == len(rows.times):
        return rows.joules[-1]
    before, joules = (rows.times[above - 1], rows.joules[above - 1]) if above else (0.0, 0.0)
    span = rows.times[above] - before
    return joules + (rows.joules[above] - joules) * ((time - before) / span if span else 0.0)


def _counted(schedule: Schedule) -> bool:
    """Return True if energy was counted."""
    return schedule.consumed_energy is not None or any(record.energy >= 0 for record in schedule.jobs)


def _switches(schedule: Schedule) -> tuple[int | None, int | None]:
    """Count requested changes of pstate, and hosts in them: hosts in transition have a negative pstate."""
    if schedule.pstate_changes is None:
        return (None, None) if _counted(schedule) else (0, 0)
    asked = [hosts.bit_count() for _, hosts, pstate in schedule.pstate_changes if pstate < 0]
    return len(asked), sum(asked)


def _over(values: list[float], number: int) -> float:
    return math.fsum(values) / number if number else 0.0
