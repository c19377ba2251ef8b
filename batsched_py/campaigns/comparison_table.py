"""A comparison as tables for people: what became of the jobs, then a table for each figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rich import box
from rich.table import Table
from rich.text import Text

from batsched_py.campaigns.bootstrap import Estimate
from batsched_py.campaigns.comparison import Comparison, Entry, Section
from batsched_py.campaigns.figures import Figure
from batsched_py.campaigns.study import Study, takes_seed
from batsched_py.display import displayed
from batsched_py.wording import NOTHING, counted

#: Of ratios, after the point.
_RATIO_DIGITS: Final = 3
#: What became of jobs: fields of RunFigures.
_STATES: Final = ("successful", "failed", "walltime_reached", "killed", "rejected")
#: Columns that each table has room for, so that they look alike.
_NAMES: Final = 24


def comparison_tables(comparison: Comparison, *, differences: bool = False) -> Iterator[Table]:
    """What became of the jobs, and a table for each figure: ratios to the baseline, or differences from it."""
    yield _jobs(comparison.study)
    for section in comparison.sections:
        yield _section(comparison, section, differences=differences)


def legend(comparison: Comparison) -> str:
    """What the tables show, in a few lines."""
    study = comparison.study
    count, what, chance = study.observations, study.observed, _chance(study)
    if count == 1:
        return f"One workload is one observation, so there are no intervals: more of them tell more.{chance}"
    return (
        f"Means over {count} {what}. Intervals: percentile bootstrap over {what}, {comparison.resamples} "
        f"resamples. b/s/w: on how many {what} better, the same, worse than {comparison.baseline}.{chance}"
    )


def _chance(study: Study) -> str:
    """What the seeds of algorithms are for."""
    if not study.seeds:
        return ""
    names = ", ".join(variant.name for variant in study.variants if takes_seed(variant))
    said = f" Run once for each of {counted(len(study.seeds), 'seed')}: {names}; others do not depend on it."
    if study.observed == "seeds":
        return f"{said} Intervals are of this one workload: they tell nothing of others."
    return f"{said} What is compared on a workload is the mean over its seeds."


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(Text(displayed(headings[0])), overflow="fold", min_width=_NAMES)
    for heading in headings[1:]:
        table.add_column(Text(displayed(heading)), justify="right")
    return table


def _add(table: Table, cells: Sequence[str]) -> None:
    """A row of text as it is: brackets are no markup."""
    table.add_row(*(Text(displayed(cell)) for cell in cells))


def _jobs(study: Study) -> Table:
    """Final states, summed over the workloads; a failed run counts in none."""
    counts: dict[str, Counter[str]] = {variant.name: Counter() for variant in study.variants}
    failed = Counter(outcome.variant for outcome in study.failures)
    for outcome in study.outcomes:
        if outcome.figures is not None:
            counts[outcome.variant].update({name: getattr(outcome.figures, name) for name in ("jobs", *_STATES)})
    states = [state for state in _STATES if any(count[state] for count in counts.values())]
    headings = [state.replace("_", " ") for state in states]
    table = _table("jobs", "all", *headings, *(["failed runs"] if failed else []))
    for name, count in counts.items():
        runs = [f"{failed[name]} of {len(study.workloads)}"] if failed else []
        _add(table, [name, str(count["jobs"]), *(str(count[state]) for state in states), *runs])
    return table


def _section(comparison: Comparison, section: Section, *, differences: bool) -> Table:
    against = f"minus {comparison.baseline}" if differences else f"ratio to {comparison.baseline}"
    if comparison.study.observations > 1:
        table = _table(section.figure.heading, "mean", against, f"{100 * comparison.level:g} % interval", "b/s/w")
    else:
        table = _table(section.figure.heading, "value", against)
    for entry in section.entries:
        _add(table, _row(section.figure, entry, differences=differences)[: len(table.columns)])
    return table


def _row(figure: Figure, entry: Entry, *, differences: bool) -> list[str]:
    mean = NOTHING if entry.mean is None else figure.text(entry.mean.value)
    pairs = entry.pairs
    if pairs is None:
        return [entry.variant, mean]
    better, worse = (pairs.larger, pairs.smaller) if figure.more_is_better else (pairs.smaller, pairs.larger)
    if differences:
        against = _told(pairs.difference, figure.scale, figure.digits)
    else:
        against = _told(pairs.ratio, 1.0, _RATIO_DIGITS)
    return [entry.variant, mean, *against, f"{better}/{pairs.equal}/{worse}"]


def _told(estimate: Estimate | None, scale: float, digits: int) -> list[str]:
    """A value and its interval."""
    if estimate is None:
        return [NOTHING, NOTHING]
    value, low, high = (
        NOTHING if number is None else f"{number * scale:z.{digits}f}"
        for number in (estimate.value, estimate.low, estimate.high)
    )
    return [value, NOTHING if estimate.low is None else f"[{low}, {high}]"]
