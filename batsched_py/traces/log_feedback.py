"""Submissions that follow earlier jobs of the same user, found in a log with its waits."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, Final

from batsched_py.model.feedback import SUBMITTED_AFTER, Change
from batsched_py.traces.delay_workload import DelayJob
from batsched_py.traces.swf_log import SwfLog

#: Longest think time in seconds within a session of a user, as in the publication that `model.feedback` names.
SESSION: Final = 1200.0


def with_feedback(log: SwfLog, jobs: Sequence[DelayJob]) -> tuple[list[DelayJob], int]:
    """Return jobs of a log, those submitted within a session after the end or the submission of an earlier one.

    A job follows the end of its user's job that ended last before it was submitted; if the user's latest job had not
    ended, it follows the submission of that one. After a longer pause it begins a session, and keeps its time. The
    second value is the number of jobs that follow another one.
    """
    records = {record.number: record for record in (*log.records, *log.cancelled)}
    width = len(str(max((job.number for job in jobs), default=0)))
    users = dict[Any, _User]()
    found, linked = list[DelayJob](), 0
    for job in jobs:
        name = job.members.get("user")
        if name is None:
            found.append(job)
            continue
        user, record = users.setdefault(name, _User()), records[job.number]
        link = user.link(job)
        if link is None or link[2] > SESSION:
            found.append(job)
        else:
            other, when, delay = link
            member = {"job": other.name or f"{other.number:0{width}d}", "when": when, "delay": delay}
            found.append(job._replace(members={**job.members, SUBMITTED_AFTER: member}))
            linked += 1
        user.add(job, job.submit + record.wait + max(record.run, 0) if record.wait >= 0 else None)
    return found, linked


class _User:
    """The jobs of one user so far, in the order of submission."""

    def __init__(self) -> None:
        #: The ends of jobs that had not ended at the latest submission, as a heap; the last end before it.
        self._going_on: list[tuple[float, DelayJob]] = []
        self._ended: tuple[float, DelayJob] | None = None
        #: The latest job, and its end; None if unknown.
        self._latest: tuple[DelayJob, float | None] | None = None

    def link(self, job: DelayJob) -> tuple[DelayJob, Change, float] | None:
        """Return the job that a new job follows, the change of it, and the time between; None without one."""
        while self._going_on and self._going_on[0][0] <= job.submit:
            self._ended = heappop(self._going_on)
        latest, end = self._latest or (None, None)
        if latest is not None and end is not None and end > job.submit:
            return latest, "submission", job.submit - latest.submit
        return None if self._ended is None else (self._ended[1], "end", job.submit - self._ended[0])

    def add(self, job: DelayJob, end: float | None) -> None:
        """Add a job with its end in the log; None if unknown."""
        self._latest = job, end
        if end is not None:
            heappush(self._going_on, (end, job))
