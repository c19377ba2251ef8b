"""The figures of a run as a table for people."""

from __future__ import annotations

from rich import box
from rich.table import Table

from batsched_py.reporting.formatting.durations import HOUR, clock
from batsched_py.reporting.formatting.final_states import STATE_NAMES
from batsched_py.reporting.metrics.metrics import Metrics, Summary
from batsched_py.wording import NOTHING, kilowatt_hours


def summary_table(summary: Summary) -> Table:
    """One figure to a row, durations on the clock and in seconds; the last two are measured and differ each time."""
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True, style="dim")
    _add_counts(table, summary.metrics)
    table.add_section()
    _add_figures(table, summary.metrics)
    if summary.joules:
        table.add_row("energy", kilowatt_hours(summary.joules), f"{summary.joules:.1f} J")
    table.add_section()
    table.add_row("messages", str(summary.messages))
    table.add_row("deciding", "measured", f"{summary.deciding_seconds:.3f} s")
    table.add_row("simulating", "measured", f"{summary.simulating_seconds:.3f} s")
    return table


def _add_counts(table: Table, metrics: Metrics) -> None:
    table.add_row("hosts", str(metrics.hosts))
    table.add_row("jobs", str(metrics.jobs))
    for state, count in metrics.states.items():
        table.add_row("  " + STATE_NAMES.get(state, state), str(count))


def _add_figures(table: Table, metrics: Metrics) -> None:
    _add_duration(table, "makespan", metrics.makespan)
    table.add_row("utilisation", _number(metrics.utilisation, 100.0, ".2f", " %"))
    table.add_row("throughput", _number(metrics.throughput, HOUR, ".2f", " jobs/h"))
    _add_duration(table, "mean wait", metrics.mean_wait)
    _add_duration(table, "maximum wait", metrics.max_wait)
    _add_duration(table, "mean turnaround", metrics.mean_turnaround)
    table.add_row("mean bounded slowdown", _number(metrics.mean_bounded_slowdown, 1.0, ".4f", ""))


def _add_duration(table: Table, name: str, seconds: float | None) -> None:
    if seconds is None:
        table.add_row(name, NOTHING)
    else:
        table.add_row(name, clock(seconds), f"{seconds:z.3f} s")


def _number(value: float | None, scale: float, spelling: str, unit: str) -> str:
    return NOTHING if value is None else f"{value * scale:z{spelling}}{unit}"
