"""The first section of a comparison's page: which algorithm is the best, by how much, and how certain it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from batsched_py.campaigns.best_algorithm import BestAlgorithm, find_best_by_metric
from batsched_py.campaigns.bootstrap import FEW, Estimate, Pairs
from batsched_py.campaigns.comparison import AlgorithmComparison
from batsched_py.reporting.formatting import brief
from batsched_py.reporting.metrics.catalogue import MetricInfo, Unit
from batsched_py.reporting.pictures.html import markup
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: The ratio from which a change is a factor rather than a number of percents.
_FACTOR: Final = 3.0
#: The largest number of algorithms that a sentence names.
_MOST_NAMES: Final = 4


def result_sentences(comparison: AlgorithmComparison) -> Iterator[str]:
    """Yield the parts of the section, as HTML."""
    study = comparison.study
    if len(study.variants) == 1:
        yield _sentence(f"Only {_strong(study.variants[0].name)} was run: there is nothing to compare it with.")
        return
    found = list(find_best_by_metric(comparison))
    if not found:
        yield _sentence("Other jobs ran under some algorithms than under others: none of them is the best.")
    yield from _best(comparison, [one for one in found if one.names and (one.certain or not one.sampled)])
    yield from _uncertain(comparison, [one for one in found if one.names and one.sampled and not one.certain])
    if alike := [one.metric.title for one in found if not one.names]:
        yield _sentence(f"The algorithms do not differ by {escape(_listed(alike))}.")
    if failed := list(dict.fromkeys(outcome.variant for outcome in study.failures)):
        yield markup.paragraph(f"Not ranked, because a run failed (see the notes): {_listed(failed)}.", "none")


def _best(comparison: AlgorithmComparison, found: Sequence[BestAlgorithm]) -> Iterator[str]:
    """Yield a list for each algorithm that is the best by some metrics, those of the most metrics first."""
    by_names: dict[tuple[str, ...], list[BestAlgorithm]] = {}
    for one in found:
        by_names.setdefault(one.names, []).append(one)
    for names, metrics in sorted(by_names.items(), key=lambda item: -len(item[1])):
        yield _sentence(f"{' and '.join(map(_strong, names))} {'is' if len(names) == 1 else 'are'} the best by")
        yield _items(f"{escape(one.metric.title)}: {_advantage(comparison, one)}" for one in metrics)


def _uncertain(comparison: AlgorithmComparison, found: Sequence[BestAlgorithm]) -> Iterator[str]:
    if found:
        yield _sentence("Not certain: the intervals do not separate the best from all others by")
        yield _items(
            f"{escape(one.metric.title)}: {' and '.join(map(_strong, one.names))} with {_advantage(comparison, one)};"
            f" not separate from {escape(_listed(one.rivals))}"
            for one in found
        )


def _advantage(comparison: AlgorithmComparison, one: BestAlgorithm) -> str:
    """Return the best mean, and its difference from the baseline and from the next best algorithm."""
    if one.mean is None:
        return ""
    text = f"<strong>{value_text(one.metric, one.mean.value)}</strong>"
    compared = list[str]()
    for name, pairs in one.others.items():
        first, base = not compared, name == comparison.baseline
        if first or base:
            role = ", the next" if first and len(one.others) > 1 else ""
            compared.append(f"{change_text(one.metric, pairs)} against {escape(displayed(name))}{role}")
    return ", ".join([text, *compared])


def value_text(metric: MetricInfo, value: float) -> str:
    """Return a mean for a sentence: "2.06 h", "75.8 %"."""
    match metric.unit:
        case Unit.SECONDS:
            return brief(value)
        case Unit.SHARE:
            return f"{100 * value:.1f} %"
        case unit:
            return f"{value * unit.factor:.4g} {unit.symbol}".rstrip()


def change_text(metric: MetricInfo, pairs: Pairs) -> str:
    """Return the difference of the first of two algorithms from the second, with its interval in brackets.

    Shares differ by points. Other metrics differ by percents of the second mean, or by a factor from 3 on; by their own
    unit if the ratio is undefined.
    """
    if metric.unit is Unit.SHARE:
        return _interval(pairs.difference, 100.0, 1, " points")
    if pairs.ratio is None:
        return _interval(pairs.difference, metric.unit.factor, 3, f" {metric.unit.symbol}".rstrip())
    if pairs.ratio.value >= _FACTOR:
        value, *ends = pairs.ratio.texts(1)
        return f"{value} times" + (f" [{', '.join(ends)}]" if ends else "")
    low, high = (None if end is None else end - 1 for end in (pairs.ratio.low, pairs.ratio.high))
    return _interval(Estimate(pairs.ratio.value - 1, low, high), 100.0, 1, " %")


def _interval(estimate: Estimate, scale: float, digits: int, unit: str) -> str:
    value, *ends = (_signed(text) for text in estimate.texts(digits, scale))
    return f"{value}{unit}" + (f" [{', '.join(ends)}]" if ends else "")


def _signed(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}") if text.startswith("-") else f"+{text}"


def explain_result(comparison: AlgorithmComparison) -> str:
    """Return a paragraph that explains the numbers of the section."""
    study = comparison.study
    if study.observations == 1:
        return markup.paragraph(
            "This is a single workload: another one could reverse small differences. Several workloads, or seeds of"
            " a model, give intervals."
        )
    few = f" {counted(study.observations, study.observed[:-1])} are few: the intervals are too narrow."
    return markup.paragraph(
        f"Means over {study.observations} {study.observed}. In brackets: {100 * comparison.level:g} % intervals of"
        f" differences on the same {study.observed}, each for itself; an algorithm is separate from another if the"
        f" interval does not contain 0.{few if study.observations < FEW else ''}"
    )


def _items(texts: Iterator[str]) -> str:
    return f"<ul>{''.join(f'<li>{text}</li>' for text in texts)}</ul>"


def _sentence(text: str) -> str:
    return f'<p class="result">{text}</p>'


def _strong(name: str) -> str:
    return f"<strong>{escape(displayed(name))}</strong>"


def _listed(names: Sequence[str]) -> str:
    """Return names as text, of which the first few are listed."""
    shown = [displayed(name) for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        shown.append(counted(len(names) - _MOST_NAMES, "other"))
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
