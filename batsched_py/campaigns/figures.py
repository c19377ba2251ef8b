"""Figures of a comparison: their content, and the kind that suits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

from batsched_py.campaigns.bootstrap import Estimate
from batsched_py.campaigns.comparison import AlgorithmComparison, MetricComparison
from batsched_py.campaigns.study import Study
from batsched_py.errors import OptionError
from batsched_py.reporting.metrics.catalogue import MetricInfo
from batsched_py.reporting.pictures.drawing import Picture, draw
from batsched_py.text.display import displayed

if TYPE_CHECKING:
    from batsched_py.reporting.pictures.paper.comparison_figures import Panel, ValueInterval

Kind = Literal["forest", "boxes", "curve"]
#: Kinds of figures: ratios with intervals, values over workloads, means over the values of an option.
KINDS: Final[tuple[Kind, ...]] = ("forest", "boxes", "curve")
_MODULE: Final = "comparison_figures"


class Sweep(Struct, frozen=True):
    """An option that varies from variant to variant of one algorithm.

    Attributes:
        option: its name.
        values: name of a variant -> value, ascending.
    """

    option: str
    values: Mapping[str, float]


def find_sweep(study: Study) -> Sweep | None:
    """Return the numeric option in which the most variants of one algorithm differ, if they differ in no other.

    A sweep has at least two values; None if there is none.
    """
    groups: dict[str, list[str]] = {}
    for variant in study.variants:
        groups.setdefault(str(variant.algorithm), []).append(variant.name)
    sweeps = [sweep for names in groups.values() if (sweep := _sweep_of(study, names)) is not None]
    return max(sweeps, key=lambda sweep: len(sweep.values), default=None)


def _sweep_of(study: Study, names: Sequence[str]) -> Sweep | None:
    options = {name: _options(study, name) for name in names}
    keys = {key for one in options.values() for key in one if key != "seed"}
    differing = [key for key in sorted(keys) if len({repr(one.get(key)) for one in options.values()}) > 1]
    if len(differing) != 1:
        return None
    [key] = differing
    found = {name: one.get(key) for name, one in options.items()}
    numbers = {
        name: float(value)
        for name, value in found.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    if len(numbers) < len(names) or len(set(numbers.values())) < len(names):
        return None
    return Sweep(key, dict(sorted(numbers.items(), key=lambda item: item[1])))


def _options(study: Study, variant: str) -> Mapping[str, Any]:
    """Return the options that a variant ran with."""
    return next((outcome.options for outcome in study.of(variant) if outcome.options), {})


def draw_comparison(
    comparison: AlgorithmComparison,
    kind: Kind | None = None,
    *,
    width: float = 3.5,
    height: float | None = None,
    title: str = "",
) -> Picture:
    """Draw a comparison, a panel for each metric.

    Args:
        comparison: the comparison to draw.
        kind: one of KINDS; None for a curve if an option of an algorithm varies, or else a forest plot.
        width: inches.
        height: inches; None to choose a suitable one.
        title: above it.

    OptionError if there is nothing of that kind to draw, ExtraError without matplotlib (`plot`).
    """
    sweep = find_sweep(comparison.study)
    chosen = kind or ("forest" if sweep is None else "curve")
    looks: dict[str, Any] = {"width": width, "height": height, "title": displayed(title) if title else ""}
    _check(comparison, chosen, sweep)
    match chosen:
        case "forest":
            return draw("compare --figure", _MODULE, lambda paper: _forest(paper, comparison, looks))
        case "boxes":
            return draw("compare --figure", _MODULE, lambda paper: _boxes(paper, comparison, looks))
        case "curve":
            assert sweep is not None  # noqa: S101 - checked above
            return draw("compare --figure", _MODULE, lambda paper: _curves(paper, comparison, sweep, looks))


def _check(comparison: AlgorithmComparison, kind: Kind, sweep: Sweep | None) -> None:
    """Raise OptionError if the figure would be empty."""
    if kind == "curve" and sweep is None:
        raise OptionError("a curve needs variants of one algorithm that differ in one option, which is a number")
    means = [mean for one in comparison.metrics for mean in one.means]
    if kind == "forest" and not any(mean.pairs and mean.pairs.ratio for mean in means):
        raise OptionError(f"a forest plot needs a ratio to {displayed(comparison.baseline)}: there is none")
    if not any(mean.mean for mean in means):
        raise OptionError("no run has a metric to draw")


def _forest(paper: Any, comparison: AlgorithmComparison, looks: Mapping[str, Any]) -> Any:
    panels = [
        _panel(
            paper, one.metric,
            rows=tuple(
                paper.PlotRow(
                    displayed(mean.variant), _interval(paper, None if mean.pairs is None else mean.pairs.ratio)
                )
                for mean in one.means
            ),
        )
        for one in comparison.metrics
    ]  # fmt: skip
    return paper.forest_figure(panels, displayed(comparison.baseline), **looks)


def _boxes(paper: Any, comparison: AlgorithmComparison, looks: Mapping[str, Any]) -> Any:
    panels = [
        _panel(
            paper, one.metric,
            rows=tuple(
                paper.PlotRow(
                    displayed(mean.variant), values=tuple(values_of(comparison.study, mean.variant, one.metric))
                )
                for mean in one.means
            ),
        )
        for one in comparison.metrics
    ]  # fmt: skip
    return paper.boxes_figure(panels, **looks)


def _curves(paper: Any, comparison: AlgorithmComparison, sweep: Sweep, looks: Mapping[str, Any]) -> Any:
    panels = [
        _panel(paper, one.metric, curves=_curves_of(paper, one, sweep, comparison.study)) for one in comparison.metrics
    ]
    return paper.curves_figure(panels, sweep.option, **looks)


def _curves_of(paper: Any, one: MetricComparison, sweep: Sweep, study: Study) -> tuple[Any, ...]:
    """Return the curve of the sweep, then a level for each other algorithm."""
    means = {mean.variant: mean.mean for mean in one.means if mean.mean is not None}
    scale = one.metric.unit.factor
    points = tuple(
        (value, _interval(paper, means[name], scale)) for name, value in sweep.values.items() if name in means
    )
    swept = next(variant for variant in study.variants if variant.name in sweep.values)
    others = [(name, mean) for name, mean in means.items() if name not in sweep.values]
    levels = (paper.Curve(displayed(name), level=_interval(paper, mean, scale)) for name, mean in others)
    return (paper.Curve(displayed(swept.scheduler.name), points), *levels)


def values_of(study: Study, variant: str, metric: MetricInfo) -> list[float]:
    """Return the values of an algorithm on the workloads where it has one, in the unit of tables."""
    found = [metric.of(outcome.metrics) for outcome in study.of(variant) if outcome.metrics is not None]
    return [value * metric.unit.factor for value in found if value is not None]


def _panel(paper: Any, metric: MetricInfo, **content: Any) -> Panel:
    panel: Panel = paper.Panel(metric.heading, metric.more_is_better, **content)
    return panel


def _interval(paper: Any, estimate: Estimate | None, scale: float = 1.0) -> ValueInterval | None:
    if estimate is None:
        return None
    ends = (None if end is None else end * scale for end in (estimate.low, estimate.high))
    interval: ValueInterval = paper.ValueInterval(estimate.value * scale, *ends)
    return interval
