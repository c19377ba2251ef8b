"""Statistics of the comparisons of a series besides intervals: effect sizes, p values, numbers of workloads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from msgspec.structs import replace

from batsched_py.campaigns.comparison import AlgorithmComparison, Inference, observations
from batsched_py.campaigns.pair_tests import PairTests, holm, pairs_needed, rank_biserial, require_scipy, signed_rank_p
from batsched_py.text.wording import counted

#: Position of a comparison, of a metric in it, and of an algorithm in this.
_Place = tuple[int, int, int]


def with_inference(
    comparisons: Sequence[AlgorithmComparison], inference: Inference, use: str
) -> list[AlgorithmComparison]:
    """Return the comparisons of a series with effect sizes and p values, or with the numbers of needed workloads.

    The p values are corrected for the number of all tests of the series. Comparisons on a single workload have none.
    ExtraError without scipy, which `use` needs.
    """
    if not inference.wanted:
        return list(comparisons)
    require_scipy(use)
    tests = {place: _test(one, place, inference, use) for one, place in _pairs(comparisons)}
    if inference.tests:
        corrected = holm([one.p or 0.0 for one in tests.values()])
        tests = {place: replace(one, corrected=p) for (place, one), p in zip(tests.items(), corrected, strict=True)}
    inference = replace(inference, family=len(tests))
    return [_tested(one, number, tests, inference) for number, one in enumerate(comparisons)]


def _pairs(comparisons: Sequence[AlgorithmComparison]) -> Iterator[tuple[AlgorithmComparison, _Place]]:
    """Yield the place of each mean that is compared with that of the baseline on several workloads."""
    for number, one in enumerate(comparisons):
        for metric, by in enumerate(one.metrics if one.study.observations > 1 else ()):
            for variant, mean in enumerate(by.means):
                if mean.pairs is not None:
                    yield one, (number, metric, variant)


def _test(one: AlgorithmComparison, place: _Place, inference: Inference, use: str) -> PairTests:
    by = one.metrics[place[1]]
    variants, count = (by.means[place[2]].variant, one.baseline), one.study.observations
    left, right = (observations(by.metric, one.study.of(variant), count) or [] for variant in variants)
    sign = 1.0 if by.metric.more_is_better else -1.0
    differences = [sign * (value - base) for value, base in zip(left, right, strict=True)]
    found = PairTests()
    if inference.tests:
        found = replace(found, effect=rank_biserial(differences), p=signed_rank_p(differences, use))
    if inference.precision is not None:
        needed = pairs_needed(differences, fmean(right), inference.precision, one.level, use)
        found = replace(found, needed=needed)
    return found


def _tested(
    one: AlgorithmComparison, number: int, tests: dict[_Place, PairTests], inference: Inference
) -> AlgorithmComparison:
    metrics = tuple(
        replace(
            by,
            means=tuple(
                replace(mean, tests=tests.get((number, place, variant))) for variant, mean in enumerate(by.means)
            ),
        )
        for place, by in enumerate(one.metrics)
    )
    return replace(one, metrics=metrics, inference=inference)


def explain_inference(comparison: AlgorithmComparison) -> str:
    """Return a line that explains the columns of these statistics; "" without them."""
    inference, lines = comparison.inference, []
    if not inference.family:
        return ""
    if inference.tests:
        lines.append(
            f"effect: rank-biserial correlation of the pairs, 1 if better than {comparison.baseline} throughout, -1 if "
            f"worse. p: Wilcoxon signed-rank test, by Holm's procedure for {counted(inference.family, 'test')}."
        )
    if inference.precision is not None:
        lines.append(
            f"needed: {comparison.study.observed} for an interval of the difference within "
            f"{100 * inference.precision:g} % of the mean of {comparison.baseline}."
        )
    return " ".join(lines)
