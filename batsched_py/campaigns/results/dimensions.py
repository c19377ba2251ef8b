"""The dimensions of a campaign: options, parameters and settings in which means differ, for the axes of figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from batsched_py.campaigns.plan.campaign_plan import CampaignPlan
from batsched_py.campaigns.results.groups import GroupComparison
from batsched_py.errors import OptionError
from batsched_py.text.display import displayed
from batsched_py.text.wording import unknown

_ALGORITHM: Final = "algorithm"


class Point(Struct, frozen=True):
    """The means of an algorithm in a group.

    Attributes:
        values: dimension -> value: options of the algorithm, parameters of the model, settings, names.
        group: position of the group among the comparisons.
        variant: position of the algorithm among its means.
    """

    values: Mapping[str, Any]
    group: int
    variant: int


def find_points(plan: CampaignPlan, groups: Sequence[GroupComparison]) -> list[Point]:
    """Return all means with the values of their dimensions; options that an algorithm does not have are left out."""
    points = []
    for place, one in enumerate(groups):
        about = {"platform": one.group.setting.platform, **one.group.setting.given, **_parameters(one)}
        about = {"workloads": one.group.group, **about} if not _parameters(one) else about
        for number, variant in enumerate(plan.variants):
            options = {name: variant.options[name] for name in variant.given}
            sweep = variant.name.partition("(")[0]
            points.append(Point({**about, _ALGORITHM: sweep, **options}, place, number))
    varying = [name for name in _names(points) if _varies(points, name)]
    return [
        Point({name: point.values[name] for name in varying if name in point.values}, point.group, point.variant)
        for point in points
    ]


def _parameters(one: GroupComparison) -> dict[str, Any]:
    """Return the parameters that all workloads of a group were drawn with."""
    origins = list(one.comparison.study.origins.values())
    return {
        name: value
        for name, value in origins[0].generator.items()
        if name not in ("seed", "model") and all(origin.generator.get(name) == value for origin in origins)
    }


def _names(points: Iterable[Point]) -> list[str]:
    return list(dict.fromkeys(name for point in points for name in point.values))


def _varies(points: Sequence[Point], name: str) -> bool:
    """Return True if points that have a value in a dimension differ in it."""
    return len({repr(point.values[name]) for point in points if name in point.values}) > 1


def is_number(value: object) -> bool:
    """Return True for a number, which an axis can show; truth values are not numbers."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def axes_of(points: Sequence[Point], wanted: Sequence[str | None]) -> list[str]:
    """Return the dimensions of the axes: the wanted ones, and for None those with the most numbers.

    OptionError for an unknown dimension, and if there are too few numeric dimensions.
    """
    known = _names(points)
    for name in filter(None, wanted):
        if name not in known:
            raise OptionError(f"{displayed(name)}: {unknown(name, known)}" if known else "nothing varies: no axis")
    numeric = {name: len({v for p in points if is_number(v := p.values.get(name))}) for name in known}
    free = sorted((name for name in known if numeric[name] > 1 and name not in wanted), key=lambda name: -numeric[name])
    found = [name or (free.pop(0) if free else "") for name in wanted]
    if "" in found or len(set(found)) < len(found):
        raise OptionError("nothing else varies that is a number: options of an algorithm, parameters of the model")
    return found


def label(point: Point, axes: Sequence[str], points: Sequence[Point]) -> str:
    """Return the name of a series: its values in all varying dimensions except the axes."""
    parts = []
    for name, value in point.values.items():
        if name in axes or not _varies(points, name):
            continue
        parts.append(str(value) if name in (_ALGORITHM, "platform", "workloads") else f"{name}={value}")
    return displayed(" ".join(parts) or str(point.values.get(_ALGORITHM, "")))
