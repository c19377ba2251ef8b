"""The dimensions of a campaign: options, parameters and settings in which means differ, for the axes of figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.campaigns.points import ALGORITHM, WORKLOADS, Point, names_of, varies
from batsched_py.campaigns.results.groups import GroupComparison
from batsched_py.campaigns.series import SeriesPart


def find_points(plan: CampaignPlan, groups: Sequence[GroupComparison]) -> list[Point]:
    """Return all means with the values of their dimensions; options that an algorithm does not have are left out."""
    points = []
    for place, one in enumerate(groups):
        about = _about(one)
        for number, variant in enumerate(plan.variants):
            options = {name: variant.options[name] for name in variant.given}
            sweep = variant.name.partition("(")[0]
            points.append(Point({**about, ALGORITHM: sweep, **options}, place, number))
    varying = [name for name in names_of(points) if varies(points, name)]
    return [
        Point({name: point.values[name] for name in varying if name in point.values}, point.group, point.variant)
        for point in points
    ]


def series_of(groups: Sequence[GroupComparison]) -> tuple[SeriesPart, ...]:
    """Return the comparisons of the groups as a series, each with the values in which the groups differ."""
    values = _differing([_about(one) for one in groups])
    if len({(*one,) for one in values}) > 1 or len({repr(one) for one in values}) < len(values):
        # Parameters of a model do not describe all groups, or not completely: their names do.
        values = _differing([{WORKLOADS: one.group.group, **_setting(one)} for one in groups])
    return tuple(SeriesPart(of, one.comparison) for of, one in zip(values, groups, strict=True))


def _differing(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return of each mapping the values in which it differs from others that have them, too."""
    names = dict.fromkeys(name for about in found for name in about)
    varying = [name for name in names if len({repr(about[name]) for about in found if name in about}) > 1]
    return [{name: about[name] for name in varying if name in about} for about in found]


def _setting(one: GroupComparison) -> dict[str, Any]:
    return {"platform": one.group.setting.platform, **one.group.setting.given}


def _about(one: GroupComparison) -> dict[str, Any]:
    """Return the values that describe a group: platform, settings, and parameters of the model or the group's name."""
    parameters = _parameters(one)
    about = {**_setting(one), **parameters}
    return about if parameters else {WORKLOADS: one.group.group, **about}


def _parameters(one: GroupComparison) -> dict[str, Any]:
    """Return the parameters that all workloads of a group were drawn with."""
    origins = list(one.comparison.study.origins.values())
    return {
        name: value
        for name, value in origins[0].generator.items()
        if name not in ("seed", "model") and all(origin.generator.get(name) == value for origin in origins)
    }
