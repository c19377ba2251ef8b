"""Whether figures of two runs are of the same jobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Literal

from msgspec import Struct

from batsched_py.simulator.records import JobRecord


class JobMarks(Struct, frozen=True):
    """What tells the jobs of two runs apart, in a few bytes.

    Attributes:
        ran: the same for two runs if the same jobs ran, by id, whatever became of them.
        succeeded: the same for two runs if the same jobs succeeded.
    """

    ran: str
    succeeded: str


def marks_of(records: Sequence[JobRecord]) -> JobMarks:
    """Of the jobs of a run, in whatever order they ended."""
    ran = [record for record in records if not record.rejected]
    return JobMarks(_fingerprint(ran), _fingerprint(record for record in ran if record.success))


def other_jobs(mine: JobMarks, theirs: JobMarks) -> Literal["", "ran", "succeeded"]:
    """What other jobs did: "ran"; else "succeeded", if the same ran; else ""."""
    if mine.ran != theirs.ran:
        return "ran"
    return "succeeded" if mine.succeeded != theirs.succeeded else ""


def _fingerprint(records: Iterable[JobRecord]) -> str:
    return sha256("\n".join(sorted(record.job.id for record in records)).encode()).hexdigest()
