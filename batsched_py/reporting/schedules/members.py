"""Members of jobs that only the workload has, such as users and deadlines, because a jobs file lacks them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from msgspec.structs import replace

from batsched_py.errors import WorkloadError
from batsched_py.model.job import Job
from batsched_py.model.lease_terms import MEMBER, read_terms
from batsched_py.model.workload import Workload
from batsched_py.reading.faults import FieldError
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.records import JobRecord

#: Members of a job: its user, and the latest time of its end.
USER: Final = "user"
DEADLINE: Final = "deadline"

#: The member of a job with the options of sbatch, and those of its members by which jobs are grouped like by their own.
_SLURM: Final = "slurm"
IN_SLURM: Final = frozenset({"account", "partition", "qos"})
#: The group of jobs that lack the member.
UNKNOWN: Final = "unknown"

#: The largest delay of a reservation that still counts as in time, in seconds: messages in Batsim take time.
PUNCTUAL: Final = 1e-3

_LATER: Final = re.compile(r"\+(\d+(?:\.\d+)?)")
_DEADLINE_RULE: Final = 'must be a number of seconds from 0, or "+" and seconds after the submission'


def with_members(schedule: Schedule, workloads: Sequence[Workload]) -> Schedule:
    """Return the schedule with the members that its jobs have in the workloads.

    The k-th workload is `wk`, from w0 on, as in Batsim. A single workload matches any name: Batsim 1.4 derives names
    from the content of files. Jobs in no workload, such as those registered during the run, stay unchanged; later
    attempts of a job get its members. The start date of the clock is taken from the workloads if the run has none.
    WorkloadError if a workload has none of the schedule's jobs.
    """
    single = len(workloads) == 1
    #: For each record, the id of its first attempt; then its name in the workloads, and name -> members there.
    ids = [schedule.first_id(record.job.id) for record in schedule.jobs]
    names = [job_id.partition("!")[2] if single else job_id for job_id in ids]
    members: dict[str, Mapping[str, Any]] = {}
    for number, workload in enumerate(workloads):
        named = {job.id if single else f"w{number}!{job.id}": job.members for job in workload.jobs}
        if names and named.keys().isdisjoint(names):
            raise WorkloadError(workload.source, "", f"has none of the jobs of {schedule.source}")
        members |= named
    jobs = (
        replace(record, job=replace(record.job, members=members[name])) if name in members else record
        for name, record in zip(names, schedule.jobs, strict=True)
    )
    starts = {workload.log_start for workload in workloads}
    start = schedule.log_start if schedule.log_start is not None or len(starts) > 1 else starts.pop()
    return replace(schedule, jobs=tuple(jobs), log_start=start)


def with_users(records: tuple[JobRecord, ...], users: Mapping[str, str]) -> tuple[JobRecord, ...]:
    """Return the records with the member `user` of those whose id is in `users`."""
    if not users:
        return records
    return tuple(
        replace(one, job=replace(one.job, members={**one.job.members, USER: users[one.job.id]}))
        if one.job.id in users
        else one
        for one in records
    )


def group_value(members: Mapping[str, Any], name: str) -> Any:
    """Return a job's member of this name; account, partition and QOS may also be in its member `slurm`. None if absent.

    What `slurm` has comes first, as the algorithm of this name obeys it.
    """
    inner = members.get(_SLURM) if name in IN_SLURM else None
    found = inner.get(name) if isinstance(inner, Mapping) else None
    return members.get(name) if found is None else found


def group_name(members: Mapping[str, Any], name: str) -> str:
    """Return the name of a job's group by a member: its value as text, UNKNOWN if it is absent or empty."""
    value = group_value(members, name)
    if value is None or value == "":
        return UNKNOWN
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def due_time(job: Job) -> float | None:
    """Return the latest end of a job (its member `deadline`), else its required start (`lease.start`), else None.

    WorkloadError if the deadline is invalid.
    """
    deadline = job.members.get(DEADLINE)
    if deadline is not None:
        return _instant(deadline, job)
    return _reserved_start(job) if MEMBER in job.members else None


def is_met(record: JobRecord) -> bool:
    """Return True if a job has a deadline or a reservation, and met it.

    A job meets a deadline if it succeeds and ends in time, and a reservation if it starts at most PUNCTUAL seconds
    after the required time.
    """
    due = due_time(record.job)
    if due is None:
        return False
    if record.job.members.get(DEADLINE) is not None:
        return record.success and record.finish <= due
    return not record.rejected and record.start <= due + PUNCTUAL


def _reserved_start(job: Job) -> float | None:
    """Return the required start in a job's lease; None if there is none, or if the lease is invalid.

    Algorithms that support leases reject a job with an invalid one; others ignore it.
    """
    try:
        return read_terms(job).start
    except FieldError:
        return None


def _instant(value: Any, job: Job) -> float:
    later = _LATER.fullmatch(value) if isinstance(value, str) else None
    if later is not None:
        return job.submit_time + float(later[1])
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise WorkloadError(f"job {job.id}", DEADLINE, f"{_DEADLINE_RULE}, not {str(value)[:40]!r}")
    return float(value)
