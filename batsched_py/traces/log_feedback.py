"""Submissions that follow earlier jobs of the same user, found in a log with its waits."""

from __future__ import annotations

from collections.abc import Sequence
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
    records = {record.number: record for record in log.records}
    width = len(str(max((job.number for job in jobs), default=0)))
    #: User -> the latest job; user -> time of the last end among the jobs before, and that job.
    latest, ended = dict[Any, DelayJob](), dict[Any, tuple[float, DelayJob]]()
    open_jobs: dict[Any, list[tuple[float, DelayJob]]] = {}
    found, linked = list[DelayJob](), 0
    for job in jobs:
        record, user = records[job.number], job.members.get("user")
        if user is None:
            found.append(job)
            continue
        going_on = open_jobs.setdefault(user, [])
        over = [one for one in going_on if one[0] <= job.submit]
        going_on[:] = [one for one in going_on if one[0] > job.submit]
        if over:
            ended[user] = max([*over, *filter(None, [ended.get(user)])], key=lambda one: one[0])
        before = latest.get(user)
        link: tuple[DelayJob, Change, float] | None = None
        if before is not None and any(one is before for _, one in going_on):
            link = before, "submission", job.submit - before.submit
        elif user in ended:
            end, last = ended[user]
            link = last, "end", job.submit - end
        if link is not None and link[2] <= SESSION:
            other, when, delay = link
            name = other.name or f"{other.number:0{width}d}"
            member = {"job": name, "when": when, "delay": delay}
            found.append(job._replace(members={**job.members, SUBMITTED_AFTER: member}))
            linked += 1
        else:
            found.append(job)
        latest[user] = job
        if record.wait >= 0:
            going_on.append((job.submit + record.wait + max(record.run, 0), job))
    return found, linked
