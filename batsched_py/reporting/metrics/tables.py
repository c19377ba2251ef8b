"""Tables that show the metrics of runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich import box
from rich.table import Table
from rich.text import Text

from batsched_py.reporting.formatting import HOUR
from batsched_py.reporting.metrics.batsim_metrics import BatsimMetrics
from batsched_py.reporting.metrics.breakdown import GroupMetrics
from batsched_py.reporting.metrics.run_metrics import METRIC_INFO, RunMetrics, Unit
from batsched_py.text.display import displayed
from batsched_py.text.wording import JOULES_PER_KWH, NOTHING, counted

#: The text in place of the number of users if no job has one.
NO_USERS: Final = "unknown"
#: Groups of jobs that a table shows, at most.
MOST_GROUPS: Final = 30
#: Field of GroupMetrics -> its heading in tables.
_GROUP_COLUMNS: Final = {
    "jobs": "jobs",
    "host_time": "host h",
    "share": "%",
    "mean_wait": "mean wait",
    "p90_wait": "90th pct. wait",
    "mean_bounded_slowdown": "slowdown",
}
#: Metrics with which a section of the table begins.
_SECTIONS: Final = frozenset(
    {"hosts", "mean_wait", "mean_slowdown", "mean_queue_length", "mean_pieces", "energy", "computing_time", "users"}
    | {"with_deadline", "leases", "lease_utilisation", "placement_success", "window_begin"}
)
#: Metrics whose row is left out if no job was submitted again, and no work was lost.
_OF_RESTARTS: Final = frozenset(
    {"attempts", "restarts_per_job", "useful_utilisation", "useful_work", "lost_work", "mean_attempt_wait"}
)
#: Metrics whose row is left out if it is 0 in all runs.
_USUALLY_ZERO: Final = frozenset(
    {"failed", "walltime_reached", "killed", "rejected", "with_deadline"}
    | {"sleeping_time", "switching_on_time", "switching_off_time", "unavailable_time"}
    | {"rejected_reservations", "suspensions", "time_suspended", "migrations", "requeues"}
)


def have_restarts(run: RunMetrics) -> bool:
    """Return whether jobs of the run were submitted again, or lost work."""
    return run.attempts != run.ran or bool(run.lost_work)


def is_of_restarts(name: str) -> bool:
    """Return whether a metric says nothing unless jobs were submitted again, or lost work."""
    return name in _OF_RESTARTS


def metrics_table(names: Sequence[str], runs: Sequence[RunMetrics]) -> Table:
    """Return a table with a column for each run; rows that are empty in all runs are left out."""
    table = _table(names)
    again = any(map(have_restarts, runs))
    for name, info in METRIC_INFO.items():
        if name in _SECTIONS:
            table.add_section()
        values, title = [getattr(run, name) for run in runs], info.title
        if not _is_shown(name, values) or (name in _OF_RESTARTS and not again):
            continue
        if info.unit is Unit.JOULES:
            table.add_row(title, *map(_kilowatt_hours, values), "kWh")
            title = ""
        table.add_row(title, *(format_metric(name, value) for value in values), info.unit.value[0])
    return table


def batsim_table(names: Sequence[str], runs: Sequence[BatsimMetrics]) -> Table:
    """Return a table with a row for each column of Batsim's `_schedule.csv`, under its name."""
    table = _table(names)
    for name in BatsimMetrics.__struct_fields__:
        table.add_row(name, *(batsim_cell(getattr(run, name)) or NOTHING for run in runs), "")
    return table


def breakdown_table(by: str, names: Sequence[str], runs: Sequence[Sequence[GroupMetrics]]) -> Table:
    """Return a table with a row for each group of jobs and run, the groups in the order of the first run.

    Groups beyond MOST_GROUPS are left out, which the last line tells.
    """
    table = Table(box=box.SIMPLE, pad_edge=False)
    several = len(names) > 1
    table.add_column(Text(displayed(by)), no_wrap=True)
    if several:
        table.add_column("", no_wrap=True)
    for heading in _GROUP_COLUMNS.values():
        table.add_column(heading, justify="right", no_wrap=True)
    groups = list(dict.fromkeys(group.group for run in runs for group in run))
    for group in groups[:MOST_GROUPS]:
        for number, (name, run) in enumerate(zip(names, runs, strict=True)):
            found = next((one for one in run if one.group == group), None)
            label = [Text(displayed(group) if not number else "")] + ([Text(displayed(name))] if several else [])
            table.add_row(*label, *(_group_cell(found, column) for column in _GROUP_COLUMNS))
    left_out = len(groups) - MOST_GROUPS
    if left_out > 0:
        table.caption, table.caption_justify = f"{counted(left_out, 'group')} more in CSV and JSON", "left"
    return table


def _group_cell(group: GroupMetrics | None, column: str) -> str:
    value = None if group is None else getattr(group, column)
    if value is None:
        return NOTHING
    match column:
        case "jobs":
            return str(value)
        case "host_time":
            return f"{value / HOUR:.1f}"
        case "share":
            return f"{100 * value:.1f}"
        case _:
            return f"{value:z.1f}"


def format_metric(name: str, value: float | None) -> str:
    """Return a metric in the unit of tables, without the unit's name."""
    if name == "users" and not value:
        return NO_USERS
    if value is None:
        return NOTHING
    _, factor, digits = METRIC_INFO[name].unit.value
    return f"{value * factor:z{digits}}"


def batsim_cell(value: float | None) -> str:
    """Return a metric as Batsim writes it; empty if it is not known."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:z.6f}"


def _table(names: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in names:
        table.add_column(Text(displayed(name)), justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, style="dim")
    return table


def _kilowatt_hours(joules: float | None) -> str:
    return NOTHING if joules is None else f"{joules / JOULES_PER_KWH:.3f}"


def _is_shown(name: str, values: Sequence[float | None]) -> bool:
    """Return False for a row without values, or with nothing but the zeros that are usual."""
    if name == "users":
        return True
    return any(values) if name in _USUALLY_ZERO else any(value is not None for value in values)
