"""The figures of a whole run, read from wherever: what `batsched-py metrics` shows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any

from msgspec import Struct

from batsched_py.reporting.formatting.final_states import FINAL_STATES
from batsched_py.reporting.metrics.batsim_figures import consumed_energy
from batsched_py.reporting.metrics.host_times import host_times
from batsched_py.reporting.metrics.job_figures import JobFigures, job_figures
from batsched_py.reporting.metrics.metrics import SLOWDOWN_BOUND, Metrics, measure
from batsched_py.reporting.metrics.over_time import free_hosts, longest_run, queue_length, queued_hosts
from batsched_py.reporting.metrics.statistics import jains_index, mean, quantile
from batsched_py.reporting.metrics.steps import Steps, mean_over
from batsched_py.reporting.schedules.schedule import Schedule


class RunFigures(Struct, frozen=True):
    """What a run was like; docs/metrics.md defines each figure, in the same words and order.

    A job *ran* if it was not rejected: means, quantiles and maxima are over these jobs. A figure that has no meaning,
    because no job ran or because no file tells what it is made of, is None. The order of the jobs does not matter.
    Seconds, joules and watts; shares from 0 to 1.
    """

    jobs: int
    ran: int
    successful: int
    failed: int
    walltime_reached: int
    killed: int
    rejected: int
    hosts: int
    makespan: float
    utilisation: float | None
    throughput: float | None
    mean_wait: float | None
    median_wait: float | None
    p90_wait: float | None
    p99_wait: float | None
    max_wait: float | None
    mean_turnaround: float | None
    max_turnaround: float | None
    mean_slowdown: float | None
    max_slowdown: float | None
    mean_bounded_slowdown: float | None
    median_bounded_slowdown: float | None
    p90_bounded_slowdown: float | None
    p99_bounded_slowdown: float | None
    max_bounded_slowdown: float | None
    mean_per_processor_slowdown: float | None
    mean_per_processor_bounded_slowdown: float | None
    mean_queue_length: float | None
    max_queue_length: int | None
    mean_queued_hosts: float | None
    max_queued_hosts: int | None
    mean_pieces: float | None
    contiguous: float | None
    fragmentation: float | None
    energy: float | None
    mean_power: float | None
    mean_job_energy: float | None
    computing_time: float | None
    idle_time: float | None
    sleeping_time: float | None
    switching_on_time: float | None
    switching_off_time: float | None
    unavailable_time: float | None
    users: int
    fairness_wait: float | None
    fairness_bounded_slowdown: float | None
    with_deadline: int
    deadlines_met: int | None


def measure_run(schedule: Schedule, tau: float = SLOWDOWN_BOUND, *, jobs: list[JobFigures] | None = None) -> RunFigures:
    """The figures of a run; runs shorter than `tau` seconds count as `tau` in what is called bounded.

    `jobs` are the figures of its jobs, if they were computed before. WorkloadError if a deadline breaks its rule.
    """
    figures = job_figures(schedule, tau) if jobs is None else jobs
    ran = [job for job in figures if not job.record.rejected]
    summary = measure(schedule.jobs, schedule.hosts, tau)
    makespan = summary.makespan
    return RunFigures(
        **_counts(figures, schedule.unlisted),
        **_summary(summary),
        **_waits(ran),
        **_slowdowns(ran),
        **_queue(schedule, makespan),
        **_layout(schedule, ran, makespan),
        **_energy(schedule, ran),
        **_host_times(schedule, makespan),
        **_fairness(ran),
        **_deadlines(figures),
    )


def _counts(figures: Sequence[JobFigures], unlisted: int) -> dict[str, Any]:
    states = Counter(job.record.state for job in figures)
    successful, failed, late, killed, rejected = (states[state] for state in FINAL_STATES)
    return {
        "jobs": len(figures) + unlisted,
        "ran": len(figures) - rejected,
        "successful": successful,
        "failed": failed,
        "walltime_reached": late,
        "killed": killed,
        "rejected": rejected + unlisted,
    }


def _summary(summary: Metrics) -> dict[str, Any]:
    return {name: getattr(summary, name) for name in Metrics.__struct_fields__ if name not in {"jobs", "states"}}


def _waits(ran: Sequence[JobFigures]) -> dict[str, Any]:
    waits, turnarounds = _known(job.wait for job in ran), _known(job.turnaround for job in ran)
    return {
        "median_wait": quantile(waits, 0.5),
        "p90_wait": quantile(waits, 0.9),
        "p99_wait": quantile(waits, 0.99),
        "max_turnaround": max(turnarounds, default=None),
    }


def _slowdowns(ran: Sequence[JobFigures]) -> dict[str, Any]:
    slowdowns = _known(job.slowdown for job in ran)
    shared = _known(job.per_processor_slowdown for job in ran)
    every = len(slowdowns) == len(ran)  # a job that took no time has none: then a mean of the others would mislead
    bounded = _known(job.bounded_slowdown for job in ran)
    return {
        "mean_slowdown": mean(slowdowns) if every else None,
        "max_slowdown": max(slowdowns, default=None) if every else None,
        "median_bounded_slowdown": quantile(bounded, 0.5),
        "p90_bounded_slowdown": quantile(bounded, 0.9),
        "p99_bounded_slowdown": quantile(bounded, 0.99),
        "max_bounded_slowdown": max(bounded, default=None),
        "mean_per_processor_slowdown": mean(shared) if every else None,
        "mean_per_processor_bounded_slowdown": mean(_known(job.per_processor_bounded_slowdown for job in ran)),
    }


def _queue(schedule: Schedule, makespan: float) -> dict[str, Any]:
    length, hosts = queue_length(schedule), queued_hosts(schedule)
    return {
        "mean_queue_length": mean_over(length, 0.0, makespan),
        "max_queue_length": _highest(length) if makespan > 0 else None,
        "mean_queued_hosts": mean_over(hosts, 0.0, makespan),
        "max_queued_hosts": _highest(hosts) if makespan > 0 else None,
    }


def _layout(schedule: Schedule, ran: Sequence[JobFigures], makespan: float) -> dict[str, Any]:
    pieces = [job.pieces for job in ran if job.pieces]
    return {
        "mean_pieces": mean(pieces),
        "contiguous": pieces.count(1) / len(pieces) if pieces else None,
        "fragmentation": _fragmentation(schedule, makespan) if schedule.hosts_known else None,
    }


def _fragmentation(schedule: Schedule, makespan: float) -> float | None:
    """Host seconds that are free and not in the largest run of free hosts, of all that are free."""
    free, scattered = [], []
    for (time, hosts), (until, _) in pairwise(chain(free_hosts(schedule), [(makespan, 0)])):
        count = hosts.bit_count()
        free.append(count * (until - time))
        scattered.append((count - longest_run(hosts)) * (until - time))
    total = math.fsum(free)
    return math.fsum(scattered) / total if total > 0 else None


def _energy(schedule: Schedule, ran: Sequence[JobFigures]) -> dict[str, Any]:
    energy = consumed_energy(schedule)
    begin = min((job.job.submit_time for job in schedule.jobs), default=0.0)
    end = max((job.record.finish for job in ran), default=begin)
    of_jobs = [job.record.energy for job in ran if job.record.energy >= 0]
    return {
        "energy": energy,
        "mean_power": energy / (end - begin) if energy is not None and end > begin else None,
        "mean_job_energy": mean(of_jobs) if len(of_jobs) == len(ran) else None,
    }


def _host_times(schedule: Schedule, makespan: float) -> dict[str, Any]:
    return {f"{state}_time": seconds for state, seconds in host_times(schedule, makespan).items()}


def _fairness(ran: Sequence[JobFigures]) -> dict[str, Any]:
    by_user: defaultdict[str, list[JobFigures]] = defaultdict(list)
    for job in ran:
        if job.user is not None:
            by_user[job.user].append(job)
    waits = _known(mean(_known(job.wait for job in jobs)) for jobs in by_user.values())
    slowdowns = _known(mean(_known(job.bounded_slowdown for job in jobs)) for jobs in by_user.values())
    return {
        "users": len(by_user),
        "fairness_wait": jains_index(waits),
        "fairness_bounded_slowdown": jains_index(slowdowns),
    }


def _deadlines(figures: Sequence[JobFigures]) -> dict[str, Any]:
    due = [job for job in figures if job.due is not None]
    return {"with_deadline": len(due), "deadlines_met": sum(job.met is True for job in due) if due else None}


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _highest(steps: Steps) -> int:
    return int(max(value for _, value in steps))
