"""The rows of the page's summary: a metric of each run, its difference from the first run, and the best run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from msgspec import Struct

from batsched_py.reporting.formatting import clock
from batsched_py.reporting.metrics.best import equal, find_best
from batsched_py.reporting.metrics.catalogue import (
    METRIC_INFO,
    RunMetrics,
    Unit,
    format_metric,
    have_restarts,
)
from batsched_py.reporting.pictures.html.markup import BEST, table
from batsched_py.text.wording import NARROW_BLANK, NOTHING, grouped, kilowatt_hours

#: The rows that are always visible, if any run has them; the others are collapsed.
_MAIN: Final = (
    *("hosts", "jobs", "successful", "failed", "walltime_reached", "killed", "rejected"),
    *("makespan", "utilisation", "core_utilisation", "memory_utilisation", "gpu_utilisation", "gpu_fragmentation"),
    *("throughput", "mean_wait", "p90_wait", "max_wait", "mean_turnaround"),
    *("mean_bounded_slowdown", "p90_bounded_slowdown", "mean_queue_length", "energy", "mean_power"),
    *("leases", "accepted_reservations", "rejected_reservations", "best_effort_done", "best_effort_completion"),
    *("mean_best_effort_wait", "mean_best_effort_slowdown", "lease_utilisation", "lease_utilisation_with_overheads"),
    *("window_begin", "window_end", "outside_window"),
)
#: Rows that are shown even if they are 0, such as waits.
_ALWAYS: Final = frozenset(
    (
        *("hosts", "jobs", "makespan", "utilisation", "throughput", "mean_wait", "p90_wait", "max_wait"),
        *("mean_turnaround", "mean_bounded_slowdown", "p90_bounded_slowdown", "mean_queue_length", "window_begin"),
    )
)
#: The ratio from which a difference is shown as "12.3 times" instead of "+1130.0 %".
_MANY: Final = 10


class MetricCell(Struct, frozen=True):
    """A metric of a run.

    Attributes:
        text: the formatted value.
        exact: the exact value with its unit; empty if the text is exact.
        delta: the difference from the first run; empty for the first run, or if undefined.
        best: True if it is marked as the best, by the rule of metrics.best.
    """

    text: str
    exact: str = ""
    delta: str = ""
    best: bool = False


class MetricRow(Struct, frozen=True):
    """A metric: its name, a cell for each run, and whether it is a part of the row above."""

    name: str
    cells: tuple[MetricCell, ...]
    part: bool = False


def summary_rows(runs: Sequence[RunMetrics], *, ranked: bool = True) -> list[MetricRow]:
    """Return the main rows; `ranked` marks the best run of each."""
    return _rows(_MAIN, runs, ranked=ranked)


def other_rows(runs: Sequence[RunMetrics], *, ranked: bool = True) -> list[MetricRow]:
    """Return all rows with a value that `summary_rows` leaves out."""
    return _rows((name for name in METRIC_INFO if name not in _MAIN), runs, ranked=ranked)


def _rows(names: Iterable[str], runs: Sequence[RunMetrics], *, ranked: bool) -> list[MetricRow]:
    rows, again = [], any(map(have_restarts, runs))
    for name in names:
        if METRIC_INFO[name].shown == "if restarted" and not again:
            continue
        values = [getattr(run, name) for run in runs]
        if any(values) or (name in _ALWAYS and any(value is not None for value in values)):
            rows.append(_row(name, values, ranked=ranked))
    return rows


def _row(name: str, values: Sequence[float | None], *, ranked: bool) -> MetricRow:
    info, first = METRIC_INFO[name], values[0]
    best = find_best(info, values) if ranked else (False,) * len(values)
    cells = []
    for number, value in enumerate(values):
        if value is None:
            cells.append(MetricCell(NOTHING))
            continue
        delta = _delta(info.unit, first, value) if number and first is not None else ""
        text, exact = _texts(name, value)
        cells.append(MetricCell(text, exact, delta, best[number]))
    return MetricRow(info.title.strip(), tuple(cells), info.title.startswith(" "))


def _texts(name: str, value: float) -> tuple[str, str]:
    """Return a metric as formatted text, and its exact value as text."""
    unit = METRIC_INFO[name].unit
    exact = f"{format_metric(name, value)} {unit.symbol}".strip()
    match unit:
        case Unit.SECONDS:
            return clock(value), exact
        case Unit.JOULES:
            return kilowatt_hours(value), exact
        case Unit.COUNT:
            return grouped(value, NARROW_BLANK), ""
        case Unit.NUMBER:
            return f"{value:.2f}", exact
        case _:
            return exact, ""


def _relative(first: float, value: float) -> str:
    if not first:
        return ""
    return f"{100 * (value / first - 1):+.1f} %" if value < _MANY * first else f"{value / first:.1f} times"


def _delta(unit: Unit, first: float, value: float) -> str:
    """Return the difference: of counts as a number, of shares in points, of others in percent."""
    if equal(first, value):
        return "" if unit is Unit.COUNT else "same"
    match unit:
        case Unit.COUNT:
            text = f"{value - first:+.0f}"
        case Unit.SHARE:
            text = f"{100 * (value - first):+.1f} points"
        case _:
            text = _relative(first, value)
    if not text.strip("+-.0 %points"):
        text = text[1:]  # zero has no sign
    return text.replace("-", "\N{MINUS SIGN}")  # of the width of a plus sign


def metrics_table(caption: str, names: Sequence[str], rows: Iterable[MetricRow]) -> str:
    """Return a table with a metric in each row and a run in each column."""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    lines = (
        f'<tr{" class=part" if row.part else ""}><th scope="row">{escape(row.name)}</th>'
        f"{''.join(map(_metric, row.cells))}</tr>"
        for row in rows
    )
    return table(caption, f"<tr><td></td>{heads}</tr>", lines)


def _metric(cell: MetricCell) -> str:
    exact = f' title="{escape(cell.exact)}"' if cell.exact else ""
    best = BEST if cell.best else ""
    delta = f'<span class="delta">{escape(cell.delta)}</span>' if cell.delta else ""
    return f"<td{' class=best' if cell.best else ''}{exact}>{best}{escape(cell.text)}{delta}</td>"
