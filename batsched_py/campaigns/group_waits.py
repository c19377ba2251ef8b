"""The waits of groups of jobs under each algorithm of a study: which groups gain against the baseline, and which lose.

Jobs are paired with themselves: the change of a group is the mean over its jobs that ran under both algorithms. It is
over the jobs of all workloads together, unlike the means of runs, as an operator asks for the jobs of a group.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import astuple

from batsched_py.reporting.metrics.breakdown import SIZE, size_order
from batsched_py.reporting.metrics.job_sample import JobSample
from batsched_py.reporting.metrics.statistics import mean, quantile
from batsched_py.text.display import displayed
from batsched_py.text.representation import Brief
from batsched_py.text.wording import counted

#: Seconds: smaller differences of waits are rounding errors, as Batsim's resolution is a microsecond.
_ROUNDING: Final = 1e-6
#: Wait and slowdown of a job that did not run.
_REJECTED: Final = (math.nan, math.nan)
#: Columns of files with groups of jobs.
GROUP_COLUMNS: Final = (
    "by", "group", "algorithm", "jobs", "ran", "host_time", "mean_wait", "median_wait", "p95_wait",
    "mean_bounded_slowdown", "wait_change", "slowdown_change", "earlier", "same", "later",
)  # fmt: skip


class GroupChange(Struct, frozen=True):
    """The change of a group's jobs that ran under an algorithm and under the baseline.

    Attributes:
        wait: mean of (wait - wait under the baseline), in seconds; negative if the group gains.
        slowdown: the same of bounded slowdowns.
        earlier, same, later: numbers of jobs that waited less, as long, and longer.
    """

    wait: float
    slowdown: float
    earlier: int
    same: int
    later: int

    @property
    def gains(self) -> bool:
        """True if the jobs wait less on average."""
        return self.wait < -_ROUNDING

    @property
    def loses(self) -> bool:
        """True if the jobs wait longer on average."""
        return self.wait > _ROUNDING


class GroupWaits(Struct, frozen=True):
    """One group of jobs under one algorithm; waits in seconds, None if no job ran.

    Attributes:
        group: the value or the class that its jobs have in common.
        variant: the algorithm's name.
        jobs: number of submitted jobs, on all workloads and for all seeds.
        ran: number of those that were not rejected.
        host_time: allocated host seconds.
        mean_wait, median_wait, p95_wait: mean and quantiles of the waits.
        mean_bounded_slowdown: mean of the bounded slowdowns.
        change: None for the baseline, or if no job ran under both.
    """

    group: str
    variant: str
    jobs: int
    ran: int
    host_time: float
    mean_wait: float | None
    median_wait: float | None
    p95_wait: float | None
    mean_bounded_slowdown: float | None
    change: GroupChange | None = None


class GroupedWaits(Brief, frozen=True):
    """All groups by one member or class.

    Attributes:
        by: the member of jobs, or SIZE.
        baseline: the algorithm's name.
        groups: group -> a row for each algorithm that succeeded on all workloads; the group with the most host seconds
            under the first of these comes first, classes of sizes are in ascending order.
    """

    by: str
    baseline: str
    groups: Mapping[str, tuple[GroupWaits, ...]]

    @property
    def rows(self) -> Iterator[GroupWaits]:
        """All rows, group by group."""
        return (row for rows in self.groups.values() for row in rows)

    def cells(self) -> Iterator[tuple[Any, ...]]:
        """Yield the values of GROUP_COLUMNS of each row; None where a value is undefined."""
        for row in self.rows:
            changes = (None,) * len(GroupChange.__struct_fields__) if row.change is None else astuple(row.change)
            yield (self.by, *astuple(row)[:-1], *changes)

    def verdicts(self) -> Iterator[str]:
        """Yield a line for each algorithm other than the baseline: how many groups gain and lose, and which most."""
        changes: dict[str, list[tuple[float, str, GroupChange]]] = {}
        for row in self.rows:
            if row.change is not None:
                changes.setdefault(row.variant, []).append((row.change.wait, row.group, row.change))
        for variant, found in changes.items():
            gaining = sorted((wait, group) for wait, group, change in found if change.gains)
            losing = sorted((-wait, group) for wait, group, change in found if change.loses)
            parts = [_verdict(gaining, "gains", "gain", 1), _verdict(losing, "loses", "lose", -1)]
            if same := len(found) - len(gaining) - len(losing):
                parts.append(f"{counted(same, 'group waits', 'groups wait')} as long")
            names = displayed(variant), displayed(self.baseline)
            yield f"{names[0]} against {names[1]}, by {displayed(self.by)}: {'; '.join(parts)}"


def _verdict(ordered: Sequence[tuple[float, str]], one: str, many: str, sign: int) -> str:
    if not ordered:
        return f"no group {one}"
    change, group = ordered[0]
    count = counted(len(ordered), f"group {one}", f"groups {many}")
    return f"{count}, most {displayed(group)} ({sign * change:+.1f} s a job)"


def compare_groups_by(samples: Mapping[str, Sequence[JobSample]], by: str, baseline: str) -> GroupedWaits:
    """Compare the groups of jobs of a study that was run with this `by`; `samples` maps algorithms to jobs of runs."""
    base = samples.get(baseline)
    collected = {name: _collect(runs, by, None if name == baseline else base) for name, runs in samples.items()}
    rows = {
        group: tuple(found[group].measure(group, name) for name, found in collected.items() if group in found)
        for group in dict.fromkeys(group for found in collected.values() for group in found)
    }
    return GroupedWaits(by, baseline, dict(sorted(rows.items(), key=lambda item: _order(by, *item))))


def _order(by: str, group: str, rows: Sequence[GroupWaits]) -> tuple[float, str]:
    return (size_order(group) if by == SIZE else -rows[0].host_time, group)


class _GroupJobs(Struct):
    """The jobs of a group under one algorithm."""

    host_times: list[float]
    waits: list[float]
    slowdowns: list[float]
    wait_changes: list[float]
    slowdown_changes: list[float]

    def measure(self, group: str, variant: str) -> GroupWaits:
        return GroupWaits(
            group,
            variant,
            len(self.host_times),
            len(self.waits),
            math.fsum(self.host_times),
            mean(self.waits),
            quantile(self.waits, 0.5),
            quantile(self.waits, 0.95),
            mean(self.slowdowns),
            self._change(),
        )

    def _change(self) -> GroupChange | None:
        wait, slowdown = mean(self.wait_changes), mean(self.slowdown_changes)
        if wait is None or slowdown is None:
            return None
        earlier = sum(change < -_ROUNDING for change in self.wait_changes)
        later = sum(change > _ROUNDING for change in self.wait_changes)
        return GroupChange(wait, slowdown, earlier, len(self.wait_changes) - earlier - later, later)


def _collect(runs: Sequence[JobSample], by: str, base: Sequence[JobSample] | None) -> dict[str, _GroupJobs]:
    """Return the groups of all runs of an algorithm; jobs are paired with those of the baseline's runs, if given."""
    groups: dict[str, _GroupJobs] = {}
    for number, run in enumerate(runs):
        before = {} if base is None else dict(zip(base[number].ids, base[number].times, strict=True))
        for job, group, host_time, (wait, slowdown) in zip(
            run.ids, run.groups[by], run.host_times, run.times, strict=True
        ):
            row = groups.setdefault(group, _GroupJobs([], [], [], [], []))
            row.host_times.append(host_time)
            if math.isnan(wait):
                continue
            row.waits.append(wait)
            row.slowdowns.append(slowdown)
            other_wait, other_slowdown = before.get(job, _REJECTED)
            if not math.isnan(other_wait):
                row.wait_changes.append(wait - other_wait)
                row.slowdown_changes.append(slowdown - other_slowdown)
    return groups
