"""Tables of metrics: rows that say something, in the units of people."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from batsched_py.reporting.api import Schedule, batsim_metrics, measure_run
from batsched_py.reporting.metrics.catalogue import format_metric
from batsched_py.reporting.metrics.tables import batsim_cell, batsim_table, metrics_table
from batsched_py.results.records import JobRecord
from tests.unit.reporting.records import record


def schedule(*records: JobRecord) -> Schedule:
    return Schedule(name="run", jobs=records, hosts=4, batsim_row={})


def printed(table: object) -> list[str]:
    console = Console(file=StringIO(), width=100, color_system=None)
    console.print(table)
    assert isinstance(console.file, StringIO)
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines() if line.strip()]


def test_rows_are_shown_if_one_run_needs_them() -> None:
    """Usual zeros are no news, until one run has another number."""
    fine, killed = schedule(record("1")), schedule(record("1", state="COMPLETED_KILLED"))
    alone = printed(metrics_table(["fine"], [measure_run(fine)]))
    both = printed(metrics_table(["fine", "killed"], [measure_run(fine), measure_run(killed)]))
    assert not any(line.startswith("killed") for line in alone)
    assert "killed 0 1" in both
    assert "users unknown" in alone


def test_metrics_have_the_digits_of_their_units() -> None:
    """Shares are percent; unknown metrics are dashes."""
    assert (format_metric("utilisation", 0.12345), format_metric("jobs", 3)) == ("12.35", "3")
    assert (format_metric("energy", None), format_metric("computing_time", 5400.0)) == ("-", "1.500")


def test_batsims_metrics_have_its_names_and_digits() -> None:
    """Counts are whole, all else has six digits, and nothing is made up."""
    lines = printed(batsim_table(["run"], [batsim_metrics(schedule(record("1", finish=50.0)))]))
    assert "makespan 50.000000" in lines
    assert "nb_jobs 1" in lines
    assert (batsim_cell(None), batsim_cell(2), batsim_cell(-0.0)) == ("", "2", "0.000000")
