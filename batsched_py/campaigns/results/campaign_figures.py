"""Figures of a campaign: means over one dimension, a heat map over two dimensions, ratios to the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from batsched_py.campaigns.figures import draw_comparison, draw_curves
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.campaigns.points import Point, axes_of, label
from batsched_py.campaigns.results.dimensions import find_points, series_of
from batsched_py.campaigns.results.groups import GroupComparison
from batsched_py.errors import OptionError
from batsched_py.reporting.metrics.catalogue import MetricInfo
from batsched_py.reporting.pictures.drawing import Picture, draw
from batsched_py.text.display import displayed
from batsched_py.text.wording import unknown

FigureKind = Literal["curve", "heat", "forest", "boxes"]
#: Kinds of figures: means over one dimension, a heat map over two, and the kinds of `compare` for one group.
FIGURE_KINDS: Final[tuple[FigureKind, ...]] = ("curve", "heat", "forest", "boxes")
_USE: Final = "campaign figure"


class FigureChoice(Struct, frozen=True):
    """The content of a figure.

    Attributes:
        kind: one of FIGURE_KINDS.
        x, y: dimensions of the axes: an option, a parameter of the model, a setting; None for the one that varies most.
        group: name of the only group to draw; None for all.
        width, height: inches; None to choose suitable ones.
        title: above it.
    """

    kind: FigureKind = "curve"
    x: str | None = None
    y: str | None = None
    group: str | None = None
    width: float | None = None
    height: float | None = None
    title: str = ""

    @property
    def looks(self) -> dict[str, Any]:
        """Size and title as arguments of a figure."""
        looks: dict[str, Any] = {"height": self.height, "title": displayed(self.title) if self.title else ""}
        return looks if self.width is None else {"width": self.width, **looks}


def draw_campaign(plan: CampaignPlan, groups: Sequence[GroupComparison], choice: FigureChoice) -> Picture:
    """Draw a campaign, a panel for each metric. OptionError if the choice does not apply to it; ExtraError."""
    chosen = _chosen(groups, choice.group)
    match choice.kind:
        case "forest" | "boxes" as kind:
            return draw_comparison(series_of(chosen), kind, **choice.looks)
    points = find_points(plan, chosen)
    if choice.kind == "heat":
        axes = axes_of(points, [choice.x, choice.y])
        return draw(_USE, "heat_map", lambda paper: _heat(paper, chosen, points, axes, choice))
    [x] = axes_of(points, [choice.x])
    return draw_curves([one.comparison for one in chosen], points, x, _USE, choice.looks)


def _chosen(groups: Sequence[GroupComparison], name: str | None) -> Sequence[GroupComparison]:
    """Return the groups of this name, of any platform; all if none is wanted. OptionError."""
    if name is None:
        return groups
    found = [one for one in groups if name in (one.group.group, one.group.name)]
    if not found:
        raise OptionError(f"group {displayed(name)}: {unknown(name, dict.fromkeys(one.group.group for one in groups))}")
    return found


def _heat(
    paper: Any, groups: Sequence[GroupComparison], points: Sequence[Point], axes: Sequence[str], choice: FigureChoice
) -> Any:
    x, y = axes
    inside = [point for point in points if x in point.values and y in point.values]
    names = {label(point, [x, y], inside) for point in inside}
    if len(names) != 1:
        raise OptionError(f"a heat map shows one algorithm in one group, not {', '.join(sorted(names)) or 'none'}")
    panels = []
    for place, metric in enumerate(_metrics(groups)):
        cells: dict[tuple[Any, Any], float] = {}
        for point in inside:
            mean = groups[point.group].comparison.metrics[place].means[point.variant].mean
            if mean is not None:
                cells[point.values[x], point.values[y]] = mean.value * metric.unit.factor
        panels.append(paper.HeatPanel(metric.heading, metric.more_is_better, metric.digits, cells))
    if not any(panel.cells for panel in panels):
        raise OptionError("no algorithm has a mean to draw")
    return paper.heat_figure(panels, displayed(x), displayed(y), **choice.looks)


def _metrics(groups: Sequence[GroupComparison]) -> list[MetricInfo]:
    return [one.metric for one in groups[0].comparison.metrics]
