"""The explanation of a wait: a reason for each second, the moves of the job's promise, and overtaking jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from batsched_py.model.decision_row import DecisionRow
from batsched_py.reporting.waits.blockers import Blocker, Counterfactual
from batsched_py.reporting.waits.reasons import WAITING, Reason
from batsched_py.results.records import JobRecord


class Interval(NamedTuple):
    """A time [begin, end) of a wait, and the reason for it.

    Attributes:
        begin, end: seconds since the start of the simulation.
        reason: the reason why the job did not start.
        blocked_by: the ids of the jobs that blocked it, in order.
        promise: the promised start of the job; None if it had no promise.
    """

    begin: float
    end: float
    reason: Reason
    blocked_by: tuple[str, ...]
    promise: float | None


class Overtaker(NamedTuple):
    """A job that was submitted later and started earlier.

    Attributes:
        record: the job.
        delayed_from: the first time at which the waiting job could have started without it; None if there is none.
    """

    record: JobRecord
    delayed_from: float | None


class Explanation(Struct, frozen=True):
    """The explanation of a job's wait.

    Attributes:
        record: the job.
        until: the time at which it was started or rejected; the end of the run if it still waited.
        intervals: contiguous intervals from its submission until then; empty if it did not wait.
        rows: the decisions about it, in order of time.
        overtakers: the jobs that overtook it, ordered by start.
        blockers: the jobs that were in the way, those that were longest first.
        counterfactuals: what would have let it start sooner, in order of time.
    """

    record: JobRecord
    until: float
    intervals: tuple[Interval, ...]
    rows: tuple[DecisionRow, ...]
    overtakers: tuple[Overtaker, ...]
    blockers: tuple[Blocker, ...] = ()
    counterfactuals: tuple[Counterfactual, ...] = ()

    @property
    def ran(self) -> bool:
        """True if the job started; False if it was rejected, or waited until the run ended."""
        return not self.record.rejected and self.record.state != WAITING

    @property
    def plain(self) -> Mapping[str, Any]:
        """The explanation as a JSON object; `started` and `hosts` are null for a job that never ran."""
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
            "blockers": [one.plain for one in self.blockers],
            "sooner": [one.plain for one in self.counterfactuals],
        }
