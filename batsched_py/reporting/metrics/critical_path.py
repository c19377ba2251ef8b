"""The critical path of a run: the chain of jobs that depend on each other at whose end the run ends."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Final

from msgspec import Struct

from batsched_py.errors import OptionError
from batsched_py.model.conditions import Conditions, conditions_in, has_conditions
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.attempts import split_later
from batsched_py.results.records import JobRecord

#: The columns of `metrics --critical-path`.
CRITICAL_COLUMNS: Final = ("job_id", "after", "ready", "start", "finish", "waiting_time", "execution_time")
#: Seconds by which times in files may differ from those of the run.
ROUNDING: Final = 2e-6


class CriticalJob(Struct, frozen=True):
    """One job of the path. Times in seconds.

    Attributes:
        job_id: its id.
        after: id of the job before it on the path; "" for the first.
        ready: the instant from which it could have started: its submission, or the end or start of a job on which it
            depended, plus the delay.
        start, finish: of its run.
    """

    job_id: str
    after: str
    ready: float
    start: float
    finish: float

    def cells(self) -> tuple[str, ...]:
        """Return the cells of CRITICAL_COLUMNS."""
        times = (self.ready, self.start, self.finish, self.start - self.ready, self.finish - self.start)
        return self.job_id, self.after, *(f"{time:.6f}" for time in times)


def critical_path(schedule: Schedule) -> list[CriticalJob]:
    """Return the path, from its first job to the one that ends last (the first of these by id).

    The job before another one is that of its dependencies which was fulfilled last. The times of a path add up to the
    time from its first submission to the end of the run: what shortens none of its waits and runs does not shorten the
    run. OptionError if no job depends on another one.
    """
    ran = {record.job.id: record for record in schedule.jobs if record.hosts}
    if not any(has_conditions(record.job) and conditions_in(record.job.members).depends_on for record in ran.values()):
        rule = "no job depends on another one; members of jobs are in workloads, -w"
        raise OptionError(f"--critical-path: {schedule.name}: {rule}")
    ended_by = _last_attempts(schedule, ran)
    found = list[CriticalJob]()
    last: JobRecord | None = min(ran.values(), key=lambda record: (-record.finish, record.job.id))
    seen = set[str]()  # files may have jobs that start and end together and depend on each other
    while last is not None and last.job.id not in seen:
        seen.add(last.job.id)
        before, ready = _latest(last, ended_by)
        ready = max(last.job.submit_time, ready)
        after = "" if before is None or ready == last.job.submit_time else before.job.id
        found.append(CriticalJob(last.job.id, after, ready, last.start, last.finish))
        last = before if after else None
    return found[::-1]


def _last_attempts(schedule: Schedule, ran: Mapping[str, JobRecord]) -> Mapping[str, JobRecord]:
    """Return the jobs by id; under the id of a job that failed with its hosts, the last attempt of it."""
    last = dict(ran)
    for job in schedule.attempts.jobs.values():
        again = takewhile(lambda one: _is_repeated(one.job_id), job.attempts[1:])
        for one in again:
            last[job.first.job_id] = ran.get(one.job_id, last[job.first.job_id])
    return last


def _is_repeated(job_id: str) -> bool:
    name = split_later(job_id)
    return name is not None and name.sign == "~"


def _latest(record: JobRecord, ran: Mapping[str, JobRecord]) -> tuple[JobRecord | None, float]:
    """Return the job on which a job depended longest, and the instant at which that was fulfilled."""
    conditions = conditions_in(record.job.members) if has_conditions(record.job) else Conditions()
    found: tuple[JobRecord | None, float] = None, 0.0
    for dependency in conditions.depends_on:
        other = ran.get(dependency.id(record.job.workload))
        if other is None:
            continue
        instant = (other.start if dependency.when == "start" else other.finish) + dependency.delay
        obeyed = instant <= record.start + ROUNDING
        if obeyed and (found[0] is None or instant > found[1]):
            found = other, instant
    return found
