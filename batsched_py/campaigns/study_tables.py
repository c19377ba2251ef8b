"""Studies and comparisons as columns for data frames, and as HTML for notebooks."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from batsched_py.campaigns.metrics import METRICS, SHOWN
from batsched_py.loading import require
from batsched_py.reporting.metrics.catalogue import METRIC_INFO
from batsched_py.reporting.pictures.html.markup import paragraph, plain_table
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, counted

if TYPE_CHECKING:
    from pandas import DataFrame

    from batsched_py.campaigns.bootstrap import Estimate
    from batsched_py.campaigns.comparison import AlgorithmComparison
    from batsched_py.campaigns.study import Outcome, Study

#: Maximum number of runs of a study that a notebook shows; a data frame has all.
MOST_RUNS: Final = 50


def data_frame(columns: Mapping[str, Sequence[Any]], use: str) -> DataFrame:
    """Return columns as a DataFrame of pandas; `use` needs it. ExtraError."""
    require("pandas", use, "notebook")
    table: DataFrame = importlib.import_module("pandas").DataFrame(columns)
    return table


def study_columns(study: Study) -> dict[str, list[Any]]:
    """Return a row for each run: its names and seed, all metrics in SI units, and the error, "" if there is none."""
    outcomes = study.outcomes
    columns: dict[str, list[Any]] = {
        "workload": [outcome.workload for outcome in outcomes],
        "algorithm": [outcome.variant for outcome in outcomes],
        "seed": [study.seed_of(outcome) for outcome in outcomes],
    }
    values = [{} if outcome.metrics is None else outcome.metrics.by_name for outcome in outcomes]
    columns |= {name: [one.get(name) for one in values] for name in METRIC_INFO}
    return {**columns, "error": [outcome.error for outcome in outcomes]}


def comparison_columns(comparison: AlgorithmComparison) -> dict[str, list[Any]]:
    """Return a row for each metric and algorithm: the mean, and how it compares with the baseline; SI units.

    The columns of intervals end in `_low` and `_high`. A missing value is None.
    """
    rows: list[dict[str, Any]] = []
    for one in comparison.metrics:
        for mean in one.means:
            pairs = mean.pairs
            row = {"metric": one.metric.name, "algorithm": mean.variant, **_ends("mean", mean.mean)}
            row |= _ends("ratio", None if pairs is None else pairs.ratio)
            row |= _ends("difference", None if pairs is None else pairs.difference)
            rows.append(row)
    names = ("metric", "algorithm", *(name for kind in ("mean", "ratio", "difference") for name in _ends(kind, None)))
    return {name: [row[name] for row in rows] for name in names}


def study_html(study: Study) -> str:
    """Return a table with a row for each run, with the default metrics of comparisons."""
    metrics = [METRICS[name] for name in SHOWN]

    def cells(outcome: Outcome) -> list[str]:
        run = outcome.metrics
        values = [None if run is None else metric.of(run) for metric in metrics]
        texts = [
            NOTHING if value is None else metric.text(value) for metric, value in zip(metrics, values, strict=True)
        ]
        return [escape(displayed(text)) for text in (outcome.workload, outcome.variant, *texts, outcome.error)]

    caption = f"{counted(len(study.variants), 'algorithm')} on {counted(len(study.workloads), 'workload')}"
    heads = ["workload", "algorithm", *(metric.heading for metric in metrics), "error"]
    table = plain_table(caption, heads, map(cells, study.outcomes[:MOST_RUNS]))
    left = len(study.outcomes) - MOST_RUNS
    return table + (paragraph(f"and {counted(left, 'more run', 'more runs')}") if left > 0 else "")


def _ends(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Return a value and the ends of its interval, as columns."""
    if estimate is None:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
