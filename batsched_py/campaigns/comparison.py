"""The comparison of a study's algorithms with one of them, metric by metric, paired by workload.

One workload is one observation. Its jobs wait for each other, so they are not independent observations. Algorithms are
paired on the same workload, which removes the variance between workloads from their difference.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from batsched_py.campaigns.bootstrap import FEW, LEVEL, RESAMPLES, Bootstrap, Estimate, Pairs
from batsched_py.campaigns.data_frame import data_frame
from batsched_py.campaigns.group_waits import GroupedWaits, compare_groups_by
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.pair_tests import PairTests
from batsched_py.campaigns.study import Study
from batsched_py.errors import OptionError
from batsched_py.reporting.metrics.best import find_best
from batsched_py.reporting.metrics.catalogue import MetricInfo
from batsched_py.reporting.metrics.same_jobs import JobMarks, other_jobs
from batsched_py.text.representation import Brief
from batsched_py.text.wording import unknown

if TYPE_CHECKING:
    from pandas import DataFrame

    from batsched_py.campaigns.figure_kinds import Kind
    from batsched_py.reporting.pictures.drawing import Picture


class AlgorithmMean(Struct, frozen=True):
    """One algorithm by one metric.

    Attributes:
        variant: the algorithm's name.
        mean: over the workloads; None if it failed on one, or the metric has no meaning there.
        pairs: its values paired with those of the baseline, workload by workload; None for the baseline itself, or if
            either has no mean.
        tests: of these pairs, if they were asked for.
    """

    variant: str
    mean: Estimate | None
    pairs: Pairs | None = None
    tests: PairTests | None = None


class Inference(Struct, frozen=True):
    """Statistics besides intervals.

    Attributes:
        tests: True for effect sizes and p values.
        precision: the wanted precision of differences, as a share of the baseline's mean; None for none.
        family: the number of tests for which p values are corrected together; 0 before there are any.
    """

    tests: bool = False
    precision: float | None = None
    family: int = 0

    @property
    def wanted(self) -> bool:
        """True if there are any."""
        return self.tests or self.precision is not None


class MetricComparison(Brief, frozen=True):
    """All algorithms by one metric, in the order of the study."""

    metric: MetricInfo
    means: tuple[AlgorithmMean, ...]


class AlgorithmComparison(Brief, frozen=True):
    """All algorithms by all metrics.

    Attributes:
        study: the runs.
        baseline: name of the algorithm that the others are compared with.
        level: confidence level of the intervals, between 0 and 1.
        resamples: how many resamples the intervals are made of.
        metrics: one comparison for each metric.
        groups: one comparison of groups of jobs for each `by` of the study.
        inference: which statistics its means have besides intervals.
    """

    study: Study
    baseline: str
    level: float
    resamples: int
    metrics: tuple[MetricComparison, ...]
    groups: tuple[GroupedWaits, ...] = ()
    inference: Inference = Inference()

    def columns(self) -> dict[str, list[Any]]:
        """Return means, ratios and differences with their intervals as columns: a row for each metric and algorithm."""
        rows: list[dict[str, Any]] = []
        for one in self.metrics:
            for mean in one.means:
                pairs = mean.pairs
                row = {"metric": one.metric.name, "algorithm": mean.variant, **_ends("mean", mean.mean)}
                row |= _ends("ratio", None if pairs is None else pairs.ratio)
                row |= _ends("difference", None if pairs is None else pairs.difference)
                rows.append(row | test_columns(self.inference, mean.tests))
        names = (
            "metric",
            "algorithm",
            *(name for kind in ("mean", "ratio", "difference") for name in _ends(kind, None)),
            *test_columns(self.inference, None),
        )
        return {name: [row[name] for row in rows] for name in names}

    def frame(self) -> DataFrame:
        """Return the same as a DataFrame of pandas. ExtraError without it."""
        return data_frame(self.columns(), "AlgorithmComparison.frame")

    def plot(
        self, kind: Kind | None = None, *, width: float = 3.5, height: float | None = None, title: str = ""
    ) -> Picture:
        """Draw the comparison, as `compare --figure` does: a notebook shows it, its `save` writes it.

        `kind` is forest, boxes or curve, None for the one that suits; `width` and `height` are inches. OptionError if
        there is nothing of that kind to draw, ExtraError without matplotlib (`plot`).
        """
        figures = importlib.import_module("batsched_py.campaigns.figures")  # it imports this module
        picture: Picture = figures.draw_comparison(self, kind, width=width, height=height, title=title)
        return picture

    def _repr_html_(self) -> str:
        page = importlib.import_module("batsched_py.campaigns.comparison_page")  # it imports this module
        return str(page.results_html(self))


def compare_algorithms(
    study: Study,
    metrics: Sequence[MetricInfo],
    *,
    baseline: str | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> AlgorithmComparison:
    """Compare the algorithms of a study with the one called `baseline`, the first if None.

    Intervals come from the differences and ratios on several workloads; with one workload there are none. An algorithm
    that failed on a workload has no means: they would be over other workloads than those of the others. Where
    algorithms were run with several seeds, the observation of a workload is its mean over the seeds; with one workload,
    each seed is an observation. OptionError if there is no such baseline.
    """
    names = [variant.name for variant in study.variants]
    base = find_baseline(names, baseline)
    bootstrap = Bootstrap(study.observations, level=level, resamples=resamples)
    runs = {name: study.of(name) for name in names}
    return AlgorithmComparison(
        study,
        base,
        level,
        resamples,
        tuple(_compare_by(metric, runs, base, bootstrap) for metric in metrics),
        tuple(compare_groups_by(study.job_samples, by, base) for by in study.by),
    )


def find_baseline(names: Sequence[str], wanted: str | None) -> str:
    """Return the name of the baseline: the first algorithm if none is wanted. OptionError for an unknown name."""
    if wanted is not None and wanted not in names:
        raise OptionError(f"baseline {wanted}: {unknown(wanted, names)}")
    return names[0] if wanted is None else wanted


def _compare_by(
    metric: MetricInfo, runs: Mapping[str, Sequence[Outcome]], base: str, bootstrap: Bootstrap
) -> MetricComparison:
    values = {name: observations(metric, outcomes, bootstrap.count) for name, outcomes in runs.items()}
    right = values[base]
    return MetricComparison(
        metric,
        tuple(
            AlgorithmMean(
                name,
                None if left is None else bootstrap.mean(left),
                None if name == base or left is None or right is None else bootstrap.compare(left, right),
            )
            for name, left in values.items()
        ),
    )


def observations(metric: MetricInfo, outcomes: Sequence[Outcome], count: int) -> list[float] | None:
    """Return `count` observations, each the mean of its runs; None if a run has no value."""
    found = [None if outcome.metrics is None else metric.of(outcome.metrics) for outcome in outcomes]
    values = [value for value in found if value is not None]
    if len(values) < len(found):
        return None
    runs = len(values) // count
    return [math.fsum(values[first : first + runs]) / runs for first in range(0, len(values), runs)]


class DifferentJobs(Struct, frozen=True):
    """Workloads on which other jobs ran, or succeeded, under an algorithm than under the baseline.

    Attributes:
        variant: the algorithm's name.
        ran: workloads on which other jobs ran.
        succeeded: workloads on which the same jobs ran, but others of them succeeded.
    """

    variant: str
    ran: tuple[str, ...]
    succeeded: tuple[str, ...]


def find_different_jobs(study: Study, baseline: str) -> list[DifferentJobs]:
    """Find the algorithms whose metrics are not over the same jobs as those of the baseline."""
    base = study.of(baseline)
    found = []
    for variant in study.variants:
        pairs = zip(study.of(variant.name), base, strict=True)
        whole = [(left, right) for left, right in pairs if not left.error and not right.error]
        others = [(left.workload, other_jobs(_marks_of(left), _marks_of(right))) for left, right in whole]
        ran = tuple(workload for workload, what in others if what == "ran")
        succeeded = tuple(workload for workload, what in others if what == "succeeded")
        if ran or succeeded:
            found.append(DifferentJobs(variant.name, ran, succeeded))
    return found


def _marks_of(outcome: Outcome) -> JobMarks:
    return JobMarks(outcome.ran, outcome.succeeded)


def find_best_algorithms(comparison: AlgorithmComparison, one: MetricComparison) -> frozenset[str]:
    """Find the algorithms whose mean is marked as the best: by the rule of metrics.best, where intervals agree.

    With several observations there must be a difference from the baseline, so that the interval of the difference does
    not contain 0; if the baseline is the best itself, this must hold for each algorithm that is not. Nothing is marked
    if other jobs ran under an algorithm than under the baseline.
    """
    if any(found.ran for found in find_different_jobs(comparison.study, comparison.baseline)):
        return frozenset()
    values = [None if each.mean is None else each.mean.value for each in one.means]
    marks = dict(zip(one.means, find_best(one.metric, values), strict=True))
    best = {each.variant for each, marked in marks.items() if marked}
    differing = {each.variant for each in one.means if each.pairs is not None and each.pairs.difference.nonzero}
    if comparison.baseline not in best:
        return frozenset(best & differing)
    known = {each.variant for each in one.means if each.mean is not None}
    return frozenset(best) if known - best <= differing else frozenset()


def find_cautions(comparison: AlgorithmComparison) -> Iterator[str]:
    """Find the reasons why means may not compare, or intervals may be too narrow, a line each."""
    study = comparison.study
    count = len(study.workloads)
    for found in find_different_jobs(study, comparison.baseline):
        for workloads, what in ((found.ran, "ran"), (found.succeeded, "succeeded")):
            if workloads:
                yield (
                    f"not the same jobs {what} under {found.variant} as under {comparison.baseline} on "
                    f"{len(workloads)} of {count} workloads ({workloads[0]}...): their figures are of different jobs"
                )
    if study.warm_up is not None and (late := study.warm_up.unsteady):
        yield (
            f"no end of the warm-up on {len(late)} of {count} workloads ({late[0]}...): half of their jobs are cut, "
            "use more jobs or a lower load"
        )
    if 1 < study.observations < FEW:
        yield f"{study.observations} {study.observed} are few: below {FEW} the intervals are too narrow"


def test_columns(inference: Inference, tests: PairTests | None) -> dict[str, float | int | None]:
    """Return the statistics besides intervals as columns, those that there are; None for one that is undefined."""
    found = PairTests() if tests is None else tests
    columns: dict[str, float | int | None] = {}
    if inference.tests:
        columns |= {"effect": found.effect, "p": found.p, "p_holm": found.corrected}
    if inference.precision is not None:
        columns["needed"] = found.needed
    return columns


def _ends(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Return a value and the ends of its interval, as columns."""
    if estimate is None:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
