"""The waiting of jobs by reason: of one job, of some, and of a whole run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct

from batsched_py.reporting.waits.reasons import Reason
from batsched_py.reporting.waits.waiter import Waiter

#: Microseconds in a second: times are added as whole microseconds, Batsim's resolution, so that sums are exact.
MICROSECONDS: Final = 1_000_000


class JobCauses(NamedTuple):
    """A job that waited, and the microseconds of its wait by reason; their sum is the wait."""

    waiter: Waiter
    causes: Mapping[Reason, int]


class WaitingTime(Struct, frozen=True):
    """Waiting for one reason, or for all together.

    Attributes:
        jobs: number of jobs that waited.
        time: microseconds, summed over the jobs.
        host_time: microseconds times the hosts that each job requested, summed over the jobs.
    """

    jobs: int = 0
    time: int = 0
    host_time: int = 0

    @property
    def seconds(self) -> float:
        """The time in seconds."""
        return self.time / MICROSECONDS

    @property
    def host_seconds(self) -> float:
        """The host time in seconds."""
        return self.host_time / MICROSECONDS


class WaitingByReason(Struct, frozen=True):
    """The waiting of some jobs.

    Attributes:
        name: name of the group; "" for all jobs of the run.
        jobs: number of its jobs, also of those that did not wait.
        total: their waiting for all reasons.
        by_reason: reason -> the waiting, for the reasons that occur, in the order of Reason; it sums to the total.
    """

    name: str
    jobs: int
    total: WaitingTime
    by_reason: Mapping[Reason, WaitingTime]

    @property
    def plain(self) -> Mapping[str, Any]:
        """The waiting as a JSON object."""
        return {
            "jobs": self.jobs,
            "waited": self.total.jobs,
            "seconds": self.total.seconds,
            "host_seconds": self.total.host_seconds,
            "reasons": [
                {
                    "reason": str(reason),
                    "jobs": one.jobs,
                    "seconds": one.seconds,
                    "host_seconds": one.host_seconds,
                    "share": one.time / self.total.time,
                    "host_share": one.host_time / self.total.host_time if self.total.host_time else None,
                }
                for reason, one in self.by_reason.items()
            ],
        }


class StatedReason(Struct, frozen=True):
    """A reason in the algorithm's words, of which numbers are those of the first job; and the waiting for it."""

    words: str
    waiting: WaitingTime


class RunExplanation(Struct, frozen=True):
    """The waiting of all jobs of a run.

    Attributes:
        overall: the waiting of all jobs.
        groups: what jobs are grouped by -> groups; sizes in ascending order, others by decreasing waiting.
        stated: the algorithm's reasons, by decreasing waiting, of all jobs of the run.
        decided: True if the decisions of the algorithm are known.
        jobs: the jobs that waited, with their microseconds by reason.
    """

    overall: WaitingByReason
    groups: Mapping[str, Sequence[WaitingByReason]]
    stated: Sequence[StatedReason]
    decided: bool
    jobs: Sequence[JobCauses]

    @property
    def plain(self) -> Mapping[str, Any]:
        """The explanation as a JSON object."""
        return {
            **self.overall.plain,
            "decisions": self.decided,
            "stated_reasons": [
                {
                    "words": one.words,
                    "seconds": one.waiting.seconds,
                    "host_seconds": one.waiting.host_seconds,
                }
                for one in self.stated
            ],
            "groups": {
                by: [{"group": group.name, **group.plain} for group in groups] for by, groups in self.groups.items()
            },
        }
