"""The accuracy of predicted run times."""

from __future__ import annotations

import math

from batsched_py.reporting.metrics.catalogue import RunTimeMetrics, undefined
from batsched_py.reporting.metrics.statistics import mean
from batsched_py.reporting.schedules.run_time_tables import RunTimeRow
from batsched_py.reporting.schedules.schedule import Schedule


def prediction_metrics(schedule: Schedule) -> RunTimeMetrics:
    """Return the metrics of a run's predicted run times, over the jobs that were predicted when they started."""
    rows = schedule.run_times
    if rows is None:
        return undefined(RunTimeMetrics)
    ran = [(record.job.size, rows[record.job.id]) for record in schedule.ran if record.job.id in rows]
    return RunTimeMetrics(
        run_time_error=mean([abs(row.predicted - row.run_time) for _, row in ran]),
        run_time_accuracy=mean([_accuracy(row) for _, row in ran]),
        under_predicted=mean([float(row.predicted < row.run_time) for _, row in ran]),
        mean_e_loss=mean([_e_loss(row, size) for size, row in ran]),
    )


def _accuracy(row: RunTimeRow) -> float:
    """Return the smaller of prediction and run time, divided by the larger; 1 if equal (Tsafrir and others)."""
    longer = max(row.predicted, row.run_time)
    return min(row.predicted, row.run_time) / longer if longer else 1.0


def _e_loss(row: RunTimeRow, size: int) -> float:
    """Return the loss of Gaussier and others: the error if too short, its square if too long, times log(n * p)."""
    error = row.predicted - row.run_time
    return math.log(max(size * row.run_time, 1.0)) * (error * error if error > 0.0 else -error)
