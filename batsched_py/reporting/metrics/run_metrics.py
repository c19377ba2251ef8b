"""Measurement of a whole run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from msgspec.structs import asdict

from batsched_py.protocol.events import REJECTED
from batsched_py.reporting.formatting import FINAL_STATES
from batsched_py.reporting.metrics.batsim_metrics import consumed_energy, energy_between
from batsched_py.reporting.metrics.catalogue import RunMetrics
from batsched_py.reporting.metrics.host_times import host_times
from batsched_py.reporting.metrics.job_metrics import JobMetrics, measure_jobs
from batsched_py.reporting.metrics.lease_metrics import lease_metrics
from batsched_py.reporting.metrics.over_time import busy_hosts, computing_hosts, queue_length, queued_hosts
from batsched_py.reporting.metrics.placement_metrics import placement_metrics
from batsched_py.reporting.metrics.statistics import jains_index, mean, quantile
from batsched_py.reporting.metrics.steps import highest, integral, mean_over
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND, lost_work, overhead_time, summarise_jobs
from batsched_py.reporting.schedules.occupancy import Occupancy
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.time_window import TimeWindow
from batsched_py.results.records import JobRecord

#: Name of a quantile in metrics -> its share of the values.
_QUANTILES: Final = {"median": 0.5, "p90": 0.9, "p99": 0.99}


def measure_run(schedule: Schedule, tau: float = SLOWDOWN_BOUND, window: TimeWindow | None = None) -> RunMetrics:
    """Compute the metrics of a run; runs shorter than `tau` seconds count as `tau` in bounded slowdowns.

    With a window, metrics of jobs cover the jobs submitted in it, even if they end later, and metrics of hosts cover
    the time in it, for all jobs. WorkloadError if a deadline is invalid.
    """
    part = schedule if window is None else window.submitted(schedule)
    jobs = measure_jobs(part, tau)
    ran = [job for job in jobs if not job.record.rejected]
    summary = asdict(summarise_jobs(part.jobs, schedule.hosts, tau, part.leases))
    del summary["jobs"], summary["states"]  # they lack the jobs that are in no row
    begin, end = (0.0, summary["makespan"]) if window is None else (window.begin, window.end)
    free = schedule.occupancy if schedule.hosts_known else None
    return RunMetrics(
        **_counts(jobs, part.unlisted),
        **(summary if window is None else summary | _of_machine(schedule, ran, window)),
        **_restarts(ran, part.ran_attempts),
        **_waits(ran),
        **_slowdowns(ran),
        **_queue(schedule, begin, end),
        **_layout(free, ran, begin, end),
        **_energy(schedule, ran, window),
        **_host_times(schedule, free, begin, end),
        **_fairness(ran),
        **_deadlines(jobs),
        **(lease_metrics(schedule) if window is None else lease_metrics(part, begin, end)),
        **placement_metrics(part),
        **_contention(part, ran),
        **({} if window is None else _measured(window, schedule.job_count - schedule.unlisted - len(jobs))),
    )


def _measured(window: TimeWindow, outside: int) -> dict[str, Any]:
    return {"window_begin": window.begin, "window_end": window.end, "outside_window": outside}


def _of_machine(schedule: Schedule, ran: Sequence[JobMetrics], window: TimeWindow) -> dict[str, Any]:
    """Return the metrics of the summary that depend on the use of hosts, or on ends of jobs, in a window."""
    begin, end = window.begin, window.end
    allocated, everything = integral(busy_hosts(schedule), begin, end), schedule.hosts * window.seconds
    again = schedule.attempts
    lost = lost_work(again, schedule.leases, schedule.hosts, (begin, end))
    useful = allocated - lost - overhead_time(again, (begin, end))
    once = (job for job in schedule.ran if job.job.id not in again.firsts and job.job.id not in again.jobs)
    ends = (job.finish for job in once)
    lasts = (job.last.finish for job in again.jobs.values() if job.last.state != REJECTED)
    finished = sum(begin < finish <= end for finish in chain(ends, lasts))  # a window may end with the last job
    return {
        "makespan": max((job.record.finish for job in ran), default=begin) - begin,
        "utilisation": allocated / everything if everything else None,
        "useful_utilisation": useful / everything if everything else None,
        "useful_work": useful,
        "lost_work": lost,
        "throughput": finished / window.seconds,
    }


def _counts(jobs: Sequence[JobMetrics], unlisted: int) -> dict[str, Any]:
    states = Counter(job.record.state for job in jobs)
    successful, failed, late, killed, rejected = (states[state] for state in FINAL_STATES)
    return {
        "jobs": len(jobs) + unlisted,
        "ran": len(jobs) - rejected,
        "successful": successful,
        "failed": failed,
        "walltime_reached": late,
        "killed": killed,
        "rejected": rejected + unlisted,
    }


def _restarts(ran: Sequence[JobMetrics], attempts: Sequence[JobRecord]) -> dict[str, Any]:
    waits = [record.waiting for record in attempts]
    return {
        "restarts_per_job": mean([job.attempts - 1 for job in ran]),
        "mean_attempt_wait": mean(waits),
    }


def _waits(ran: Sequence[JobMetrics]) -> dict[str, Any]:
    waits = _known(job.wait for job in ran)
    return {
        **{f"{name}_wait": quantile(waits, share) for name, share in _QUANTILES.items()},
        "max_turnaround": max(_known(job.turnaround for job in ran), default=None),
    }


def _slowdowns(ran: Sequence[JobMetrics]) -> dict[str, Any]:
    slowdowns = _known(job.slowdown for job in ran)
    shared = _known(job.per_processor_slowdown for job in ran)
    every = len(slowdowns) == len(ran)  # undefined for a job that took no time: a mean of the others would mislead
    bounded = _known(job.bounded_slowdown for job in ran)
    return {
        "mean_slowdown": mean(slowdowns) if every else None,
        "max_slowdown": max(slowdowns, default=None) if every else None,
        **{f"{name}_bounded_slowdown": quantile(bounded, share) for name, share in _QUANTILES.items()},
        "max_bounded_slowdown": max(bounded, default=None),
        "mean_per_processor_slowdown": mean(shared) if every else None,
        "mean_per_processor_bounded_slowdown": mean(_known(job.per_processor_bounded_slowdown for job in ran)),
    }


def _contention(schedule: Schedule, ran: Sequence[JobMetrics]) -> dict[str, Any]:
    """Return the metrics of contention between jobs; empty if no job was slowed down, or if that is unknown."""
    slowed = schedule.alone
    if slowed is None:
        return {}
    slowdowns = _known(job.contention_slowdown for job in ran)
    return {
        "slowed_jobs": sum(job.record.job.id in slowed for job in ran),
        "mean_contention_slowdown": mean(slowdowns),
        "max_contention_slowdown": max(slowdowns, default=None),
    }


def _queue(schedule: Schedule, begin: float, end: float) -> dict[str, Any]:
    length, hosts = queue_length(schedule), queued_hosts(schedule)
    return {
        "mean_queue_length": mean_over(length, begin, end),
        "max_queue_length": highest(length, begin, end),
        "mean_queued_hosts": mean_over(hosts, begin, end),
        "max_queued_hosts": highest(hosts, begin, end),
    }


def _layout(free: Occupancy | None, ran: Sequence[JobMetrics], begin: float, end: float) -> dict[str, Any]:
    pieces = [job.pieces for job in ran if job.pieces]
    return {
        "mean_pieces": mean(pieces),
        "contiguous": pieces.count(1) / len(pieces) if pieces else None,
        "fragmentation": _fragmentation(free, begin, end),
    }


def _fragmentation(free: Occupancy | None, begin: float, end: float) -> float | None:
    """Return the share of the free host seconds outside the longest run of free hosts; None if no host is ever free."""
    if free is None:
        return None
    total = integral(list(zip(free.times, free.free, strict=True)), begin, end)
    outside = [(time, count - one) for time, count, one in zip(free.times, free.free, free.longest, strict=True)]
    scattered = integral(outside, begin, end)
    return scattered / total if total > 0 else None


def _energy(schedule: Schedule, ran: Sequence[JobMetrics], window: TimeWindow | None) -> dict[str, Any]:
    if window is None:
        energy = consumed_energy(schedule)
        begin = min((job.job.submit_time for job in schedule.jobs), default=0.0)
        end = max((job.record.finish for job in ran), default=begin)
    else:
        begin, end = window.begin, window.end
        energy = energy_between(schedule, begin, end)
    of_jobs = [job.record.energy for job in ran if job.record.energy >= 0]
    return {
        "energy": energy,
        "mean_power": energy / (end - begin) if energy is not None and end > begin else None,
        "mean_job_energy": mean(of_jobs) if len(of_jobs) == len(ran) else None,
    }


def _host_times(schedule: Schedule, free: Occupancy | None, begin: float, end: float) -> dict[str, Any]:
    computing = None if free is None else computing_hosts(schedule)
    return {f"{state}_time": seconds for state, seconds in host_times(schedule, begin, end, computing).items()}


def _fairness(ran: Sequence[JobMetrics]) -> dict[str, Any]:
    by_user: defaultdict[str, list[JobMetrics]] = defaultdict(list)
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


def _deadlines(jobs: Sequence[JobMetrics]) -> dict[str, Any]:
    due = [job for job in jobs if job.due is not None]
    return {"with_deadline": len(due), "deadlines_met": sum(job.met is True for job in due) if due else None}


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
