"""Groups of jobs under several algorithms: their waits, who gains and who loses, with results by hand."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from rich.console import Console

from batsched_py.campaigns.comparison import AlgorithmComparison, compare_algorithms
from batsched_py.campaigns.comparison_files import write_groups, write_json
from batsched_py.campaigns.comparison_page import comparison_page
from batsched_py.campaigns.group_tables import MOST_GROUPS, MOST_ON_PAGE, group_table
from batsched_py.campaigns.group_waits import GroupWaits
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.series import ComparisonSeries
from batsched_py.campaigns.study import Study
from batsched_py.campaigns.variant import Variant
from batsched_py.reporting.api import Schedule, measure_run
from batsched_py.reporting.metrics.job_sample import sample_jobs
from batsched_py.results.records import JobRecord
from tests.unit.reporting.records import record, rejected

BY = ("user",)


def waiting(job_id: str, wait: float, *, run: float = 10.0, hosts: str = "0", **members: Any) -> JobRecord:
    """A job that is submitted at 0, waits and runs."""
    job = record(job_id, submit=0.0, start=wait, finish=wait + run, hosts=hosts)
    return replace(job, job=replace(job.job, members=members))


def outcome(workload: str, variant: str, *jobs: JobRecord, by: tuple[str, ...] = BY) -> Outcome:
    """The outcome of a run with these jobs."""
    schedule = Schedule(variant, jobs, hosts=4, batsim_row={})
    return Outcome(workload, variant, metrics=measure_run(schedule), jobs=sample_jobs(schedule, by))


def compared(*outcomes: Outcome, by: tuple[str, ...] = BY) -> AlgorithmComparison:
    """Compare these runs, which are in the order of a study."""
    workloads = tuple(dict.fromkeys(each.workload for each in outcomes))
    variants = tuple(Variant(name, "easy") for name in dict.fromkeys(each.variant for each in outcomes))
    return compare_algorithms(Study(workloads, variants, outcomes, by=by), [])


def rows(comparison: AlgorithmComparison) -> Mapping[tuple[str, str], GroupWaits]:
    """(Group, algorithm) -> row of the first grouping."""
    return {(row.group, row.variant): row for row in comparison.groups[0].rows}


#: Two jobs of ada wait 0 and 100 s, then 20 s and 40 s; one of bob 30 s, then 90 s; one of nobody as before.
BEFORE = (
    waiting("1", 0.0, user="ada", hosts="0-1"),
    waiting("2", 100.0, run=50.0, user="ada", hosts="0-1"),
    waiting("3", 30.0, user="bob"),
    waiting("4", 7.0, run=1.0),
)
AFTER = (
    waiting("4", 7.0, run=1.0),
    waiting("1", 20.0, user="ada", hosts="0-1"),
    waiting("2", 40.0, run=50.0, user="ada", hosts="0-1"),
    waiting("3", 90.0, user="bob"),
)


def test_jobs_are_paired_with_themselves() -> None:
    """The order of the rows does not matter: ada's jobs wait 20 s less on average, of which one waits longer."""
    found = rows(compared(outcome("w", "old", *BEFORE), outcome("w", "new", *AFTER)))
    assert list(found) == [(group, name) for group in ("ada", "bob", "unknown") for name in ("old", "new")]
    ada = found["ada", "new"]
    assert (ada.jobs, ada.ran, ada.host_time) == (2, 2, 2 * (10 + 50))
    assert (ada.mean_wait, ada.median_wait, ada.p95_wait) == (30.0, 30.0, 20 + 0.95 * 20)
    assert ada.mean_bounded_slowdown == (30 / 10 + 90 / 50) / 2
    assert ada.change is not None
    assert (ada.change.wait, ada.change.earlier, ada.change.same, ada.change.later) == (-20.0, 1, 0, 1)
    assert ada.change.slowdown == ((30 / 10 - 1) + (90 / 50 - 150 / 50)) / 2
    assert found["ada", "old"].change is None
    nobody = found["unknown", "new"].change
    assert nobody is not None
    assert (nobody.wait, nobody.same) == (0.0, 1)


def test_verdicts_say_who_gains_and_who_loses() -> None:
    """In a line for each algorithm but the baseline."""
    runs = outcome("w", "old", *BEFORE), outcome("w", "new", *AFTER), outcome("w", "same", *BEFORE)
    assert list(compared(*runs).groups[0].verdicts()) == [
        "new against old, by user: 1 group gains, most ada (-20.0 s a job); 1 group loses, most bob (+60.0 s a job);"
        " 1 group waits as long",
        "same against old, by user: no group gains; no group loses; 3 groups wait as long",
    ]


def test_jobs_of_all_workloads_count_alike() -> None:
    """A group's mean is over its jobs, not over the means of workloads."""
    second = waiting("1", 400.0, user="ada"), waiting("1", 100.0, user="ada")
    found = rows(
        compared(
            outcome("w", "old", *BEFORE),
            outcome("w", "new", *AFTER),
            outcome("v", "old", second[0]),
            outcome("v", "new", second[1]),
        )
    )
    ada = found["ada", "new"]
    assert (ada.jobs, ada.mean_wait) == (3, (20 + 40 + 100) / 3)
    assert ada.change is not None
    assert ada.change.wait == (20 - 60 - 300) / 3


def test_rejected_jobs_are_not_compared() -> None:
    """They count as jobs; a group of them only has no waits."""
    lost = rejected("3")
    lost = replace(lost, job=replace(lost.job, members={"user": "bob"}))
    found = rows(compared(outcome("w", "old", *BEFORE), outcome("w", "new", lost)))
    bob = found["bob", "new"]
    assert (bob.jobs, bob.ran, bob.mean_wait, bob.change) == (1, 0, None, None)


def test_an_algorithm_that_failed_has_no_rows() -> None:
    """Its means would be of other jobs."""
    failed = Outcome("v", "new", error="no")
    runs = outcome("w", "old", *BEFORE), outcome("w", "new", *AFTER), outcome("v", "old", *BEFORE), failed
    assert {name for _, name in rows(compared(*runs))} == {"old"}


def test_classes_of_sizes_are_in_order() -> None:
    """Not by host seconds; the size is what was requested."""
    by = ("size",)
    jobs = waiting("1", 0.0, hosts="0-3", run=900.0), waiting("2", 0.0), waiting("3", 0.0, hosts="0-2")
    comparison = compared(outcome("w", "old", *jobs, by=by), by=by)
    assert list(comparison.groups[0].groups) == ["1", "3-4"]


def test_accounts_of_slurm_come_first() -> None:
    """The algorithm slurm obeys the member in `slurm`; another member of this name counts if it has none."""
    by = ("account", "qos")
    jobs = (
        waiting("1", 0.0, slurm={"account": "math"}, account="old"),
        waiting("2", 0.0, account="bio", slurm={"qos": "high"}),
        waiting("3", 0.0, slurm="no object", qos=""),
    )
    accounts, qos = compared(outcome("w", "old", *jobs, by=by), by=by).groups
    assert set(accounts.groups) == {"math", "bio", "unknown"}
    assert {group: found[0].jobs for group, found in qos.groups.items()} == {"high": 1, "unknown": 2}


def test_files_have_all_groups(tmp_path: Path) -> None:
    """A row or an object for each group and algorithm; a name that is a formula is no formula in CSV."""
    before = *BEFORE, waiting("5", 1.0, user="=1+1")
    comparison = compared(outcome("w", "old", *before), outcome("w", "new", *AFTER))
    write_groups(tmp_path / "g.csv", ComparisonSeries.of(comparison))
    write_json(tmp_path / "g.json", ComparisonSeries.of(comparison))
    found = list(csv.DictReader((tmp_path / "g.csv").read_text().splitlines()))
    assert [(row["by"], row["group"], row["algorithm"], row["wait_change"]) for row in found] == [
        ("user", "ada", "old", ""),
        ("user", "ada", "new", "-20.0"),
        ("user", "'=1+1", "old", ""),
        ("user", "bob", "old", ""),
        ("user", "bob", "new", "60.0"),
        ("user", "unknown", "old", ""),
        ("user", "unknown", "new", "0.0"),
    ]
    objects = json.loads((tmp_path / "g.json").read_bytes())["groups"]
    assert [one["group"] for one in objects] == [row["group"].lstrip("'") for row in found]
    assert objects[1]["slowdown_change"] == float(found[1]["slowdown_change"])


def test_tables_show_the_largest_groups_and_count_the_others() -> None:
    """A user with many host seconds is at the top; the last line says how many are left out."""
    jobs = [waiting(str(number), 0.0, run=float(number), user=f"u{number}") for number in range(1, MOST_GROUPS + 4)]
    comparison = compared(outcome("w", "old", *jobs), outcome("w", "new", *jobs))
    console = Console(width=120)
    with console.capture() as capture:
        console.print(group_table(comparison.groups[0]))
    lines = capture.get().splitlines()
    assert lines[2].split()[:2] == [f"u{MOST_GROUPS + 3}", "old"]
    assert lines[-1].strip() == "3 groups more in --groups and --json"
    assert len(lines) == 2 + 2 * MOST_GROUPS + 1
    page = comparison_page(replace(comparison, metrics=())).decode()
    assert f"the first {MOST_ON_PAGE} of {MOST_GROUPS + 3}" in page
    assert page.count('<th scope="row">u') == MOST_ON_PAGE


def test_names_are_text_on_a_page() -> None:
    """Names of groups and algorithms are from outside."""
    jobs = [waiting("1", 0.0, user="<script>\x1b[31m")], [waiting("1", 5.0, user="<script>\x1b[31m")]
    comparison = compared(outcome("w", "old", *jobs[0]), outcome("w", "<b>", *jobs[1]))
    page = comparison_page(comparison).decode()
    assert "&lt;script&gt;\\x1b[31m" in page
    assert "<script>\x1b" not in page
    assert "<b>" not in page
