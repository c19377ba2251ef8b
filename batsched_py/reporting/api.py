"""Schedules of runs, their metrics, and quantities over time, for scripts and notebooks."""

from batsched_py.reporting.metrics.batsim_metrics import BatsimMetrics, batsim_metrics
from batsched_py.reporting.metrics.catalogue import RunMetrics
from batsched_py.reporting.metrics.job_metrics import JobMetrics, measure_jobs
from batsched_py.reporting.metrics.over_time import (
    busy_hosts,
    fragmentation,
    host_states,
    power,
    queue_length,
    queued_hosts,
    running_jobs,
    utilisation,
)
from batsched_py.reporting.metrics.run_metrics import measure_run
from batsched_py.reporting.metrics.summary import Summary, bounded_slowdown, summarise_jobs
from batsched_py.reporting.pictures.drawing import Picture
from batsched_py.reporting.schedules.members import with_members
from batsched_py.reporting.schedules.run_reader import read_schedule, read_schedules, schedule_of
from batsched_py.reporting.schedules.schedule import Schedule

__all__ = [
    "BatsimMetrics",
    "JobMetrics",
    "Picture",
    "RunMetrics",
    "Schedule",
    "Summary",
    "batsim_metrics",
    "bounded_slowdown",
    "busy_hosts",
    "fragmentation",
    "host_states",
    "measure_jobs",
    "measure_run",
    "power",
    "queue_length",
    "queued_hosts",
    "read_schedule",
    "read_schedules",
    "running_jobs",
    "schedule_of",
    "summarise_jobs",
    "utilisation",
    "with_members",
]
