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
from batsched_py.reporting.metrics.catalogue import (
    METRIC_INFO,
    MetricInfo,
    RunMetrics,
    Unit,
    format_metric,
    have_restarts,
)
from batsched_py.text.display import displayed
from batsched_py.text.wording import JOULES_PER_KWH, NOTHING, aligned, counted

#: The largest number of groups of jobs in a table.
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
#: Field of GroupMetrics -> the factor from SI units to the unit in tables, if other than 1.
_GROUP_SCALES: Final = {"host_time": 1 / HOUR, "share": 100.0, "jobs": 1}
_KWH_DIGITS: Final = 3
#: Metrics with which a section of the table begins.
_SECTIONS: Final = frozenset(
    {
        "hosts",
        "core_utilisation",
        "mean_wait",
        "mean_slowdown",
        "mean_queue_length",
        "mean_pieces",
        "energy",
        "computing_time",
        "users",
    }
    | {"core_utilisation", "with_deadline", "leases", "lease_utilisation", "placement_success", "run_time_error"}
    | {"window_begin"}
)


def metrics_table(names: Sequence[str], runs: Sequence[RunMetrics]) -> Table:
    """Return a table with a column for each run; rows that are empty in all runs are left out."""
    table = _table(names)
    again = any(map(have_restarts, runs))
    for name, info in METRIC_INFO.items():
        if name in _SECTIONS:
            table.add_section()
        values, title = [getattr(run, name) for run in runs], info.title
        if not _is_shown(info, values) or (info.shown == "if restarted" and not again):
            continue
        if info.unit is Unit.JOULES:
            table.add_row(title, *aligned(_scaled(values, 1 / JOULES_PER_KWH), _KWH_DIGITS), "kWh")
            title = ""
        table.add_row(title, *_metric_cells(name, values), info.unit.symbol)
    return table


def batsim_table(names: Sequence[str], runs: Sequence[BatsimMetrics]) -> Table:
    """Return a table with a row for each column of Batsim's `_schedule.csv`, under its name."""
    table = _table(names)
    for name in BatsimMetrics.__struct_fields__:
        table.add_row(name, *(batsim_cell(getattr(run, name)) or NOTHING for run in runs), "")
    return table


def breakdown_table(by: str, names: Sequence[str], runs: Sequence[Sequence[GroupMetrics]]) -> Table:
    """Return a table with a row for each group of jobs and run, the groups in the order of the first run.

    Groups beyond MOST_GROUPS are left out; the last line has their number.
    """
    table = Table(box=box.SIMPLE, pad_edge=False)
    several = len(names) > 1
    table.add_column(Text(displayed(by)), no_wrap=True)
    if several:
        table.add_column("", no_wrap=True)
    for heading in _GROUP_COLUMNS.values():
        table.add_column(heading, justify="right", no_wrap=True)
    groups = list(dict.fromkeys(group.group for run in runs for group in run))
    cells = _group_cells([group for run in runs for group in run if group.group in groups[:MOST_GROUPS]])
    for group in groups[:MOST_GROUPS]:
        for number, (name, run) in enumerate(zip(names, runs, strict=True)):
            found = next((one for one in run if one.group == group), None)
            label = [Text(displayed(group) if not number else "")] + ([Text(displayed(name))] if several else [])
            table.add_row(*label, *([NOTHING] * len(_GROUP_COLUMNS) if found is None else cells[id(found)]))
    left_out = len(groups) - MOST_GROUPS
    if left_out > 0:
        table.caption, table.caption_justify = f"{counted(left_out, 'group')} more in CSV and JSON", "left"
    return table


def _group_cells(groups: Sequence[GroupMetrics]) -> dict[int, tuple[str, ...]]:
    """Return identity of a group -> its cells; the numbers of a column have the same number of decimals."""
    columns = []
    for name in _GROUP_COLUMNS:
        values = _scaled([getattr(group, name) for group in groups], _GROUP_SCALES.get(name, 1.0))
        columns.append([str(value) for value in values] if name == "jobs" else aligned(values, 1))
    return dict(zip(map(id, groups), zip(*columns, strict=True), strict=True))


def _metric_cells(name: str, values: Sequence[float | None]) -> list[str]:
    """Return the values of a metric in several runs, in the unit of tables, with the same number of decimals."""
    unit = METRIC_INFO[name].unit
    if unit is Unit.COUNT:
        return [format_metric(name, value) for value in values]
    return aligned(_scaled(values, unit.factor), unit.digits)


def _scaled(values: Sequence[float | None], factor: float) -> list[float | None]:
    return [None if value is None else value * factor for value in values]


def batsim_cell(value: float | None) -> str:
    """Return a metric in Batsim's format; empty if unknown."""
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


def _is_shown(info: MetricInfo, values: Sequence[float | None]) -> bool:
    """Return False for a row without values, or with zeros only in a metric that usually is 0."""
    if info.name == "users":
        return True
    return any(values) if info.shown == "unless 0" else any(value is not None for value in values)
