"""The best algorithm by each metric, compared with each of the others rather than with the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from batsched_py.campaigns.bootstrap import Bootstrap, Estimate, Pairs
from batsched_py.campaigns.comparison import (
    AlgorithmComparison,
    MetricComparison,
    find_different_jobs,
    observations,
)
from batsched_py.reporting.metrics.best import find_best
from batsched_py.reporting.metrics.catalogue import MetricInfo


class BestAlgorithm(Struct, frozen=True):
    """The best algorithms by a metric, and how they differ from the others.

    Attributes:
        metric: the metric.
        names: the algorithms with the best mean, of which there may be several; empty if means do not differ.
        mean: the best mean; None if `names` is empty.
        others: other algorithm -> pairs of the best with it; the nearest one comes first. Without those that have no
            mean.
        sampled: True if there are several observations, so that there are intervals.
    """

    metric: MetricInfo
    names: tuple[str, ...]
    mean: Estimate | None
    others: Mapping[str, Pairs]
    sampled: bool

    @property
    def rivals(self) -> tuple[str, ...]:
        """The other algorithms from which the interval of the difference does not separate the best."""
        return tuple(name for name, pairs in self.others.items() if not pairs.difference.nonzero)

    @property
    def certain(self) -> bool:
        """True if intervals separate the best from all others."""
        return self.sampled and not self.rivals


def find_best_by_metric(comparison: AlgorithmComparison) -> Iterator[BestAlgorithm]:
    """Yield the best algorithms by each metric; nothing if other jobs ran under an algorithm than under the baseline.

    The intervals are those of the comparison: percentile bootstrap of paired observations.
    """
    study = comparison.study
    if any(found.ran for found in find_different_jobs(study, comparison.baseline)):
        return
    bootstrap = Bootstrap(study.observations, level=comparison.level, resamples=comparison.resamples)
    for one in comparison.metrics:
        yield _find_best(comparison, one, bootstrap)


def _find_best(comparison: AlgorithmComparison, one: MetricComparison, bootstrap: Bootstrap) -> BestAlgorithm:
    known = {each.variant: each.mean for each in one.means if each.mean is not None}
    marks = find_best(one.metric, [mean.value for mean in known.values()])
    names = tuple(name for name, marked in zip(known, marks, strict=True) if marked)
    sampled = comparison.study.observations > 1
    if not names:
        return BestAlgorithm(one.metric, (), None, {}, sampled)
    mean = known[names[0]]
    nearest = sorted(
        (name for name in known if name not in names), key=lambda name: abs(known[name].value - mean.value)
    )
    found = {
        name: observations(one.metric, comparison.study.of(name), bootstrap.count) for name in (names[0], *nearest)
    }
    best = found[names[0]] or []
    others = {name: bootstrap.compare(best, found[name] or []) for name in nearest}
    return BestAlgorithm(one.metric, names, mean, others, sampled)
