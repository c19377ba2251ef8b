"""Ids of the user's jobs that an algorithm might also give to a job that it submits.

Batsim refuses a job with the id of another one, also of one that arrives later. Real Batsim names no job before it
arrives. Our simulator lists such ids in SIMULATION_BEGINS, if there are any.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

#: The member of a SIMULATION_BEGINS.
LATER_IDS: Final = "ids_of_later_jobs"
#: Beginnings of the names of workloads that our algorithms create.
_WORKLOADS: Final = ("segments", "timelines")
#: Characters in names of jobs that our algorithms create.
_SIGNS: Final = "#:"


def listed_ids(job_ids: Iterable[str]) -> list[str]:
    """Return the ids that an algorithm might also give to a job, sorted."""
    return sorted(job_id for job_id in job_ids if _is_listed(job_id))


def _is_listed(job_id: str) -> bool:
    workload, _, name = job_id.partition("!")
    return workload.startswith(_WORKLOADS) or any(sign in name for sign in _SIGNS)


def read_later_ids(value: Any) -> frozenset[str]:
    """Return the ids in the member of a SIMULATION_BEGINS; none without the member. FieldError."""
    if value is None:
        return frozenset()
    if type(value) is not list or not all(type(one) is str for one in value):
        raise FieldError(LATER_IDS, f"must be a list of texts, not {shown(value)}")
    return frozenset(value)
