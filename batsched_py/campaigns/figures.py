"""Figures of a comparison: their content, and the kind that suits it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from batsched_py.campaigns.bootstrap import Estimate
from batsched_py.campaigns.comparison import AlgorithmComparison, AlgorithmMean, MetricComparison
from batsched_py.campaigns.figure_kinds import Kind
from batsched_py.campaigns.points import ALGORITHM, Point, is_number, label
from batsched_py.campaigns.series import SeriesPart, dimensions
from batsched_py.campaigns.study import Study
from batsched_py.errors import OptionError
from batsched_py.reporting.metrics.catalogue import MetricInfo
from batsched_py.reporting.pictures.drawing import Picture, draw
from batsched_py.text.display import displayed

if TYPE_CHECKING:
    from batsched_py.reporting.pictures.paper.comparison_figures import Panel, ValueInterval

_MODULE: Final = "comparison_figures"
_USE: Final = "compare --figure"


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
    comparison: AlgorithmComparison | Sequence[SeriesPart],
    kind: Kind | None = None,
    *,
    width: float = 3.5,
    height: float | None = None,
    title: str = "",
) -> Picture:
    """Draw a comparison, or those of a series, a panel for each metric.

    Args:
        comparison: the comparison to draw, or the parts of a series.
        kind: forest, boxes or curve; None for a curve if something varies that is a number, which is what distinguishes
            the parts, or an option of an algorithm; or else a forest plot.
        width: inches.
        height: inches; None to choose a suitable one.
        title: above it.

    OptionError if there is nothing of that kind to draw, ExtraError without matplotlib (`plot`).
    """
    parts = [SeriesPart({}, comparison)] if isinstance(comparison, AlgorithmComparison) else comparison
    looks: dict[str, Any] = {"width": width, "height": height, "title": displayed(title) if title else ""}
    axis = _axis_of(parts)
    sweep = find_sweep(parts[0].comparison.study) if len(parts) == 1 else None
    chosen = kind or ("forest" if sweep is None and axis is None else "curve")
    if chosen == "curve" and axis is not None:
        return draw_curves([part.comparison for part in parts], _points_of(parts), axis, _USE, looks)
    _check(parts, chosen, sweep)
    match chosen:
        case "forest":
            return draw(_USE, _MODULE, lambda paper: _forest(paper, parts, looks))
        case "boxes":
            return draw(_USE, _MODULE, lambda paper: _boxes(paper, parts, looks))
        case "curve":
            assert sweep is not None  # noqa: S101 - checked above
            return draw(_USE, _MODULE, lambda paper: _curves(paper, parts[0].comparison, sweep, looks))


def _axis_of(parts: Sequence[SeriesPart]) -> str | None:
    """Return the name of what distinguishes the parts, if it is a number; None otherwise."""
    names = dimensions(parts)
    if len(names) != 1 or not all(is_number(part.values.get(names[0])) for part in parts):
        return None
    return names[0]


def _points_of(parts: Sequence[SeriesPart]) -> list[Point]:
    return [
        Point({**part.values, ALGORITHM: mean.variant}, place, number)
        for place, part in enumerate(parts)
        for number, mean in enumerate(part.comparison.metrics[0].means)
    ]


def draw_curves(
    comparisons: Sequence[AlgorithmComparison], points: Sequence[Point], x: str, use: str, looks: Mapping[str, Any]
) -> Picture:
    """Draw the means of several comparisons over a dimension of their points; `use` is for messages.

    OptionError if there is no mean, ExtraError without matplotlib.
    """
    return draw(use, _MODULE, lambda paper: _series_curves(paper, comparisons, points, x, looks))


def _series_curves(
    paper: Any, comparisons: Sequence[AlgorithmComparison], points: Sequence[Point], x: str, looks: Mapping[str, Any]
) -> Any:
    panels = []
    for place, one in enumerate(comparisons[0].metrics):
        series: dict[str, list[tuple[float, Any]]] = {}
        levels: dict[str, Any] = {}
        for point in points:
            interval = _interval(
                paper, comparisons[point.group].metrics[place].means[point.variant].mean, one.metric.unit.factor
            )
            if interval is None:
                continue
            value, name = point.values.get(x), label(point, [x], points)
            if is_number(value):
                series.setdefault(name, []).append((float(value or 0), interval))
            else:
                levels[name] = interval
        curves = [paper.Curve(name, tuple(sorted(found, key=lambda one: one[0]))) for name, found in series.items()]
        curves += [paper.Curve(name, level=interval) for name, interval in levels.items()]
        panels.append(_panel(paper, one.metric, curves=tuple(curves)))
    if not any(panel.curves for panel in panels):
        raise OptionError("no algorithm has a mean to draw")
    return paper.curves_figure(panels, displayed(x), **looks)


def _check(parts: Sequence[SeriesPart], kind: Kind, sweep: Sweep | None) -> None:
    """Raise OptionError if the figure would be empty."""
    if kind == "curve" and sweep is None:
        raise OptionError("a curve needs variants of one algorithm that differ in one option, which is a number")
    means = [mean for part in parts for one in part.comparison.metrics for mean in one.means]
    if kind == "forest" and not any(mean.pairs and mean.pairs.ratio for mean in means):
        raise OptionError(f"a forest plot needs a ratio to {displayed(parts[0].comparison.baseline)}: there is none")
    if not any(mean.mean for mean in means):
        raise OptionError("no run has a metric to draw")


def _forest(paper: Any, parts: Sequence[SeriesPart], looks: Mapping[str, Any]) -> Any:
    def row(part: SeriesPart, mean: AlgorithmMean, _: MetricInfo) -> Any:
        return paper.PlotRow(_label(part, mean), _interval(paper, None if mean.pairs is None else mean.pairs.ratio))

    return paper.forest_figure(_row_panels(paper, parts, row), displayed(parts[0].comparison.baseline), **looks)


def _boxes(paper: Any, parts: Sequence[SeriesPart], looks: Mapping[str, Any]) -> Any:
    def row(part: SeriesPart, mean: AlgorithmMean, metric: MetricInfo) -> Any:
        values = values_of(part.comparison.study, mean.variant, metric)
        return paper.PlotRow(_label(part, mean), values=tuple(values))

    return paper.boxes_figure(_row_panels(paper, parts, row), **looks)


def _row_panels(
    paper: Any, parts: Sequence[SeriesPart], row: Callable[[SeriesPart, AlgorithmMean, MetricInfo], Any]
) -> list[Any]:
    """Return a panel for each metric, with a row for each algorithm of each part."""
    return [
        _panel(
            paper,
            one.metric,
            rows=tuple(row(part, mean, one.metric) for part in parts for mean in part.comparison.metrics[place].means),
        )
        for place, one in enumerate(parts[0].comparison.metrics)
    ]


def _label(part: SeriesPart, mean: AlgorithmMean) -> str:
    return displayed(f"{mean.variant}, {part.name}" if part.name else mean.variant)


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
