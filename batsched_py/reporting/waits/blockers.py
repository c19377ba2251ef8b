"""The jobs in the way of a wait, and what would have let the job start sooner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from batsched_py.reporting.waits.reasons import Reason
from batsched_py.results.records import JobRecord


class Blocker(NamedTuple):
    """A job that was in the way of another.

    Attributes:
        record: the job.
        seconds: how long it was in the way.
        reason: the reason for most of that time.
        promise: the last start that it was promised while its promise was in the way; None if it never was.
    """

    record: JobRecord
    seconds: float
    reason: Reason
    promise: float | None

    @property
    def plain(self) -> Mapping[str, Any]:
        """The job as a JSON object."""
        return {
            "job": self.record.job.id,
            "size": self.record.job.size,
            "seconds": self.seconds,
            "reason": str(self.reason),
            "promise": self.promise,
        }


class Counterfactual(NamedTuple):
    """A change with which enough hosts would have been free for a job at a time, or nothing in its way.

    Attributes:
        at: seconds since the start of the simulation.
        reason: the reason why the job did not start then.
        hosts: the number of hosts that were missing; 0 if enough were free.
        walltime: the longest walltime with which it would have delayed no promise; None if that was not the reason.
        jobs: ids of the jobs in the way, if enough hosts had been free.
    """

    at: float
    reason: Reason
    hosts: int
    walltime: float | None
    jobs: tuple[str, ...]

    @property
    def plain(self) -> Mapping[str, Any]:
        """The change as a JSON object."""
        return {
            "at": self.at,
            "reason": str(self.reason),
            "hosts": self.hosts,
            "walltime": self.walltime,
            "blocked_by": list(self.jobs),
        }


class BlockerTimes:
    """The seconds for which jobs were in the way, by reason."""

    def __init__(self) -> None:
        #: Job id -> reason -> seconds.
        self._seconds: dict[str, dict[Reason, float]] = {}
        #: Job id -> the last promise that was in the way.
        self._promises: dict[str, float] = {}

    def add(self, jobs: Iterable[str], reason: Reason, seconds: float, promises: Mapping[str, float]) -> None:
        """Note jobs in the way during a step, and the promised starts of those whose promises were."""
        for job in jobs:
            found = self._seconds.setdefault(job, {})
            found[reason] = found.get(reason, 0.0) + seconds
        self._promises.update(promises)

    def ordered(self, records: Mapping[str, JobRecord]) -> tuple[Blocker, ...]:
        """Return the jobs, those that were in the way longest first, ties in the order of their appearance.

        Jobs without a record, such as conditions on jobs that were never submitted, are omitted.
        """
        found = [
            Blocker(
                records[job],
                sum(seconds.values()),
                max(seconds, key=seconds.__getitem__),
                self._promises.get(job),
            )
            for job, seconds in self._seconds.items()
            if job in records
        ]
        return tuple(sorted(found, key=lambda one: -one.seconds))
