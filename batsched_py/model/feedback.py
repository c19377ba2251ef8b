"""The member `submitted_after` of a job: its submission follows another job of the same user, as in the log.

Source: Zakay and Feitelson, Workload resampling for performance evaluation of parallel job schedulers, 2014: users
submit the next job some time after the end of the one before (think time), or several jobs in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.model.job import Job
from batsched_py.reading.faults import FieldError
from batsched_py.reading.objects import object_of, take
from batsched_py.reading.values import Reader, name_text, one_of, seconds

#: The member of a job.
SUBMITTED_AFTER: Final = "submitted_after"
#: The change of the other job that the submission follows.
Change: TypeAlias = Literal["submission", "end"]
CHANGES: Final[tuple[Change, ...]] = ("submission", "end")


class SubmittedAfter(Struct, frozen=True):
    """The submission of a job after a change of another one.

    Attributes:
        job: name of the other job, in the same workload.
        when: its submission or its end.
        delay: seconds that pass after that.
    """

    job: str
    when: Change = "end"
    delay: float = 0.0


def submitted_after(job: Job) -> SubmittedAfter | None:
    """Return the member of a job; None if it has none. FieldError."""
    return take(job.members, SUBMITTED_AFTER, _READER, None) if SUBMITTED_AFTER in job.members else None


def check_order(job: Job, other: Job | None) -> None:
    """Check the job that a job names: it must be submitted before in the workload, so that there is no cycle.

    FieldError.
    """
    if other is None or (other.submit_time, other.id) >= (job.submit_time, job.id):
        raise FieldError(f"{SUBMITTED_AFTER}.job", "must name a job of the same workload that is submitted before")


def without_outer_feedback(jobs: Sequence[Job]) -> tuple[tuple[Job, ...], int]:
    """Return the jobs, without the member where it names a job that is not among them, and the number of these."""
    if all(SUBMITTED_AFTER not in job.members for job in jobs):
        return tuple(jobs), 0
    names, found, freed = {job.id for job in jobs}, list[Job](), 0
    for job in jobs:
        link = submitted_after(job)
        if link is None or link.job in names:
            found.append(job)
            continue
        freed += 1
        others = {name: value for name, value in job.members.items() if name != SUBMITTED_AFTER}
        found.append(replace(job, members=others))
    return tuple(found), freed


def _typed(when: str) -> Change:
    return next(word for word in CHANGES if word == when)


_READER: Final[Reader[SubmittedAfter]] = object_of(
    SubmittedAfter,
    {"job": name_text(), "when": one_of(CHANGES).then(_typed), "delay": seconds(least=0)},
    required=["job"],
)
