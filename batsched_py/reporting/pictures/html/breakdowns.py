"""The section of breakdowns: heat maps of waits by size and run time, and tables of users and other groups."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Final

from msgspec import Struct

from batsched_py.errors import InputError
from batsched_py.reporting.formatting import DAY, HOUR, MINUTE, brief
from batsched_py.reporting.metrics.breakdown import RUNTIME_CLASSES, GroupMetrics, cross, group_jobs, size_order
from batsched_py.reporting.metrics.job_metrics import JobMetrics, measure_jobs
from batsched_py.reporting.metrics.statistics import mean
from batsched_py.reporting.pictures.html import markup
from batsched_py.reporting.schedules.members import USER
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.text.display import displayed
from batsched_py.text.wording import NARROW_BLANK, NOTHING, counted, grouped

#: The largest number of groups in a table.
MOST_GROUPS: Final = 20
#: Unit of a wait -> its name.
_UNITS: Final = {DAY: "d", HOUR: "h", MINUTE: "min"}
#: A number and its unit, which must stay on one line.
_AMOUNT: Final = re.compile(r"(\d+) (min|h|d)\b")
#: Columns of the table of groups, for each run.
_COLUMNS: Final = ("jobs", "share of host time", "mean wait", "mean slowdown")
#: (Class of sizes, class of run times) -> the jobs in both.
_Crossed = Mapping[tuple[str, str], Sequence[JobMetrics]]


def _number(value: float) -> str:
    """Return a number with about two digits: "1.4", "24 500"."""
    return f"{value:.1f}" if value < 10 else grouped(value, NARROW_BLANK)


def _time(seconds: float) -> str:
    """Return a duration with about two digits in a suitable unit: "42 s", "1.5 h"."""
    unit, name = next(((unit, name) for unit, name in _UNITS.items() if seconds >= unit), (1, "s"))
    return f"{_number(seconds / unit)} {name}"


class _Heat(Struct, frozen=True):
    """A metric of a heat map.

    Attributes:
        title: the title of the metric.
        of: returns the value of a job.
        `format_mean`: formats a mean.
        least: the value without colour; the scale of colours is logarithmic from there.
    """

    title: str
    of: Callable[[JobMetrics], float | None]
    format_mean: Callable[[float], str]
    least: float


_HEATS: Final = (
    _Heat("mean wait", lambda job: job.wait, _time, MINUTE),
    _Heat("mean bounded slowdown", lambda job: job.bounded_slowdown, _number, 1.0),
)


def breakdown_parts(schedules: Sequence[Schedule], bound: float, by: Sequence[str]) -> list[str]:
    """Return heat maps of each run by size and run time, and a table for each member; empty if no job ran.

    Without members, the table shows users, if any run has them. InputError for a member that no job of any run has.
    """
    if not any(schedule.ran for schedule in schedules):
        return []
    measured = [measure_jobs(schedule, bound) for schedule in schedules]
    crossed = [cross(jobs) for jobs in measured]
    maps = [part for heat in _HEATS for part in _maps(heat, [schedule.name for schedule in schedules], crossed)]
    with_users = any(USER in record.job.members for schedule in schedules for record in schedule.jobs)
    tables = [_table(member, schedules, measured) for member in by or ((USER,) if with_users else ())]
    note = "By the hosts that jobs asked for and the time that they ran; rest the pointer on a cell for its jobs."
    return [markup.paragraph(note), f'<div class="pair">{"".join(maps)}</div>', *tables]


def _maps(heat: _Heat, names: Sequence[str], crossed: Sequence[_Crossed]) -> list[str]:
    """Return the heat map of each run, with a common colour scale."""
    means = [
        {
            place: mean([value for value in map(heat.of, jobs) if value is not None]) or 0.0
            for place, jobs in run.items()
        }
        for run in crossed
    ]
    most = max((value for run in means for value in run.values()), default=heat.least)
    sizes = sorted({size for run in crossed for size, _ in run}, key=size_order)
    times = [time for time in RUNTIME_CLASSES if any((size, time) in run for run in crossed for size in sizes)]
    return [
        markup.heat_table(
            f"{name}: {heat.title}",
            ["hosts", *(_AMOUNT.sub("\\1\N{NO-BREAK SPACE}\\2", time) for time in times)],
            [(size, [_cell(heat, most, (size, time), run, values) for time in times]) for size in sizes],
        )
        for name, run, values in zip(names, crossed, means, strict=True)
    ]


def _cell(
    heat: _Heat, most: float, place: tuple[str, str], run: _Crossed, means: Mapping[tuple[str, str], float]
) -> markup.HeatCell:
    value = means.get(place)
    if value is None:
        return markup.HeatCell("", "", 0.0)
    return markup.HeatCell(
        heat.format_mean(value), counted(len(run[place]), "job", blank=NARROW_BLANK), _share(value, heat.least, most)
    )


def _share(value: float, least: float, most: float) -> float:
    """Return the position of a value on a logarithmic scale, from 0 for `least` to 1 for `most`."""
    if value <= least or most <= least:
        return 0.0
    return math.log(value / least) / math.log(most / least)


def _table(member: str, schedules: Sequence[Schedule], measured: Sequence[Sequence[JobMetrics]]) -> str:
    """Return a table of the groups by a member, in the order of the first run that has it. InputError."""
    found = [_groups(schedule, member, jobs) for schedule, jobs in zip(schedules, measured, strict=True)]
    if not any(found):
        group_jobs(schedules[0], member, measured[0])  # raises the error
    names = list(dict.fromkeys(group for run in found for group in run))
    rows = [[escape(displayed(name)), *(cell for run in found for cell in _cells(run.get(name)))] for name in names]
    more = f", the first {MOST_GROUPS} of {grouped(len(rows), NARROW_BLANK)}" if len(rows) > MOST_GROUPS else ""
    caption, first = f"By {displayed(member)}{more}", displayed(member)
    if len(schedules) == 1:
        return markup.plain_table(caption, [first, *_COLUMNS], rows[:MOST_GROUPS])
    return markup.grouped_table(caption, first, _COLUMNS, [one.name for one in schedules], rows[:MOST_GROUPS])


def _groups(schedule: Schedule, member: str, jobs: Sequence[JobMetrics]) -> dict[str, GroupMetrics]:
    """Return the groups of a run by name; empty if its jobs lack the member."""
    try:
        return {group.group: group for group in group_jobs(schedule, member, jobs)}
    except InputError:
        return {}


def _cells(group: GroupMetrics | None) -> list[str]:
    if group is None:
        return [NOTHING] * len(_COLUMNS)
    share = NOTHING if group.share is None else f"{100 * group.share:.1f} %"
    wait = NOTHING if group.mean_wait is None else brief(group.mean_wait)
    slowdown = NOTHING if group.mean_bounded_slowdown is None else f"{group.mean_bounded_slowdown:.2f}"
    return [grouped(group.jobs, NARROW_BLANK), share, wait, slowdown]
