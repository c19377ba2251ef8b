"""Cohorts: waiting jobs that have the same reason at each moment, whose time is counted once for all of them."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from typing import NamedTuple

from batsched_py.reporting.waits.reasons import Reason
from batsched_py.reporting.waits.waiter import Waiter
from batsched_py.reporting.waits.waiting_by_reason import MICROSECONDS


def microseconds(time: float) -> int:
    """Return a time in seconds as whole microseconds."""
    return round(time * MICROSECONDS)


class CohortKey(NamedTuple):
    """The properties that jobs of a cohort share.

    Attributes:
        size: number of hosts requested.
        kind: reason of the hold by the algorithm that matters: a HoldKind other than `hosts`, or "".
        words: the algorithm's words without numbers for a hold of kind `own`, otherwise "".
        promised: True if the jobs have promised starts.
    """

    size: int
    kind: str
    words: str
    promised: bool


class WaitingJob:
    """A job that waits, and the microseconds of its wait by reason, up to the last time at which it changed cohorts."""

    __slots__ = ("causes", "cohort", "entered", "id", "limit", "order", "size", "waiter")

    def __init__(self, waiter: Waiter) -> None:
        job = waiter.record.job
        self.waiter, self.id, self.size, self.limit = waiter, job.id, job.size, job.limit
        #: Its place among jobs by submission; of equal ones, the one that waited for less time is first.
        self.order = (waiter.since, waiter.until, job.id)
        self.causes: dict[Reason, int] = {}
        self.cohort: Cohort | None = None
        #: Reason -> microseconds of the cohort when the job entered it.
        self.entered: Mapping[Reason, int] = {}

    def add(self, reason: Reason, time: int) -> None:
        """Add a time in microseconds, which may be negative, to the time with a reason."""
        self.causes[reason] = self.causes.get(reason, 0) + time


class Cohort:
    """Jobs with one reason at a time; `state` has applied since `since`, and `causes` is the time before that.

    Attributes:
        members: job id -> the job.
        limits: walltime and id of each member, in ascending order.
    """

    __slots__ = ("causes", "key", "limits", "members", "since", "state")

    def __init__(self, key: CohortKey, state: Reason | None, now: int) -> None:
        self.key, self.state, self.since = key, state, now
        self.causes: dict[Reason, int] = {}
        self.members: dict[str, WaitingJob] = {}
        self.limits: list[tuple[float, str]] = []

    def enter(self, state: Reason, now: int) -> None:
        """Change the reason; time since the last change is added to the earlier one."""
        if state is not self.state:
            self.settle(now)
            self.state = state

    def settle(self, now: int) -> None:
        """Add the time since the last change to the current reason."""
        if self.state is not None and now > self.since:
            self.causes[self.state] = self.causes.get(self.state, 0) + now - self.since
        self.since = now

    def join(self, job: WaitingJob, now: int) -> None:
        """Add a job, to which the time from now on is added."""
        self.settle(now)
        job.cohort, job.entered = self, dict(self.causes)
        self.members[job.id] = job
        insort(self.limits, (job.limit, job.id))

    def leave(self, job: WaitingJob, now: int) -> None:
        """Remove a job, after adding its time in the cohort to it."""
        self.settle(now)
        for reason, time in self.causes.items():
            since = time - job.entered.get(reason, 0)
            if since:
                job.add(reason, since)
        job.cohort = None
        del self.members[job.id]
        del self.limits[bisect_left(self.limits, (job.limit, job.id))]
