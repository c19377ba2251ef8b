"""Values of a study file: one, a list of them, or a range of numbers."""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from typing import Any, Final

from batsched_py.text.display import shown
from batsched_py.text.wording import unknown

#: Maximum number of values of one field: more are taken for a typing error.
_MOST: Final = 10_000
_MEMBERS: Final = ("from", "to", "step", "count", "scale")
_SCALES: Final = ("linear", "log")


def read_values(raw: Any) -> tuple[Any, ...]:
    """Return the values of a field: a scalar, each item of a list, or the numbers of a range, ends included.

    A range is an object: `from` and `to` with a `step`, or with a `count` of equidistant numbers, on a logarithmic
    scale if `scale` is "log"; the numbers are integers if both ends and the step are. ValueError names the rule.
    """
    if isinstance(raw, dict):
        return _read_range(raw)
    values = tuple(raw) if isinstance(raw, list) else (raw,)
    if not values:
        raise ValueError("must have a value, not an empty list")
    for value in values:
        if not isinstance(value, (bool, int, float, str)):
            raise ValueError(f"must be a number, a text, true or false, not {shown(value)}")
    _check_different(values)
    return values


def _check_different(values: tuple[Any, ...]) -> None:
    texts = sorted(repr(value) for value in values)
    for one, other in pairwise(texts):
        if one == other:
            raise ValueError(f"has the value {one} twice")


def _read_range(raw: dict[str, Any]) -> tuple[Any, ...]:
    for name in raw:
        if name not in _MEMBERS:
            raise ValueError(f"{name}: {unknown(name, _MEMBERS)}")
    first, last = _number(raw, "from"), _number(raw, "to")
    if ("step" in raw) == ("count" in raw):
        raise ValueError("must have a step or a count of values")
    if not first < last:
        raise ValueError(f"to: must be greater than from, {first:g}, not {last:g}")
    scale = raw.get("scale", "linear")
    if scale not in _SCALES:
        raise ValueError(f"scale: must be linear or log, not {shown(scale)}")
    if "step" in raw:
        if scale == "log":
            raise ValueError("scale: log goes with a count, not with a step")
        return _stepwise(first, last, _number(raw, "step"))
    return _spaced(first, last, raw["count"], logarithmic=scale == "log")


def _number(raw: dict[str, Any], name: str) -> float:
    if name not in raw:
        raise ValueError(f"{name}: is missing; a range is like {{from = 1, to = 8, step = 1}}")
    value = raw[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{name}: must be a number, not {shown(value)}")
    return value


def _stepwise(first: float, last: float, step: float) -> tuple[float, ...]:
    if step <= 0:
        raise ValueError(f"step: must be greater than 0, not {step:g}")
    steps = (last - first) / step
    if steps >= _MOST:
        raise ValueError(f"step: must leave at most {_MOST} values, not {steps + 1:.0f}")
    count = math.floor(steps + 1e-9) + 1  # 0.1 is not a binary fraction: from 0 to 0.3 there are four values
    return tuple(_plain(first + place * step) for place in range(count))


def _spaced(first: float, last: float, count: Any, *, logarithmic: bool) -> tuple[float, ...]:
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= _MOST:
        raise ValueError(f"count: must be from 2 to {_MOST}, not {shown(count)}")
    if logarithmic and first <= 0:
        raise ValueError(f"from: must be greater than 0 on a logarithmic scale, not {first:g}")
    shares = [place / (count - 1) for place in range(count)]
    if logarithmic:
        return tuple(_plain(first * (last / first) ** share) for share in shares)
    return tuple(_plain(first + (last - first) * share) for share in shares)


def _plain(value: float) -> float:
    """Return the number without floating-point noise: 0.3, not 0.30000000000000004."""
    return value if isinstance(value, int) else float(f"{value:.12g}")
