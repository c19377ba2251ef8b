"""The summary shows metrics, differences and the best of each row."""

from __future__ import annotations

from batsched_py.reporting.api import RunMetrics, Schedule, measure_run
from batsched_py.reporting.pictures.html.metric_rows import MetricCell, MetricRow, other_rows, summary_rows
from batsched_py.results.records import JobRecord
from tests.unit.reporting.records import record, rejected


def run(*records: JobRecord, hosts: int = 2) -> RunMetrics:
    return measure_run(Schedule(name="run", jobs=records, hosts=hosts, batsim_row={}))


def row(name: str, rows: list[MetricRow]) -> MetricRow:
    return next(found for found in rows if found.name == name)


SLOW = run(record("1", start=100, finish=200, hosts="0"))
FAST = run(record("1", start=50, finish=150, hosts="0"), hosts=2)


def test_less_wait_is_better_and_told_in_percent() -> None:
    """On the clock, with the exact number behind it."""
    assert row("mean wait", summary_rows([SLOW, FAST])).cells == (
        MetricCell("00:01:40", "100.000 s"),
        MetricCell("00:00:50", "50.000 s", "\N{MINUS SIGN}50.0 %", best=True),
    )


def test_more_utilisation_is_better_and_told_in_points() -> None:
    """Percent of percent would mislead."""
    cells = row("utilisation", summary_rows([SLOW, FAST])).cells
    assert [cell.text for cell in cells] == ["25.00 %", "33.33 %"]
    assert (cells[1].delta, cells[1].best, cells[0].best) == ("+8.3 points", True, False)


def test_equals_have_no_best() -> None:
    """A single run has none, either."""
    assert not any(cell.best for found in summary_rows([SLOW, SLOW]) for cell in found.cells)
    assert not any(cell.best for found in summary_rows([SLOW]) for cell in found.cells)
    assert row("mean wait", summary_rows([SLOW, SLOW])).cells[1].delta == "same"


def test_what_is_shown_as_no_difference_has_no_star() -> None:
    """0.03 % less is no reason to prefer a run, and has no sign."""
    less = run(record("1", start=99.97, finish=199.97, hosts="0"))
    rows = summary_rows([SLOW, less])
    assert row("mean wait", rows).cells[1].delta == "0.0 %"
    assert row("utilisation", rows).cells[1].delta == "0.0 points"
    assert not any(cell.best for found in rows for cell in found.cells)


def test_runs_that_are_not_ranked_have_no_best() -> None:
    """The faster run of different workloads is no better."""
    assert not any(cell.best for found in summary_rows([SLOW, FAST], ranked=False) for cell in found.cells)


def test_what_is_many_times_as_much_is_told_so() -> None:
    """A value cannot be compared with 0."""
    far = run(record("1", start=5000, finish=5100, hosts="0"))
    none = run(record("1", start=0, finish=100, hosts="0"))
    assert row("mean wait", summary_rows([SLOW, far])).cells[1].delta == "50.0 times"
    assert row("mean wait", summary_rows([none, far])).cells[1].delta == ""


def test_metrics_without_a_meaning_are_left_out_or_dashes() -> None:
    """No row says nothing; a run that has no such metric has a dash."""
    nothing = run(rejected("1"))
    assert "mean wait" not in [found.name for found in summary_rows([nothing])]
    assert row("mean wait", summary_rows([SLOW, nothing])).cells[1] == MetricCell("-")
    assert row("rejected", summary_rows([nothing])).part


def test_the_two_tables_have_no_row_in_common() -> None:
    """Together they have all that is told."""
    names = [found.name for found in summary_rows([SLOW])], [found.name for found in other_rows([SLOW])]
    assert set(names[0]).isdisjoint(names[1])
    assert "median wait" in names[1]


def test_each_metric_says_which_way_is_better() -> None:
    """The same as `compare` takes it: also of counts; none of what was given."""
    some = run(record("1", hosts="0"), record("2", hosts="0", start=10, finish=20))
    fewer = run(record("1", hosts="0"), record("2", hosts="0", start=10, finish=20, state="COMPLETED_KILLED"))
    cells = {name: row(name, summary_rows([some, fewer])).cells for name in ("successful", "killed", "jobs")}
    assert {name: [cell.best for cell in found] for name, found in cells.items()} == {
        "successful": [True, False], "killed": [True, False], "jobs": [False, False],
    }  # fmt: skip


def test_stars_can_be_left_out() -> None:
    """They are for metrics of different jobs."""
    found = [*summary_rows([SLOW, FAST], ranked=False), *other_rows([SLOW, FAST], ranked=False)]
    assert not any(cell.best for each in found for cell in each.cells)
