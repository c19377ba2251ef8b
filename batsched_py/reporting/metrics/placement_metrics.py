"""The metrics of placements: success of proposals, and requests per start (L12 to L16)."""

from __future__ import annotations

from typing import Any

from batsched_py.reporting.schedules.schedule import Schedule


def placement_metrics(schedule: Schedule) -> dict[str, Any]:
    """Return the metrics of a run's placements by their names in RunMetrics; empty if the run has no placements."""
    if schedule.placements is None:
        return {}
    rows = schedule.placements.values()
    starts = sum(record.job.id in schedule.placements for record in schedule.ran)
    proposals = sum(row.proposals for row in rows)
    return {
        "placement_success": starts / proposals if proposals else None,
        "requests_per_start": sum(row.requests for row in rows) / starts if starts else None,
        "releases_per_start": sum(row.releases for row in rows) / starts if starts else None,
        "refusals_per_start": sum(row.refusals for row in rows) / starts if starts else None,
    }
