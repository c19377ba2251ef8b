"""The tables of a campaign as files: a row of CSV for each mean, a tabular of LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from batsched_py.campaigns.bootstrap import Estimate
from batsched_py.campaigns.comparison import AlgorithmMean
from batsched_py.campaigns.comparison_files import latex_tabular
from batsched_py.campaigns.results.groups import GroupComparison
from batsched_py.files.atomic_file import write_atomically
from batsched_py.reporting.metrics.catalogue import MetricInfo
from batsched_py.text.display import spreadsheet_cell

_COLUMNS: Final = (
    *("platform", "settings", "group", "algorithm", "metric", "mean", "mean_low", "mean_high"),
    *("ratio", "ratio_low", "ratio_high", "difference", "difference_low", "difference_high"),
    *("smaller", "equal", "larger"),
)


def write_table_csv(path: Path, groups: Sequence[GroupComparison]) -> None:
    """Write a row for each algorithm of each group by each metric, in SI units. OSError."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for one in groups:
        setting = one.group.setting
        place = [spreadsheet_cell(name) for name in (setting.platform, setting.settings, one.group.group)]
        for by in one.comparison.metrics:
            rows.writerows([*place, *_cells(by.metric, mean)] for mean in by.means)
    write_atomically(path, text.getvalue().encode())


def _cells(metric: MetricInfo, one: AlgorithmMean) -> list[str]:
    pairs = one.pairs
    against = [None, None] if pairs is None else [pairs.ratio, pairs.difference]
    counts = ["", "", ""] if pairs is None else [str(n) for n in (pairs.smaller, pairs.equal, pairs.larger)]
    estimates = [cell for estimate in (one.mean, *against) for cell in _estimate(estimate)]
    return [spreadsheet_cell(one.variant), metric.name, *estimates, *counts]


def _estimate(estimate: Estimate | None) -> list[str]:
    values = [None] * 3 if estimate is None else [estimate.value, estimate.low, estimate.high]
    return ["" if value is None else repr(value) for value in values]


def write_table_latex(path: Path, groups: Sequence[GroupComparison]) -> None:
    """Write a tabular for the package booktabs, with a part for each group. OSError."""
    parts = [(one.group.name if len(groups) > 1 else "", one.comparison) for one in groups]
    write_atomically(path, latex_tabular(parts).encode())
