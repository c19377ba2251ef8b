"""What became of the jobs of the first run in another one: which start earlier, later, or elsewhere."""

from __future__ import annotations

import math
from collections import Counter
from enum import StrEnum
from typing import Final

from msgspec import Struct

from batsched_py.reporting.pictures.html.content import TOLERANCE, strangers
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.simulator.records import JobRecord

#: So many jobs are shown of those that gained most, and of those that lost most.
MOST_MOVED: Final = 5


class Fate(StrEnum):
    """What became of a job, compared with the first run."""

    SAME = "as in the first run"
    EARLIER = "starts earlier"
    LATER = "starts later"
    ELSEWHERE = "same start, other hosts"
    ONLY_HERE = "runs only here"
    ONLY_THERE = "runs only in the first run"


class Move(Struct, frozen=True):
    """A job that starts at another time: by how many seconds later, negative if earlier, and its start."""

    job: str
    seconds: float
    start: float


class Difference(Struct, frozen=True):
    """A run beside the first one.

    Attributes:
        name: of the run.
        counts: fate -> number of jobs.
        earlier: seconds by which starts are earlier, summed over the jobs that start earlier.
        later: likewise of those that start later.
        gained: the jobs that start earlier by most, the most first.
        lost: the jobs that start later by most, the most first.
        strangers: how many ids mean another job than in the first run: of another submission or size.
        shared: how many jobs there are in both, whether they ran or not.
    """

    name: str
    counts: Counter[Fate]
    earlier: float
    later: float
    gained: tuple[Move, ...]
    lost: tuple[Move, ...]
    strangers: int
    shared: int

    @property
    def comparable(self) -> bool:
        """False if most ids that both have mean different jobs: the runs are of different workloads."""
        return self.strangers <= self.shared


def compare(first: Schedule, other: Schedule) -> Difference:
    """Job by job, by id; rejected jobs do not run. What has another submission or size is another job."""
    there = {record.job.id: record for record in first.ran}
    hosts_known = first.hosts_known and other.hosts_known
    others = strangers(first, other)
    both = {record.job.id for record in first.jobs} & {record.job.id for record in other.jobs}
    counts: Counter[Fate] = Counter()
    moves: list[Move] = []
    for record in other.ran:
        before = None if record.job.id in others else there.pop(record.job.id, None)
        fate = Fate.ONLY_HERE if before is None else _fate(before, record, hosts_known=hosts_known)
        counts[fate] += 1
        if before is not None and fate in (Fate.EARLIER, Fate.LATER):
            moves.append(Move(record.job.id, record.start - before.start, record.start))
    counts[Fate.ONLY_THERE] += len(there)
    moves.sort(key=lambda move: move.seconds)
    return Difference(
        other.name,
        counts,
        -math.fsum(move.seconds for move in moves if move.seconds < 0),
        math.fsum(move.seconds for move in moves if move.seconds > 0),
        tuple(move for move in moves[:MOST_MOVED] if move.seconds < 0),
        tuple(move for move in moves[: -MOST_MOVED - 1 : -1] if move.seconds > 0),
        len(others),
        len(both) - len(others),
    )


def _fate(before: JobRecord, after: JobRecord, *, hosts_known: bool) -> Fate:
    late = after.start - before.start
    if abs(late) > TOLERANCE:
        return Fate.EARLIER if late < 0 else Fate.LATER
    return Fate.ELSEWHERE if hosts_known and before.hosts != after.hosts else Fate.SAME
