"""The metrics of placements: success of proposals, and requests per start (L12 to L16)."""

from __future__ import annotations

from batsched_py.reporting.metrics.catalogue import PlacementMetrics, undefined
from batsched_py.reporting.schedules.schedule import Schedule


def placement_metrics(schedule: Schedule) -> PlacementMetrics:
    """Return the metrics of a run's placements."""
    if schedule.placements is None:
        return undefined(PlacementMetrics)
    rows = schedule.placements.values()
    starts = sum(record.job.id in schedule.placements for record in schedule.ran)
    proposals = sum(row.proposals for row in rows)
    return PlacementMetrics(
        placement_success=starts / proposals if proposals else None,
        requests_per_start=sum(row.requests for row in rows) / starts if starts else None,
        releases_per_start=sum(row.releases for row in rows) / starts if starts else None,
        refusals_per_start=sum(row.refusals for row in rows) / starts if starts else None,
    )
