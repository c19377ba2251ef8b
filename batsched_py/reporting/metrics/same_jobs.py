"""Fingerprints of the jobs of runs: metrics of different jobs cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Literal

from msgspec import Struct

from batsched_py.simulator.records import JobRecord


class JobMarks(Struct, frozen=True):
    """Fingerprints of the jobs of a run.

    Attributes:
        ran: the same for two runs if the same jobs ran, by id, whatever became of them.
        succeeded: the same for two runs if the same jobs succeeded.
    """

    ran: str
    succeeded: str


def marks_of(records: Sequence[JobRecord]) -> JobMarks:
    """Return the fingerprints of a run, whose jobs may stand in any order."""
    ran = [record for record in records if not record.rejected]
    return JobMarks(_fingerprint(ran), _fingerprint(record for record in ran if record.success))


def other_jobs(mine: JobMarks, theirs: JobMarks) -> Literal["", "ran", "succeeded"]:
    """Return "ran" if other jobs ran, else "succeeded" if other jobs succeeded, else ""."""
    if mine.ran != theirs.ran:
        return "ran"
    return "succeeded" if mine.succeeded != theirs.succeeded else ""


def _fingerprint(records: Iterable[JobRecord]) -> str:
    return sha256("\n".join(sorted(record.job.id for record in records)).encode()).hexdigest()
