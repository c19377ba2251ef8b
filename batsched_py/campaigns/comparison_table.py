"""A comparison as tables for terminals: final states of the jobs, then a table for each metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from rich import box
from rich.table import Table
from rich.text import Text

from batsched_py.campaigns.comparison import AlgorithmComparison, AlgorithmMean, MetricComparison
from batsched_py.campaigns.inference import explain_inference
from batsched_py.campaigns.inference_texts import test_texts
from batsched_py.campaigns.metrics import RATIO_DIGITS, balance
from batsched_py.campaigns.series import SeriesPart, dimensions
from batsched_py.campaigns.study import Study
from batsched_py.reporting.metrics.catalogue import MetricInfo
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, counted, spelled

#: Final states of jobs: fields of RunMetrics.
_STATES: Final = ("successful", "failed", "walltime_reached", "killed", "rejected")
#: Characters of the first column, the same in all tables so that they line up.
_NAMES: Final = 24


def comparison_tables(parts: Sequence[SeriesPart], *, differences: bool = False) -> Iterator[Table]:
    """Yield the table of final states, and one for each metric: ratios to the baseline, or differences from it.

    Several parts are rows of the same tables, with a column for each value that distinguishes them.
    """
    yield _states_table([part.comparison.study for part in parts])
    for place in range(len(parts[0].comparison.metrics)):
        yield _metric_table(parts, place, differences=differences)


def legend(*comparisons: AlgorithmComparison) -> str:
    """Return a few lines that explain the tables of one comparison, or of several together."""
    first, study = comparisons[0], comparisons[0].study
    counts = sorted({one.study.observations for one in comparisons})
    what = study.observed
    seeds = _explain_seeds(study) + _explain_window(study)
    if counts[-1] == 1:
        return f"One workload is one observation, so there are no intervals. Use more workloads.{seeds}"
    count = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    return (
        f"Means over {count} {what}. Intervals: percentile bootstrap over {what}, {first.resamples} "
        f"resamples. b/s/w: on how many {what} better, the same, worse than {first.baseline}.{seeds} "
        f"{explain_inference(first)}"
    ).rstrip()


def _explain_window(study: Study) -> str:
    """Explain which part of the runs was measured; "" for whole ones."""
    if study.warm_up is not None:
        return f" Warm-up cut: {study.warm_up}; metrics count the jobs submitted from then on, and hosts' time."
    if study.window.whole:
        return ""
    return f" Measured: jobs submitted {study.window}; hosts' time is cut there, too."


def _explain_seeds(study: Study) -> str:
    """Explain the part of the algorithms' seeds; "" without seeds."""
    if not study.seeds:
        return ""
    names = ", ".join(variant.name for variant in study.variants if variant.takes_seed)
    text = f" Run once for each of {counted(len(study.seeds), 'seed')}: {names}; others do not depend on it."
    if study.observed == "seeds":
        return f"{text} Intervals apply to this workload only."
    return f"{text} What is compared on a workload is the mean over its seeds."


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(Text(displayed(headings[0])), overflow="fold", min_width=_NAMES)
    for heading in headings[1:]:
        table.add_column(Text(displayed(heading)), justify="right")
    return table


def _add(table: Table, cells: Sequence[str]) -> None:
    """Add a row of plain text: brackets in names are no markup."""
    table.add_row(*(Text(displayed(cell)) for cell in cells))


def _states_table(studies: Sequence[Study]) -> Table:
    """Count final states over all workloads; runs that failed or are missing have no counts."""
    counts: dict[str, Counter[str]] = {variant.name: Counter() for study in studies for variant in study.variants}
    failed = Counter(outcome.variant for study in studies for outcome in study.failures)
    workloads = sum(len(study.workloads) for study in studies)
    for outcome in chain.from_iterable(study.outcomes for study in studies):
        if outcome.metrics is not None:
            counts[outcome.variant].update({name: getattr(outcome.metrics, name) for name in ("jobs", *_STATES)})
    states = [state for state in _STATES if any(count[state] for count in counts.values())]
    headings = [state.replace("_", " ") for state in states]
    table = _table("jobs", "all", *headings, *(["no result"] if failed else []))
    for name, count in counts.items():
        runs = [f"{failed[name]} of {workloads}"] if failed else []
        _add(table, [name, str(count["jobs"]), *(str(count[state]) for state in states), *runs])
    return table


def _metric_table(parts: Sequence[SeriesPart], place: int, *, differences: bool) -> Table:
    """Return the table of the metric at this place, with the parts below each other."""
    most = max(parts, key=lambda part: part.comparison.study.observations).comparison
    names = dimensions(parts)
    metric = most.metrics[place].metric
    first, *headings = metric_headings(most, metric, differences=differences)
    table = _table(first, *names, *headings)
    means = [mean for part in parts for mean in part.comparison.metrics[place].means]
    shown = metric.rounded(mean.mean.value for mean in means if mean.mean is not None)
    apart = metric.rounded(mean.pairs.difference.value for mean in means if mean.pairs is not None)
    for part in parts:
        values = [spelled(part.values.get(name, NOTHING)) for name in names]
        one = part.comparison.metrics[place]
        for name, *cells in _rows(part.comparison, one, (shown, apart), differences=differences):
            _add(table, [name, *values, *cells])
    return table


def metric_headings(comparison: AlgorithmComparison, metric: MetricInfo, *, differences: bool = False) -> list[str]:
    """Return the headings of a metric's table: the metric, the mean, its ratio to or difference from the baseline..."""
    against = f"minus {comparison.baseline}" if differences else f"ratio to {comparison.baseline}"
    if comparison.study.observations == 1:
        return [metric.heading, "value", against]
    interval, inference = f"{100 * comparison.level:g} % interval", comparison.inference
    tests = [*(("effect", "p") if inference.tests else ()), *(("needed",) if inference.precision is not None else ())]
    return [metric.heading, "mean", against, interval, "b/s/w", *(tests if inference.family else ())]


def metric_rows(
    comparison: AlgorithmComparison, one: MetricComparison, *, differences: bool = False
) -> Iterator[list[str]]:
    """Yield the cells of each algorithm, as many as there are headings at most, with all digits of the metric."""
    return _rows(comparison, one, (one.metric, one.metric), differences=differences)


def _rows(
    comparison: AlgorithmComparison, one: MetricComparison, metrics: tuple[MetricInfo, MetricInfo], *, differences: bool
) -> Iterator[list[str]]:
    """Yield the same with the digits that two forms of the metric have, for its means and for differences of these."""
    columns = len(metric_headings(comparison, one.metric))
    for mean in one.means:
        row = _row(*metrics, mean, differences=differences)
        yield [*row, *(test_texts(comparison.inference, mean.tests) if mean.pairs is not None else ())][:columns]


def _row(metric: MetricInfo, apart: MetricInfo, one: AlgorithmMean, *, differences: bool) -> list[str]:
    names = [one.variant, NOTHING if one.mean is None else metric.text(one.mean.value)]
    if one.pairs is None:
        return names
    if differences:
        against = _cells(one.pairs.difference.texts(apart.digits, apart.unit.factor))
    else:
        against = _cells([] if one.pairs.ratio is None else one.pairs.ratio.texts(RATIO_DIGITS))
    return [*names, *against, balance(metric, one.pairs)]


def _cells(texts: Sequence[str]) -> list[str]:
    """Return a cell for a value, if there is one, and one for its interval."""
    value, *interval = texts or [NOTHING]
    return [value, f"[{', '.join(interval)}]" if interval else NOTHING]
