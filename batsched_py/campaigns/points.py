"""Points of figures: means with the values of what varies, and the axes that these values allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from batsched_py.errors import OptionError
from batsched_py.text.display import displayed
from batsched_py.text.wording import unknown

#: The dimension of the algorithms.
ALGORITHM: Final = "algorithm"
#: The dimension of groups of workloads that no parameters of a model describe.
WORKLOADS: Final = "workloads"


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


def is_number(value: object) -> bool:
    """Return True for a number, which an axis can show; truth values are not numbers."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def axes_of(points: Sequence[Point], wanted: Sequence[str | None]) -> list[str]:
    """Return the dimensions of the axes: the wanted ones, and for None those with the most numbers.

    OptionError for an unknown dimension, and if there are too few numeric dimensions.
    """
    known = names_of(points)
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
        if name in axes or not varies(points, name):
            continue
        parts.append(str(value) if name in (ALGORITHM, "platform", WORKLOADS, "log") else f"{name}={value}")
    return displayed(" ".join(parts) or str(point.values.get(ALGORITHM, "")))


def names_of(points: Iterable[Point]) -> list[str]:
    """Return the dimensions of points, in their order."""
    return list(dict.fromkeys(name for point in points for name in point.values))


def varies(points: Sequence[Point], name: str) -> bool:
    """Return True if points that have a value in a dimension differ in it."""
    return len({repr(point.values[name]) for point in points if name in point.values}) > 1
