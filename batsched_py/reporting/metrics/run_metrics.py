"""Measurement of a whole run."""

from __future__ import annotations

from batsched_py.reporting.metrics.catalogue import (
    AttemptMetrics,
    ContentionMetrics,
    DeadlineMetrics,
    EnergyMetrics,
    FairnessMetrics,
    HostTimeMetrics,
    JobCounts,
    LayoutMetrics,
    LeaseMetrics,
    PlacementMetrics,
    QueueMetrics,
    ResourceMetrics,
    RunMetrics,
    RunTimeMetrics,
    SlowdownMetrics,
    UseMetrics,
    WaitMetrics,
    WindowMetrics,
    undefined,
)
from batsched_py.reporting.metrics.job_groups import (
    count_jobs,
    measure_attempts,
    measure_contention,
    measure_deadlines,
    measure_fairness,
    measure_slowdowns,
    measure_waits,
)
from batsched_py.reporting.metrics.job_metrics import measure_jobs
from batsched_py.reporting.metrics.lease_metrics import lease_metrics
from batsched_py.reporting.metrics.machine_groups import (
    NO_SIGNALS,
    EnergySignals,
    measure_energy,
    measure_host_times,
    measure_layout,
    measure_queue,
    measure_resources,
    measure_shared_use,
    measure_use,
    use_of,
)
from batsched_py.reporting.metrics.placement_metrics import placement_metrics
from batsched_py.reporting.metrics.prediction_metrics import prediction_metrics
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND, summarise_jobs
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.time_window import TimeWindow


def measure_run(
    schedule: Schedule,
    tau: float = SLOWDOWN_BOUND,
    window: TimeWindow | None = None,
    signals: EnergySignals = NO_SIGNALS,
) -> RunMetrics:
    """Compute the metrics of a run; runs shorter than `tau` seconds count as `tau` in bounded slowdowns.

    With a window, metrics of jobs cover the jobs submitted in it, even if they end later, and metrics of hosts cover
    the time in it, for all jobs. Emissions and costs are by the `signals`. WorkloadError if a deadline is invalid.
    """
    part = schedule if window is None else window.submitted(schedule)
    jobs = measure_jobs(part, tau)
    ran = [job for job in jobs if not job.record.rejected]
    summary = summarise_jobs(part.jobs, schedule.hosts, tau, part.leases)
    begin, end = (0.0, summary.makespan) if window is None else (window.begin, window.end)
    free = schedule.occupancy if schedule.hosts_known else None
    use = use_of(summary) if window is None else measure_use(schedule, ran, window)
    outside = schedule.job_count - schedule.unlisted - len(jobs)
    return _together(
        counts=count_jobs(jobs, part.unlisted),
        attempts=measure_attempts(summary, ran),
        use=measure_shared_use(use, schedule, begin, end) if schedule.shares_hosts else use,
        resources=measure_resources(schedule, begin, end),
        waits=measure_waits(summary, ran, part.ran_attempts),
        slowdowns=measure_slowdowns(summary, ran),
        queue=measure_queue(schedule, begin, end),
        layout=measure_layout(free, ran, begin, end),
        energy=measure_energy(schedule, ran, window, signals),
        host_times=measure_host_times(schedule, free, begin, end),
        fairness=measure_fairness(ran),
        deadlines=measure_deadlines(jobs),
        leases=lease_metrics(schedule) if window is None else lease_metrics(part, begin, end),
        placements=placement_metrics(part),
        run_times=prediction_metrics(part),
        contention=measure_contention(part, ran),
        window=undefined(WindowMetrics) if window is None else WindowMetrics(begin, end, outside),
    )


def _together(
    *,
    counts: JobCounts,
    attempts: AttemptMetrics,
    use: UseMetrics,
    resources: ResourceMetrics,
    waits: WaitMetrics,
    slowdowns: SlowdownMetrics,
    queue: QueueMetrics,
    layout: LayoutMetrics,
    energy: EnergyMetrics,
    host_times: HostTimeMetrics,
    fairness: FairnessMetrics,
    deadlines: DeadlineMetrics,
    leases: LeaseMetrics,
    placements: PlacementMetrics,
    run_times: RunTimeMetrics,
    contention: ContentionMetrics,
    window: WindowMetrics,
) -> RunMetrics:
    """Return the metrics of all groups, which are the bases of RunMetrics."""
    jobs = vars(counts) | vars(attempts) | vars(waits) | vars(slowdowns) | vars(fairness) | vars(deadlines)
    machine = vars(use) | vars(resources) | vars(queue) | vars(layout) | vars(energy) | vars(host_times)
    others = vars(leases) | vars(placements) | vars(run_times) | vars(contention) | vars(window)
    return RunMetrics(**jobs, **machine, **others)
