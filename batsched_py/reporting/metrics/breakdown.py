"""Breakdowns: metrics of groups of jobs, by class of sizes or run times, or by a member such as the user."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from batsched_py.errors import InputError
from batsched_py.reporting.formatting import DAY, HOUR, MINUTE
from batsched_py.reporting.metrics.job_metrics import JobMetrics, measure_jobs
from batsched_py.reporting.metrics.statistics import mean, quantile
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND
from batsched_py.reporting.schedules.members import USER, group_name, group_value
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import unknown

#: Groupings of jobs in addition to members of jobs.
SIZE: Final = "size"
RUNTIME: Final = "runtime"
#: The group of jobs that were rejected, which have no run time.
NEVER_RAN: Final = "never ran"
#: Upper bounds of the classes of run times, inclusive; the hour is that of S. Srinivasan et al.
_RUNTIMES: Final = (MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, DAY)
#: Names of the classes, including the one above the last bound.
RUNTIME_CLASSES: Final = (
    "up to 1 min", "1 to 10 min", "10 min to 1 h", "1 to 4 h", "4 to 12 h", "12 h to 1 d", "above 1 d",
)  # fmt: skip


class GroupMetrics(Struct, frozen=True):
    """The metrics of a group of jobs; waits in seconds; statistics are over the jobs that ran, None if none did.

    Attributes:
        group: the common value or class.
        jobs: the number of submitted jobs.
        ran: the number of jobs that were not rejected.
        host_time: the allocated host seconds.
        share: the share of all jobs' host seconds, from 0 to 1; None if no job had any.
        mean_wait, median_wait, p90_wait, max_wait: statistics of the waits.
        mean_bounded_slowdown, median_bounded_slowdown, p90_bounded_slowdown, max_bounded_slowdown: statistics of the
            bounded slowdowns.
    """

    group: str
    jobs: int
    ran: int
    host_time: float
    share: float | None
    mean_wait: float | None
    median_wait: float | None
    p90_wait: float | None
    max_wait: float | None
    mean_bounded_slowdown: float | None
    median_bounded_slowdown: float | None
    p90_bounded_slowdown: float | None
    max_bounded_slowdown: float | None


class _Grouping(Struct, frozen=True):
    """A grouping of jobs.

    Attributes:
        name_of: returns the name of a job's group.
        key: the sort key of groups.
    """

    name_of: Callable[[JobMetrics], str]
    key: Callable[[GroupMetrics], Any]


def break_down(schedule: Schedule, by: str, tau: float = SLOWDOWN_BOUND) -> list[GroupMetrics]:
    """Return the metrics of groups of jobs, by class of sizes or run times (SIZE, RUNTIME), or by a member of jobs.

    Classes are in ascending order, groups of a member by decreasing host seconds. InputError if no job has the member.
    """
    return group_jobs(schedule, by, measure_jobs(schedule, tau))


def group_jobs(schedule: Schedule, by: str, jobs: Iterable[JobMetrics]) -> list[GroupMetrics]:
    """Return the result of `break_down`, given the metrics of the schedule's jobs. InputError."""
    grouping = _CLASSES.get(by) or _by_member(schedule, by)
    groups: dict[str, list[JobMetrics]] = {}
    for job in jobs:
        groups.setdefault(grouping.name_of(job), []).append(job)
    total = math.fsum(job.host_time for jobs in groups.values() for job in jobs)
    return sorted((_measure(name, jobs, total) for name, jobs in groups.items()), key=grouping.key)


def size_class(size: int) -> str:
    """Return the class of a number of hosts, up to the next power of two: "1", "2", "3-4", "5-8"..."""
    top = 1 << max(size - 1, 0).bit_length()
    return str(size) if size <= 2 else f"{top // 2 + 1}-{top}"


def runtime_class(seconds: float) -> str:
    """Return the class of a run time, of RUNTIME_CLASSES."""
    return RUNTIME_CLASSES[bisect_left(_RUNTIMES, seconds)]


def group_of(job: JobMetrics, by: str) -> str:
    """Return the class of a job by SIZE or RUNTIME."""
    return _CLASSES[by].name_of(job)


def cross(jobs: Iterable[JobMetrics]) -> Mapping[tuple[str, str], list[JobMetrics]]:
    """Return (class of sizes, class of run times) -> the jobs in both that ran."""
    found: dict[tuple[str, str], list[JobMetrics]] = {}
    for job in jobs:
        if not job.record.rejected:
            found.setdefault((group_of(job, SIZE), group_of(job, RUNTIME)), []).append(job)
    return found


def size_order(name: str) -> int:
    """Return the sort key of a class of sizes."""
    return int(name.partition("-")[0])


def _runtime_name(job: JobMetrics) -> str:
    return NEVER_RAN if job.record.rejected else runtime_class(job.run)


def _by_member(schedule: Schedule, member: str) -> _Grouping:
    """Return the grouping by a member of the jobs. InputError if no job has it."""
    if all(group_value(record.job.members, member) is None for record in schedule.jobs):
        members = [record.job.members for record in schedule.jobs]
        known = sorted({name for each in members for name, value in each.items() if value is not None})
        if member == USER and not known:
            rule = "tells no users: '-w WORKLOAD' does, if its jobs have a member 'user'"
        elif not known:
            rule = f"tells no member {shown(member)} of jobs: '-w WORKLOAD' does, if they have it"
        else:
            rule = f"has no job with a member {shown(member)}: {unknown(member, map(displayed, known))}"
        raise InputError(schedule.source, "", rule)
    return _Grouping(
        lambda job: group_name(job.record.job.members, member), lambda group: (-group.host_time, group.group)
    )


def _measure(name: str, jobs: Sequence[JobMetrics], total: float) -> GroupMetrics:
    waits = [job.wait for job in jobs if job.wait is not None]
    slowdowns = [job.bounded_slowdown for job in jobs if job.bounded_slowdown is not None]
    held = math.fsum(job.host_time for job in jobs)
    return GroupMetrics(
        name,
        len(jobs),
        len(waits),
        held,
        held / total if total else None,
        *_figures(waits),
        *_figures(slowdowns),
    )


def _figures(values: Sequence[float]) -> tuple[float | None, float | None, float | None, float | None]:
    """Return mean, median, the 90th percentile and the largest."""
    return mean(values), quantile(values, 0.5), quantile(values, 0.9), max(values, default=None)


#: Name of a grouping by classes -> the grouping.
_CLASSES: Final[Mapping[str, _Grouping]] = {
    SIZE: _Grouping(lambda job: size_class(job.record.job.size), lambda group: size_order(group.group)),
    RUNTIME: _Grouping(_runtime_name, lambda group: (*RUNTIME_CLASSES, NEVER_RAN).index(group.group)),
}
