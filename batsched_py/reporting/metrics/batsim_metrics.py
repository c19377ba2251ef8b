"""The metrics of Batsim's `_schedule.csv`, computed from the jobs with Batsim's names and definitions."""

from __future__ import annotations

import math

from msgspec import Struct

from batsched_py.reporting.metrics.energy import is_counted, traced_energy
from batsched_py.reporting.metrics.host_times import batsim_times
from batsched_py.reporting.schedules.schedule import Schedule


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


def _switches(schedule: Schedule) -> tuple[int | None, int | None]:
    """Count requested changes of pstate, and hosts in them: hosts in transition have a negative pstate."""
    if schedule.pstate_changes is None:
        return (None, None) if is_counted(schedule) else (0, 0)
    asked = [hosts.bit_count() for _, hosts, pstate in schedule.pstate_changes if pstate < 0]
    return len(asked), sum(asked)


def _over(values: list[float], number: int) -> float:
    return math.fsum(values) / number if number else 0.0
