"""The metrics of leases: reservations, best-effort leases, costs of suspension, and lost work."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from batsched_py.model.lease_kind import LeaseKind
from batsched_py.reporting.formatting import HOUR
from batsched_py.reporting.metrics.catalogue import LeaseMetrics, undefined
from batsched_py.reporting.metrics.statistics import known, mean
from batsched_py.reporting.metrics.steps import Steps, stacked
from batsched_py.reporting.schedules.lease_tables import RUN, LeaseSpan, LeaseTables
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.lease_rows import KINDS, LeaseState, PredictionRow, ReservationUse

#: Kinds of spans in which a lease holds the CPUs of its hosts, as in the probe `cpu-utilization`.
_HOLDING: Final = frozenset(
    use.value for use in (ReservationUse.VM, ReservationUse.SUSPEND, ReservationUse.RESUME, ReservationUse.SHUTDOWN)
)

#: Ending of a metric's name, and the times ahead that it covers, in seconds: the second one belongs to it.
_BANDS: Final = (
    ("_hour", -math.inf, HOUR),
    ("_day", HOUR, 24 * HOUR),
    ("_beyond", 24 * HOUR, math.inf),
)
#: A start is late if it comes more seconds after the predicted one.
_LATE: Final = 1.0


def lease_metrics(schedule: Schedule, begin: float = 0.0, end: float | None = None) -> LeaseMetrics:
    """Return the metrics of a run's leases.

    The use of hosts is cut at `begin` and `end`, by default the last end of a lease.
    """
    leases = schedule.leases
    if leases is None:
        return undefined(LeaseMetrics)
    rows = list(leases.leases.values())
    utilisation, with_overheads = _host_shares(leases, schedule.hosts, begin, leases.end if end is None else end)
    reservations = [row for row in rows if row.type == KINDS[LeaseKind.ADVANCE]]
    rejected = sum(row.state == LeaseState.REJECTED.label for row in reservations)
    done = [row for row in rows if row.type == KINDS[LeaseKind.BEST_EFFORT] and row.state == LeaseState.DONE.label]
    return LeaseMetrics(
        leases=len(rows),
        accepted_reservations=len(reservations) - rejected,
        rejected_reservations=rejected,
        best_effort_done=len(done),
        best_effort_completion=max(known(row.end_time for row in done), default=None),
        mean_best_effort_wait=mean(known(row.waiting_time for row in done)),
        mean_best_effort_slowdown=mean(known(row.slowdown for row in done)),
        mean_best_effort_real_slowdown=mean(known(row.real_slowdown for row in done)),
        lease_utilisation=utilisation,
        lease_utilisation_with_overheads=with_overheads,
        suspensions=sum(row.suspensions for row in rows),
        time_suspended=math.fsum(row.suspended_time for row in rows),
        migrations=sum(row.migrations for row in rows),
        requeues=sum(row.requeues for row in rows),
        **_of_predictions([row for row in leases.predictions if row.lease in leases.leases]),
    )


def _of_predictions(rows: Sequence[PredictionRow]) -> dict[str, Any]:
    """Return the metrics of predicted starts: of all, and by the time from the prediction to the predicted start."""
    started = [(row.predicted - row.time, row.start - row.predicted) for row in rows if row.start is not None]
    found: dict[str, Any] = {"predictions": len(started) if rows else None}
    for ending, least, most in (("", -math.inf, math.inf), *_BANDS):
        errors = [error for ahead, error in started if least < ahead <= most]
        found[f"prediction_error{ending}"] = mean([abs(error) for error in errors])
        found[f"predictions_late{ending}"] = mean([float(error > _LATE) for error in errors])
    return found


def lease_hosts(schedule: Schedule) -> dict[str, Steps]:
    """Return the number of hosts in use by leases over time: for kept runs, for discarded runs, for overheads.

    A host counts once for each lease that uses it; empty if the algorithm has no leases.
    """
    leases = schedule.leases
    if leases is None:
        return {}
    compute = (1 << schedule.hosts) - 1
    held = [span for span in leases.spans if span.kind in _HOLDING]
    parts = {
        "working_hosts": [span for span in held if span.kind == RUN and not span.lost],
        "losing_hosts": [span for span in held if span.kind == RUN and span.lost],
        "overhead_hosts": [span for span in held if span.kind != RUN],
    }
    return {
        name: stacked((span.start, leases.until(span), (span.hosts.bits & compute).bit_count()) for span in spans)
        for name, spans in parts.items()
    }


def _host_shares(leases: LeaseTables, hosts: int, begin: float, end: float) -> tuple[float | None, float | None]:
    """Return the shares of host seconds in use by kept runs, and by leases with overheads."""
    everything, compute = hosts * (end - begin), (1 << hosts) - 1

    def held(spans: Iterable[LeaseSpan]) -> float:
        times = ((max(span.start, begin), min(leases.until(span), end), span) for span in spans)
        return math.fsum(
            (last - first) * (span.hosts.bits & compute).bit_count() for first, last, span in times if first < last
        )

    runs = [span for span in leases.spans if span.kind == RUN]
    whole = held(span for span in leases.spans if span.kind in _HOLDING)
    useful = held(span for span in runs if not span.lost)
    return useful / everything if everything else None, whole / everything if everything else None
