"""The table of figures, as it is printed."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from batsched_py.reporting.metrics.metrics import summarise
from batsched_py.reporting.metrics.summary_table import summary_table
from batsched_py.simulator.records import Result
from tests.unit.reporting.records import record, rejected, result


def printed(whole: Result) -> list[str]:
    """The lines that are not blank, their columns parted by single blanks."""
    console = Console(file=StringIO(), width=80, color_system=None)
    console.print(summary_table(summarise(whole)))
    assert isinstance(console.file, StringIO)
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines() if line.strip()]


def test_the_table_says_every_figure_with_its_unit() -> None:
    """Durations on the clock and in seconds."""
    whole = result(
        record("1", finish=93784.25, hosts="0-1"),
        record("2", submit=10, start=3600, finish=3601, hosts="2", state="COMPLETED_WALLTIME_REACHED"),
        rejected(),
        joules=7.2e6,
    )
    assert printed(whole) == [
        "hosts 4",
        "jobs 3",
        "successful 1",
        "walltime reached 1",
        "rejected 1",
        "makespan 1 d 02:03:04 93784.250 s",
        "utilisation 50.00 %",
        "throughput 0.08 jobs/h",
        "mean wait 00:29:55 1795.000 s",
        "maximum wait 00:59:50 3590.000 s",
        "mean turnaround 13:31:28 48687.625 s",
        "mean bounded slowdown 180.0500",
        "energy 2.000 kWh 7200000.0 J",
        "messages 7",
        "deciding measured 0.100 s",
        "simulating measured 0.200 s",
    ]


def test_figures_without_meaning_are_dashes() -> None:
    """When no job ran."""
    lines = printed(result(rejected()))
    assert "mean wait -" in lines
    assert "utilisation -" in lines
    assert "makespan 00:00:00 0.000 s" in lines


def test_only_the_last_two_lines_differ_from_run_to_run() -> None:
    """They are marked as measured."""
    slow, fast = (printed(result(record(), deciding=seconds)) for seconds in (2.0, 1.0))
    assert slow[:-2] == fast[:-2]
    assert all("measured" in line for line in slow[-2:])
    assert not any("measured" in line for line in slow[:-2])
