"""Fingerprints of the jobs of runs: metrics of different jobs cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from batsched_py.results.records import JobRecord


class JobMarks(Struct, frozen=True):
    """Fingerprints of the jobs of a run.

    Attributes:
        ran: the same for two runs if the same jobs ran, by id, whatever became of them.
        succeeded: the same for two runs if the same jobs succeeded.
    """

    ran: str
    succeeded: str


def marks_of(records: Sequence[JobRecord], firsts: Mapping[str, str] = MappingProxyType({})) -> JobMarks:
    """Return the fingerprints of a run, whose jobs may stand in any order.

    Later attempts of a job count as that; `firsts` are the ids of the first ones, as `Attempts` has them.
    """
    ran = [record for record in records if not record.rejected]
    return JobMarks(_fingerprint(ran, firsts), _fingerprint((record for record in ran if record.success), firsts))


def other_jobs(mine: JobMarks, theirs: JobMarks) -> Literal["", "ran", "succeeded"]:
    """Return "ran" if other jobs ran, else "succeeded" if other jobs succeeded, else ""."""
    if mine.ran != theirs.ran:
        return "ran"
    return "succeeded" if mine.succeeded != theirs.succeeded else ""


def _fingerprint(records: Iterable[JobRecord], firsts: Mapping[str, str]) -> str:
    job_ids = {firsts.get(record.job.id, record.job.id) for record in records}
    return sha256("\n".join(sorted(job_ids)).encode()).hexdigest()
