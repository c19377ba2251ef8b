"""Changes of waiting jobs that external events request: holds, releases and priorities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from msgspec import Struct

from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

CANCEL_JOB: Final = "cancel_job"
HOLD_JOB: Final = "hold_job"
RELEASE_JOB: Final = "release_job"
PRIORITISE_JOB: Final = "prioritise_job"
#: The types of these events but cancellations.
QUEUE_REQUESTS: Final = frozenset({HOLD_JOB, RELEASE_JOB, PRIORITISE_JOB})
#: The largest priority; the smallest one is its negative. Jobs have 0 unless it is changed.
HIGHEST: Final = 10_000
ChangeKind = Literal["hold_job", "release_job", "prioritise_job"]
#: Who requests a change: the owner of the job, or an operator.
Requester = Literal["user", "operator"]


class QueueRequest(Struct, frozen=True):
    """A requested change of a job.

    Attributes:
        kind: hold the job, so that it does not start; release it; or set its priority.
        job_id: the id of the job.
        by: the owner of the job may not end the hold of an operator, nor raise a priority.
        priority: jobs with a greater priority come first; 0 for other kinds of changes.
    """

    kind: ChangeKind
    job_id: str
    by: Requester = "operator"
    priority: int = 0


class IgnoredRequest(Struct, frozen=True):
    """A requested change that has no effect.

    Attributes:
        kind: the type of the event.
        subject: the id of the job, as requested; the number of the experiment with timelines, "" if the run has one.
        why: the rule that the request violates.
    """

    kind: str
    subject: object
    why: str


def read_change(kind: str, members: Mapping[str, Any]) -> QueueRequest:
    """Return the change that an external event of one of the QUEUE_REQUESTS requests. FieldError."""
    job_id, by, priority = members.get("job_id"), members.get("by", "operator"), members.get("priority", 0)
    if not isinstance(job_id, str):
        raise FieldError("job_id", f"must be a text, not {shown(job_id)}")
    if by not in ("user", "operator"):
        raise FieldError("by", f"must be user or operator, not {shown(by)}")
    if kind == PRIORITISE_JOB and "priority" not in members:
        raise FieldError("priority", "is missing")
    if isinstance(priority, bool) or not isinstance(priority, int) or abs(priority) > HIGHEST:
        raise FieldError("priority", f"must be a whole number from {-HIGHEST} to {HIGHEST}, not {shown(priority)}")
    return QueueRequest(cast(ChangeKind, kind), job_id, by, priority if kind == PRIORITISE_JOB else 0)
