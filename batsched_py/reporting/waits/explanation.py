"""The explanation of a wait: a reason for each second of it, the moves of the job's promise, and who overtook it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from batsched_py.model.decision_row import DecisionRow
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.unlisted import WAITING
from batsched_py.reporting.waits.walk import Interval, Walk
from batsched_py.results.records import JobRecord


class Overtaker(NamedTuple):
    """A job that was submitted later and started earlier.

    Attributes:
        record: the job.
        delayed_from: since when the job that waited could have started without it; None if at no time.
    """

    record: JobRecord
    delayed_from: float | None


class Explanation(Struct, frozen=True):
    """Why a job waited.

    Attributes:
        record: the job.
        until: when it was started or rejected; the end of the run if it still waited.
        intervals: contiguous, from its submission until then; empty if it did not wait.
        rows: what its algorithm said of it, in order of time.
        overtakers: by start.
    """

    record: JobRecord
    until: float
    intervals: tuple[Interval, ...]
    rows: tuple[DecisionRow, ...]
    overtakers: tuple[Overtaker, ...]

    @property
    def ran(self) -> bool:
        """False if the job was rejected, or waited until the run ended."""
        return not self.record.rejected and self.record.state != WAITING

    @property
    def plain(self) -> Mapping[str, Any]:
        """The explanation as JSON has it: `started` and `hosts` are null for a job that never ran."""
        record, ran = self.record, self.ran
        return {
            "job": record.job.id,
            "submitted": record.job.submit_time,
            "started": record.start if ran else None,
            "hosts": str(record.hosts) if ran else None,
            "intervals": [
                {
                    "from": one.begin,
                    "to": one.end,
                    "reason": str(one.reason),
                    "blocked_by": list(one.blocked_by),
                    "promise": one.promise,
                }
                for one in self.intervals
            ],
            "overtaken_by": [one.record.job.id for one in self.overtakers],
        }


def explain(history: RunHistory, record: JobRecord) -> Explanation:
    """Return why a job of the schedule waited."""
    job = history.waiter(record)
    walk = Walk(history, job)
    intervals = walk.intervals() if job.until > job.since else []
    later = [
        other
        for other in history.running(job.since, job.until)
        if other.job.submit_time > job.since and other.job.id != job.id
    ]
    return Explanation(
        record=record,
        until=job.until,
        intervals=tuple(intervals),
        rows=tuple(row for row in history.own_rows(job.id) if row.time <= job.until),
        overtakers=tuple(Overtaker(other, walk.delays.get(other.job.id)) for other in later),
    )
