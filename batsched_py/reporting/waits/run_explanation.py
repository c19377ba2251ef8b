"""The explanation of a whole run: the waiting of all jobs by reason, and that of groups of jobs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from batsched_py.errors import InputError
from batsched_py.reporting.metrics.breakdown import SIZE, size_class, size_order
from batsched_py.reporting.schedules.members import USER, group_name, group_value
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.reasons import Reason
from batsched_py.reporting.waits.run_sweep import RunSweep
from batsched_py.reporting.waits.waiter import Waiter
from batsched_py.reporting.waits.waiting_by_reason import (
    JobCauses,
    RunExplanation,
    StatedReason,
    WaitingByReason,
    WaitingTime,
)
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import unknown

#: Reasons that follow from the schedule and the hosts that are down, whatever the algorithm decided.
LACKING_HOSTS: Final = (Reason.HOSTS_BUSY, Reason.HOSTS_UNAVAILABLE)


def explain_run(
    history: RunHistory, by: Iterable[str] = (), *, submitted: tuple[float, float] = (-math.inf, math.inf)
) -> RunExplanation:
    """Return the waiting of all jobs of a run by reason, in one pass over it.

    A job waits from its submission to its start, to its rejection, or to the end of the run. Times are rounded to
    microseconds, and the sums are exact. Jobs are grouped by `by`: SIZE or members of jobs. Only jobs `submitted` from
    the first time on, and before the second, are counted. InputError if no job has the member.
    """
    begin, end = submitted
    sweep = RunSweep(history)
    jobs = [one for one in sweep.causes() if begin <= one.waiter.since < end]
    all_waiters = [one for one in history.waiters() if begin <= one.since < end]
    groups = {name: _grouped(history, name, all_waiters, jobs) for name in by}
    stated = [
        StatedReason(one.text, WaitingTime(0, one.time, one.host_time)) for one in sweep.words.values() if one.time
    ]
    stated.sort(key=lambda one: (-one.waiting.time, one.words))
    decided = bool(history.decisions.of_jobs)
    return RunExplanation(_summed("", len(all_waiters), jobs), groups, stated, decided, jobs)


def default_groups(history: RunHistory) -> tuple[str, ...]:
    """Return the groupings to show if the user names none: by size, and by user if users are known."""
    users = any(group_value(record.job.members, USER) is not None for record in history.records.values())
    return (SIZE, USER) if users else (SIZE,)


def _grouped(
    history: RunHistory, by: str, all_waiters: Sequence[Waiter], jobs: Sequence[JobCauses]
) -> list[WaitingByReason]:
    """Return the waiting of groups. InputError."""
    name_of = _size_name if by == SIZE else _member_name(history, by)
    counts: dict[str, int] = {}
    for waiter in all_waiters:
        name = name_of(waiter)
        counts[name] = counts.get(name, 0) + 1
    found: dict[str, list[JobCauses]] = {name: [] for name in counts}
    for job in jobs:
        found[name_of(job.waiter)].append(job)
    groups = [_summed(name, counts[name], some) for name, some in found.items()]
    if by == SIZE:
        return sorted(groups, key=lambda group: size_order(group.name))
    return sorted(groups, key=lambda group: (-group.total.time, group.name))


def _size_name(waiter: Waiter) -> str:
    return size_class(waiter.record.job.size)


def _member_name(history: RunHistory, member: str) -> Callable[[Waiter], str]:
    members = [record.job.members for record in history.records.values()]
    if all(group_value(each, member) is None for each in members):
        known = sorted({name for each in members for name, value in each.items() if value is not None})
        rule = unknown(member, [SIZE, *map(displayed, known)])
        raise InputError(history.schedule.source, "", f"has no job with a member {shown(member)}: {rule}")
    return lambda waiter: group_name(waiter.record.job.members, member)


def _summed(name: str, count: int, jobs: Sequence[JobCauses]) -> WaitingByReason:
    found: dict[Reason, list[int]] = {}
    total = [0, 0, 0]
    for job in jobs:
        size = job.waiter.record.job.size
        for reason, time in job.causes.items():
            sums = found.setdefault(reason, [0, 0, 0])
            for one in (sums, total):
                one[1] += time
                one[2] += time * size
            sums[0] += 1
    total[0] = len(jobs)
    return WaitingByReason(
        name, count, WaitingTime(*total), {reason: WaitingTime(*found[reason]) for reason in Reason if reason in found}
    )
