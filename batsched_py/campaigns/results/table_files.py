"""The tables of a campaign as files: a row of CSV for each mean, a tabular of LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from batsched_py.campaigns.comparison import AlgorithmMean
from batsched_py.campaigns.comparison_files import latex_tabular
from batsched_py.campaigns.pair_tests import PairTests
from batsched_py.campaigns.results.groups import GroupComparison
from batsched_py.files.atomic_file import write_atomically
from batsched_py.files.table_file import csv_rows
from batsched_py.reporting.metrics.catalogue import MetricInfo

_COLUMNS: Final = (
    *("platform", "settings", "group", "algorithm", "metric", "mean", "mean_low", "mean_high"),
    *("ratio", "ratio_low", "ratio_high", "difference", "difference_low", "difference_high"),
    *("smaller", "equal", "larger", "effect", "p", "p_holm", "needed"),
)


def write_table_csv(path: Path, groups: Sequence[GroupComparison]) -> None:
    """Write a row for each algorithm of each group by each metric, in SI units. OSError."""
    write_atomically(path, csv_rows(table_rows(groups)))


def table_rows(groups: Sequence[GroupComparison]) -> list[Sequence[object]]:
    """Return the names of the columns, then the rows."""
    rows: list[Sequence[object]] = [_COLUMNS]
    for one in groups:
        setting = one.group.setting
        place = (setting.platform, setting.settings, one.group.group)
        rows += ([*place, *_cells(by.metric, mean)] for by in one.comparison.metrics for mean in by.means)
    return rows


def _cells(metric: MetricInfo, one: AlgorithmMean) -> Iterator[object]:
    pairs = one.pairs
    yield from (one.variant, metric.name)
    for estimate in (one.mean, *((None, None) if pairs is None else (pairs.ratio, pairs.difference))):
        yield from (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)
    yield from (None, None, None) if pairs is None else (pairs.smaller, pairs.equal, pairs.larger)
    tests = one.tests or PairTests()
    yield from (tests.effect, tests.p, tests.corrected, tests.needed)


def write_table_latex(path: Path, groups: Sequence[GroupComparison]) -> None:
    """Write a tabular for the package booktabs, with a part for each group. OSError."""
    parts = [(one.group.name if len(groups) > 1 else "", one.comparison) for one in groups]
    write_atomically(path, latex_tabular(parts).encode())
