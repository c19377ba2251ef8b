"""The metrics of the jobs of a run: numbers of jobs, waits, slowdowns, fairness, deadlines, contention."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from batsched_py.protocol.events import FINAL_STATES
from batsched_py.reporting.metrics.catalogue import (
    AttemptMetrics,
    ContentionMetrics,
    DeadlineMetrics,
    FairnessMetrics,
    JobCounts,
    SlowdownMetrics,
    WaitMetrics,
    undefined,
)
from batsched_py.reporting.metrics.job_metrics import JobMetrics
from batsched_py.reporting.metrics.statistics import jains_index, known, mean, quantile
from batsched_py.reporting.metrics.summary import Summary
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.records import JobRecord


def count_jobs(jobs: Sequence[JobMetrics], unlisted: int) -> JobCounts:
    """Count jobs by their final states; `unlisted` jobs are in no row, and were rejected."""
    states = Counter(job.record.state for job in jobs)
    successful, failed, late, killed, rejected = (states[state] for state in FINAL_STATES)
    return JobCounts(
        jobs=len(jobs) + unlisted,
        ran=len(jobs) - rejected,
        successful=successful,
        failed=failed,
        walltime_reached=late,
        killed=killed,
        rejected=rejected + unlisted,
    )


def measure_attempts(summary: Summary, ran: Sequence[JobMetrics]) -> AttemptMetrics:
    """Count how often jobs ran."""
    return AttemptMetrics(summary.attempts, restarts_per_job=mean([job.attempts - 1 for job in ran]))


def measure_waits(summary: Summary, ran: Sequence[JobMetrics], attempts: Sequence[JobRecord]) -> WaitMetrics:
    """Measure the waits of jobs that ran, and of their attempts."""
    waits = known(job.wait for job in ran)
    return WaitMetrics(
        mean_wait=summary.mean_wait,
        median_wait=quantile(waits, 0.5),
        p90_wait=quantile(waits, 0.9),
        p99_wait=quantile(waits, 0.99),
        max_wait=summary.max_wait,
        mean_attempt_wait=mean([record.waiting for record in attempts]),
        mean_turnaround=summary.mean_turnaround,
        max_turnaround=max(known(job.turnaround for job in ran), default=None),
    )


def measure_slowdowns(summary: Summary, ran: Sequence[JobMetrics]) -> SlowdownMetrics:
    """Measure the slowdowns of jobs that ran."""
    slowdowns = known(job.slowdown for job in ran)
    shared = known(job.per_processor_slowdown for job in ran)
    every = len(slowdowns) == len(ran)  # undefined for a job that took no time: a mean of the others would mislead
    bounded = known(job.bounded_slowdown for job in ran)
    return SlowdownMetrics(
        mean_slowdown=mean(slowdowns) if every else None,
        max_slowdown=max(slowdowns, default=None) if every else None,
        mean_bounded_slowdown=summary.mean_bounded_slowdown,
        median_bounded_slowdown=quantile(bounded, 0.5),
        p90_bounded_slowdown=quantile(bounded, 0.9),
        p99_bounded_slowdown=quantile(bounded, 0.99),
        max_bounded_slowdown=max(bounded, default=None),
        mean_per_processor_slowdown=mean(shared) if every else None,
        mean_per_processor_bounded_slowdown=mean(known(job.per_processor_bounded_slowdown for job in ran)),
    )


def measure_fairness(ran: Sequence[JobMetrics]) -> FairnessMetrics:
    """Measure how equally users wait."""
    by_user: defaultdict[str, list[JobMetrics]] = defaultdict(list)
    for job in ran:
        if job.user is not None:
            by_user[job.user].append(job)
    waits = known(mean(known(job.wait for job in jobs)) for jobs in by_user.values())
    slowdowns = known(mean(known(job.bounded_slowdown for job in jobs)) for jobs in by_user.values())
    return FairnessMetrics(len(by_user), jains_index(waits), jains_index(slowdowns))


def measure_deadlines(jobs: Sequence[JobMetrics]) -> DeadlineMetrics:
    """Count the jobs with a deadline, and those that ended in time."""
    due = [job for job in jobs if job.due is not None]
    return DeadlineMetrics(len(due), sum(job.met is True for job in due) if due else None)


def measure_contention(schedule: Schedule, ran: Sequence[JobMetrics]) -> ContentionMetrics:
    """Measure the contention between jobs."""
    slowed = schedule.alone
    if slowed is None:
        return undefined(ContentionMetrics)
    slowdowns = known(job.contention_slowdown for job in ran)
    return ContentionMetrics(
        slowed_jobs=sum(job.record.job.id in slowed for job in ran),
        mean_contention_slowdown=mean(slowdowns),
        max_contention_slowdown=max(slowdowns, default=None),
    )
