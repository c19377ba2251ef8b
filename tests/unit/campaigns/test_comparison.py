"""Comparisons: what is compared with what, and when it must not be."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from rich.console import Console

from batsched_py.campaigns.bootstrap import Estimate
from batsched_py.campaigns.comparison import (
    AlgorithmComparison,
    compare_algorithms,
    find_best_algorithms,
    find_cautions,
    find_different_jobs,
)
from batsched_py.campaigns.comparison_files import write_csv, write_json, write_latex
from batsched_py.campaigns.comparison_table import comparison_tables, legend
from batsched_py.campaigns.metrics import METRICS, find_metrics
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.series import ComparisonSeries
from batsched_py.campaigns.study import Study
from batsched_py.campaigns.variant import Variant
from batsched_py.errors import OptionError
from batsched_py.reporting.metrics.catalogue import RESOURCE_METRICS
from tests.unit.campaigns.waits_of_algorithms import outcome

METRIC_NAMES = ["mean_wait", "utilisation"]


def study(*waits: tuple[float, float], names: tuple[str, str] = ("easy", "mine")) -> Study:
    """Two algorithms on as many workloads."""
    workloads = tuple(f"w{number}" for number in range(len(waits)))
    outcomes = [
        outcome(workload, name, wait)
        for workload, pair in zip(workloads, waits, strict=True)
        for name, wait in zip(names, pair, strict=True)
    ]
    return Study(workloads, tuple(Variant(name, "easy") for name in names), tuple(outcomes))


def shown(comparison: AlgorithmComparison, *, differences: bool = False) -> str:
    """The tables, as on a terminal of 80 columns."""
    console = Console(width=80)
    with console.capture() as capture:
        for table in comparison_tables(ComparisonSeries.of(comparison).parts, differences=differences):
            console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def best(found: AlgorithmComparison) -> frozenset[str]:
    return find_best_algorithms(found, found.metrics[0])


@pytest.mark.parametrize(
    ("waits", "names"),
    [
        ([(10.0, 5.0)], {"mine"}),
        ([(5.0, 10.0)], {"easy"}),
        ([(10.0, 10.0)], set()),
        ([(10.0, 5.0), (20.0, 15.0), (30.0, 20.0)], {"mine"}),
        ([(5.0, 10.0), (15.0, 20.0), (20.0, 30.0)], {"easy"}),
        ([(10.0, 5.0), (20.0, 25.0), (30.0, 20.0)], set()),
        ([(5.0, 10.0), (25.0, 20.0), (20.0, 30.0)], set()),
    ],
)
def test_the_best_mean_is_marked_where_intervals_show_a_difference(
    waits: list[tuple[float, float]], names: set[str]
) -> None:
    """A single workload has no interval; one that contains 0 shows nothing."""
    assert best(compare_algorithms(study(*waits), find_metrics(["mean_wait"]))) == names


def test_nothing_is_the_best_of_different_jobs() -> None:
    """An algorithm that rejects difficult jobs waits less; if others succeed, the metric is still of the same jobs."""
    pair = [outcome("w0", "easy", 10.0, ran="x", succeeded="x"), outcome("w0", "mine", 5.0, ran="y", succeeded="x")]
    both = Study(("w0",), tuple(Variant(each.variant, "easy") for each in pair), tuple(pair))
    assert best(compare_algorithms(both, find_metrics(["mean_wait"]))) == frozenset()
    pair[1] = outcome("w0", "mine", 5.0, ran="x", succeeded="y")
    both = Study(("w0",), both.variants, tuple(pair))
    assert best(compare_algorithms(both, find_metrics(["mean_wait"]))) == {"mine"}


def test_workloads_are_paired() -> None:
    """Means, ratio and difference of what belongs together; fewer seconds of waiting are better."""
    found = compare_algorithms(study((10.0, 20.0), (30.0, 20.0), (20.0, 20.0)), find_metrics(METRIC_NAMES))
    base, mine = found.metrics[0].means
    assert base.pairs is None
    assert mine.mean is not None
    assert mine.mean.value == 20.0
    assert mine.pairs is not None
    assert (mine.pairs.difference, mine.pairs.ratio) == (
        Estimate(0.0, -10.0, 10.0),
        Estimate(1.0, 0.6666666666666666, 2.0),
    )
    assert (mine.pairs.smaller, mine.pairs.equal, mine.pairs.larger) == (1, 1, 1)


def test_any_algorithm_may_be_the_baseline() -> None:
    """By its name; a name that nobody has is an error."""
    both = study((10.0, 20.0), (20.0, 40.0))
    found = compare_algorithms(both, find_metrics(["mean_wait"]), baseline="mine")
    easy, mine = found.metrics[0].means
    assert mine.pairs is None
    assert easy.pairs is not None
    assert easy.pairs.ratio == Estimate(0.5, 0.5, 0.5)
    with pytest.raises(OptionError, match="baseline yours: unknown; there are: easy, mine"):
        compare_algorithms(both, [], baseline="yours")


def test_an_algorithm_that_failed_once_has_no_metrics() -> None:
    """A mean over the other workloads would be of others than its neighbours'."""
    whole = study((10.0, 20.0), (20.0, 40.0))
    *others, _ = whole.outcomes
    broken = Study(whole.workloads, whole.variants, (*others, Outcome("w1", "mine", error="no", exit_code=3)))
    found = compare_algorithms(broken, find_metrics(METRIC_NAMES))
    assert [entry.mean is None for entry in found.metrics[0].means] == [False, True]
    assert "mine                         1            1      1 of 2" in shown(found)
    against = compare_algorithms(broken, find_metrics(METRIC_NAMES), baseline="mine")
    assert [entry.pairs for entry in against.metrics[0].means] == [None, None]


def test_tables_tell_which_way_is_better() -> None:
    """More is better of utilisation, less of waiting."""
    text = shown(compare_algorithms(study((10.0, 20.0), (20.0, 40.0)), find_metrics(METRIC_NAMES)))
    wait, utilisation = (
        text[text.index(heading) :].splitlines()[:4] for heading in ("mean wait [s]", "utilisation [%]")
    )
    assert wait[0].split() == ["mean", "wait", "[s]", "mean", "ratio", "to", "easy", "95", "%", "interval", "b/s/w"]
    assert wait[3].split() == ["mine", "30.0", "2.000", "[2.000,", "2.000]", "0/0/2"]
    assert utilisation[3].split() == ["mine", "13.33", "0.640", "[0.600,", "0.667]", "0/0/2"]


def test_tables_can_show_differences() -> None:
    """In the unit of the metric."""
    text = shown(compare_algorithms(study((10.0, 20.0), (20.0, 40.0)), find_metrics(["utilisation"])), differences=True)
    assert text.splitlines()[-1].split() == ["mine", "13.33", "-7.50", "[-8.33,", "-6.67]", "0/0/2"]


def test_one_workload_has_no_intervals() -> None:
    """Only ratios, and the reason."""
    found = compare_algorithms(study((10.0, 20.0)), find_metrics(["mean_wait"]))
    assert shown(found).splitlines()[-1].split() == ["mine", "20.0", "2.000"]
    assert "interval" not in shown(found)
    assert legend(found).startswith("One workload is one observation")


def test_names_are_shown_as_they_are() -> None:
    """Brackets are no markup, and long names are folded, not cut."""
    text = shown(compare_algorithms(study((1.0, 2.0), names=("[bold]", "x" * 90)), find_metrics(["mean_wait"])))
    assert "[bold]" in text
    assert text.count("x") >= 90


def test_other_jobs_are_noticed() -> None:
    """Other jobs may have run, or others of the same jobs may have succeeded."""
    outcomes = (
        outcome("w0", "easy", 1.0, ran="a", succeeded="a"),
        outcome("w0", "mine", 1.0, ran="b", succeeded="b"),
        outcome("w1", "easy", 1.0, ran="a", succeeded="a"),
        outcome("w1", "mine", 1.0, ran="a", succeeded="b"),
        outcome("w2", "easy", 1.0, ran="a", succeeded="a"),
        outcome("w2", "mine", 1.0, ran="a", succeeded="a"),
    )
    (found,) = find_different_jobs(
        Study(("w0", "w1", "w2"), (Variant("easy", "easy"), Variant("mine", "easy")), outcomes), "easy"
    )
    assert (found.variant, found.ran, found.succeeded) == ("mine", ("w0",), ("w1",))


def test_each_metric_has_a_title_of_its_own() -> None:
    """It is a field of what was measured."""
    run = outcome("w", "easy", 1.0).metrics
    assert run is not None
    assert all(metric.title == metric.title.strip() != "" for metric in METRICS.values())
    assert len({metric.heading for metric in METRICS.values()}) == len(METRICS)
    assert {"mean_wait", "p99_wait", "mean_bounded_slowdown", "utilisation"} <= {
        name for name, metric in METRICS.items() if metric.of(run) is not None
    }


@pytest.mark.parametrize("names", [["mean_wiat"], ["mean_wait", "mean_wait"]])
def test_metrics_are_asked_for_by_name(names: list[str]) -> None:
    """Once each."""
    with pytest.raises(OptionError, match="metric"):
        find_metrics(names)


def test_the_csv_has_a_row_for_each_run(tmp_path: Path) -> None:
    """With every metric in SI units, to the last bit; failed runs have their error."""
    whole = study((1.0, 2.0), (0.1 + 0.2, 4.0))
    broken = Study(whole.workloads, whole.variants, (*whole.outcomes[:3], Outcome("w1", "mine", error="no, never")))
    write_csv(tmp_path / "runs.csv", ComparisonSeries.of(compare_algorithms(broken, [])))
    rows = list(csv.DictReader((tmp_path / "runs.csv").read_text().splitlines()))
    assert [(row["workload"], row["algorithm"]) for row in rows] == [
        ("w0", "easy"), ("w0", "mine"), ("w1", "easy"), ("w1", "mine"),
    ]  # fmt: skip
    assert float(rows[2]["mean_wait"]) == 0.1 + 0.2
    assert set(METRICS) - RESOURCE_METRICS < set(rows[0])
    assert (rows[0]["jobs"], rows[0]["successful"], rows[0]["rejected"], rows[0]["energy"]) == ("1", "1", "0", "")
    assert (rows[3]["mean_wait"], rows[3]["error"]) == ("", "no, never")


def test_the_json_has_everything(tmp_path: Path) -> None:
    """Algorithms with their options, intervals, runs."""
    write_json(
        tmp_path / "all.json",
        ComparisonSeries.of(compare_algorithms(study((10.0, 20.0), (20.0, 40.0)), find_metrics(["mean_wait"]))),
    )
    content = json.loads((tmp_path / "all.json").read_bytes())
    assert content["algorithms"][1] == {"name": "mine", "algorithm": "easy", "options": {}}
    assert content["figures"]["mean_wait"][1]["against_baseline"]["ratio"] == {"value": 2.0, "low": 2.0, "high": 2.0}
    assert [run["figures"]["mean_wait"] for run in content["runs"]] == [10.0, 20.0, 20.0, 40.0]
    assert (content["baseline"], content["level"], content["workloads"]) == ("easy", 0.95, ["w0", "w1"])


def test_the_latex_is_a_table_for_booktabs(tmp_path: Path) -> None:
    """Characters with a meaning in LaTeX are escaped."""
    names = ("easy", "mine_2(a=50%)")
    write_latex(
        tmp_path / "t.tex",
        ComparisonSeries.of(
            compare_algorithms(study((10.0, 20.0), (20.0, 40.0), names=names), find_metrics(METRIC_NAMES))
        ),
    )
    text = (tmp_path / "t.tex").read_text()
    assert r"\quad mine\_2(a=50\%) & 30.0 & $2.000$ [$2.000$, $2.000$] & $15.0$ [$10.0$, $20.0$] & 0/0/2 \\" in text
    assert r"\multicolumn{5}{l}{utilisation [\%]} \\" in text


def test_cautions_name_different_jobs_and_few_workloads() -> None:
    """One workload has no interval, which could be too narrow."""
    variants = (Variant("easy", "easy"), Variant("fcfs", "fcfs"))
    same = tuple(Outcome("w0", variant.name, ran="a", succeeded="b") for variant in variants)
    assert list(find_cautions(compare_algorithms(Study(("w0",), variants, same), []))) == []
    other = (
        *(Outcome(f"w{number}", "easy", ran="a", succeeded="b") for number in range(2)),
        Outcome("w0", "fcfs", ran="x", succeeded="b"),
        Outcome("w1", "fcfs", ran="a", succeeded="b"),
    )
    assert list(find_cautions(compare_algorithms(Study(("w0", "w1"), variants, other), []))) == [
        "not the same jobs ran under fcfs as under easy on 1 of 2 workloads (w0...): "
        "their figures are of different jobs",
        "2 workloads are few: below 10 the intervals are too narrow",
    ]
