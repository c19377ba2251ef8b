"""Rounding: members of jobs and profiles as Batsim writes them, with six decimals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from batsched_py.model.job import Job

#: Types that JSON and Batsim write identically.
_UNCHANGED: Final = frozenset({int, str})


def wire_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members with floats rounded to Batsim's six decimals; integers remain integers."""
    return {key: value if type(value) in _UNCHANGED else _wire(value) for key, value in members.items()}


def wire_job(job: Job, job_id: str) -> Job:
    """Return the job with its id in messages and its members as Batsim sends them; its own times remain exact."""
    members = {**job.members, "id": job_id}
    if not _UNCHANGED.issuperset(map(type, members.values())):
        members = wire_members(members)
    return Job(job_id, job.submit_time, job.size, job.walltime, job.profile, members, job.demand)


def _wire(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return wire_members(value)
    if isinstance(value, (list, tuple)):
        return [_wire(item) for item in value]
    return value
