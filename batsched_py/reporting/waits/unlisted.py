"""Jobs that have no row in the jobs file, from the decisions of the run.

They ran or waited at the end of the run, or were rejected: Batsim 1.4 omits rejected jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.hostset import HostSet
from batsched_py.model.decision_row import DecisionRow
from batsched_py.model.job import Job
from batsched_py.protocol.events import REJECTED
from batsched_py.reporting.schedules.decisions_table import DecisionTable
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.waits.reasons import RUNNING, WAITING
from batsched_py.results.records import JobRecord

_NO_MEMBERS: Final[Mapping[str, Any]] = MappingProxyType({})


def unlisted_jobs(schedule: Schedule, decisions: DecisionTable) -> list[JobRecord]:
    """Return the jobs without a row that had not ended at the end of the run, or were rejected.

    Jobs that waited until the end of the run have this as their start.
    """
    listed = {record.job.id for record in schedule.jobs}
    found = []
    for rows in decisions.of_jobs.values():
        row = rows[-1]
        if row.submitted is not None and row.size is not None and row.job not in listed:
            found.append(_record(row, Job(row.job, row.submitted, row.size, row.walltime, "", _NO_MEMBERS)))
    return found


def with_running(schedule: Schedule, decisions: DecisionTable | None) -> Schedule:
    """Return the schedule with the jobs that were still running at its end, which end there, for a picture of it."""
    if decisions is None:
        return schedule
    running = [record for record in unlisted_jobs(schedule, decisions) if record.state == RUNNING]
    return replace(schedule, jobs=(*schedule.jobs, *running)) if running else schedule


def _record(row: DecisionRow, job: Job) -> JobRecord:
    if row.kind == "rejected":
        return JobRecord(job, REJECTED, -1, 0.0, 0.0, HostSet())
    state, start = (WAITING, row.time) if row.start is None else (RUNNING, row.start)
    return JobRecord(job, state, -1, start, row.time, row.hosts)
