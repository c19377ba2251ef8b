"""Fingerprints of the jobs of runs, to detect runs with different jobs, whose metrics cannot be compared."""

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
        ran: equal for two runs if the same jobs ran, by id, regardless of their final states.
        succeeded: equal for two runs if the same jobs succeeded.
    """

    ran: str
    succeeded: str


def marks_of(records: Sequence[JobRecord], firsts: Mapping[str, str] = MappingProxyType({})) -> JobMarks:
    """Return the fingerprints of a run from the records of its jobs, in any order.

    Later attempts count as the same job; `firsts` maps their ids to the first one, as in `Attempts`.
    """
    ran = [record for record in records if not record.rejected]
    return JobMarks(_fingerprint(ran, firsts), _fingerprint((record for record in ran if record.success), firsts))


def other_jobs(left: JobMarks, right: JobMarks) -> Literal["", "ran", "succeeded"]:
    """Return the difference between two runs: "ran" or "succeeded" if different jobs did so, else ""."""
    if left.ran != right.ran:
        return "ran"
    return "succeeded" if left.succeeded != right.succeeded else ""


def _fingerprint(records: Iterable[JobRecord], firsts: Mapping[str, str]) -> str:
    job_ids = {firsts.get(record.job.id, record.job.id) for record in records}
    return sha256("\n".join(sorted(job_ids)).encode()).hexdigest()
