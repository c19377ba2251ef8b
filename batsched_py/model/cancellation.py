"""The member `cancelled_after` of a job: its user cancels it that many seconds after its submission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from batsched_py.model.job import Job
from batsched_py.reading.objects import take
from batsched_py.reading.values import seconds

#: The member of a job.
CANCELLED_AFTER: Final = "cancelled_after"


def cancelled_after(members: Mapping[str, Any]) -> float | None:
    """Return the seconds from the submission of a job to its cancellation; None for none. FieldError."""
    return take(members, CANCELLED_AFTER, _READER, None) if CANCELLED_AFTER in members else None


def still_cancelled(job: Job, members: Mapping[str, Any], now: float) -> Mapping[str, Any]:
    """Return the members of another attempt of a job that is submitted now: it is cancelled at the same instant."""
    after = cancelled_after(job.members)
    if after is None:
        return members
    return {**members, CANCELLED_AFTER: max(0.0, round(job.submit_time + after - now, 6))}


_READER: Final = seconds(least=0)
