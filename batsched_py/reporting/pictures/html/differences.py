"""Comparison of a run with the first one, job by job: earlier or later starts, and other hosts."""

from __future__ import annotations

import math
from collections import Counter
from enum import StrEnum
from typing import Final

from msgspec import Struct

from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.records import JobRecord

#: The tolerance for equal starts in seconds: files have six digits, and Batsim adds small delays.
TOLERANCE: Final = 0.001
#: The numbers of listed jobs with the largest gains, and with the largest losses.
MOST_MOVED: Final = 5


class JobChange(StrEnum):
    """The change of a job from the first run to another."""

    SAME = "as in the first run"
    EARLIER = "starts earlier"
    LATER = "starts later"
    OTHER_HOSTS = "same start, other hosts"
    ONLY_HERE = "runs only here"
    ONLY_THERE = "runs only in the first run"


class MovedJob(Struct, frozen=True):
    """A job that starts at another time, `start`: `seconds` later, negative if earlier."""

    job: str
    seconds: float
    start: float


class RunComparison(Struct, frozen=True):
    """The differences of a run from the first one.

    Attributes:
        name: the name of the run.
        counts: change -> number of jobs.
        earlier: the sum of all advances of starts, in seconds.
        later: the sum of all delays of starts, in seconds.
        gained: the jobs with the largest advances, in decreasing order.
        lost: the jobs with the largest delays, in decreasing order.
        strangers: the number of ids that denote a different job in the first run, with another submission or size.
        shared: the number of jobs in both runs, whether they ran or not.
    """

    name: str
    counts: Counter[JobChange]
    earlier: float
    later: float
    gained: tuple[MovedJob, ...]
    lost: tuple[MovedJob, ...]
    strangers: int
    shared: int

    @property
    def comparable(self) -> bool:
        """Return False if most common ids denote different jobs, because the workloads differ."""
        return self.strangers <= self.shared


def compare_runs(first: Schedule, other: Schedule) -> RunComparison:
    """Compare the jobs that ran, by id; an id with another submission or size is a different job.

    Only first attempts are compared: later attempts with the same name may be unrelated.
    """
    later = first.attempts.firsts.keys() | other.attempts.firsts.keys()
    there = {record.job.id: record for record in first.ran if record.job.id not in later}
    hosts_known = first.hosts_known and other.hosts_known
    others = strangers(first, other) - later
    both = ({record.job.id for record in first.jobs} & {record.job.id for record in other.jobs}) - later
    counts: Counter[JobChange] = Counter()
    moves: list[MovedJob] = []
    for record in other.ran:
        if record.job.id in later:
            continue
        before = None if record.job.id in others else there.pop(record.job.id, None)
        change = JobChange.ONLY_HERE if before is None else _change(before, record, hosts_known=hosts_known)
        counts[change] += 1
        if before is not None and change in (JobChange.EARLIER, JobChange.LATER):
            moves.append(MovedJob(record.job.id, record.start - before.start, record.start))
    counts[JobChange.ONLY_THERE] += len(there)
    moves.sort(key=lambda move: move.seconds)
    return RunComparison(
        other.name,
        counts,
        -math.fsum(move.seconds for move in moves if move.seconds < 0),
        math.fsum(move.seconds for move in moves if move.seconds > 0),
        tuple(move for move in moves[:MOST_MOVED] if move.seconds < 0),
        tuple(move for move in moves[: -MOST_MOVED - 1 : -1] if move.seconds > 0),
        len(others),
        len(both) - len(others),
    )


def _change(before: JobRecord, after: JobRecord, *, hosts_known: bool) -> JobChange:
    late = after.start - before.start
    if abs(late) > TOLERANCE:
        return JobChange.EARLIER if late < 0 else JobChange.LATER
    return JobChange.OTHER_HOSTS if hosts_known and before.hosts != after.hosts else JobChange.SAME


def strangers(first: Schedule, other: Schedule) -> frozenset[str]:
    """Return the ids that denote different jobs in the first run, with another submission or size."""
    there = {record.job.id: record.job for record in first.jobs}
    return frozenset(
        job.id
        for job in (record.job for record in other.jobs)
        if (known := there.get(job.id)) is not None
        and (job.size != known.size or abs(job.submit_time - known.submit_time) > TOLERANCE)
    )
