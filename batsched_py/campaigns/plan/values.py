"""Values of a study file: one, a list of them, or a range of numbers."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Final, cast

from batsched_py.reading.faults import FieldError
from batsched_py.reading.objects import members_of
from batsched_py.reading.values import Reader, number, one_of, whole_number
from batsched_py.text.display import shown

#: Maximum number of values of one field: more are taken for a typing error.
_MOST: Final = 10_000


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
    members = _RANGE(raw)
    first, last, scale = members["from"], members["to"], members.get("scale", "linear")
    if ("step" in raw) == ("count" in raw):
        raise FieldError("", "must have a step or a count of values")
    if not first < last:
        raise FieldError("to", f"must be greater than from, {first:g}, not {last:g}")
    if "count" in members:
        return _spaced(first, last, members["count"], logarithmic=scale == "log")
    if scale == "log":
        raise FieldError("scale", "log goes with a count, not with a step")
    return _stepwise(first, last, members["step"])


def _exact(value: Any) -> float:
    """Return a number as it is written: whole numbers stay whole."""
    _NUMBER(value)
    return cast(float, value)


_NUMBER: Final = number()
_EXACT: Final = Reader(_exact, _NUMBER.schema)
_RANGE: Final = members_of(
    {
        "from": _EXACT,
        "to": _EXACT,
        "step": _EXACT,
        "count": whole_number(least=2, most=_MOST),
        "scale": one_of(("linear", "log")),
    },
    ("from", "to"),
)


def _stepwise(first: float, last: float, step: float) -> tuple[float, ...]:
    if step <= 0:
        raise FieldError("step", f"must be greater than 0, not {step:g}")
    steps = (last - first) / step
    if steps >= _MOST:
        raise FieldError("step", f"must leave at most {_MOST} values, not {steps + 1:.10g}")
    count = math.floor(steps + 1e-9) + 1  # 0.1 is not a binary fraction: from 0 to 0.3 there are four values
    return tuple(_plain(first + place * step) for place in range(count))


def _spaced(first: float, last: float, count: int, *, logarithmic: bool) -> tuple[float, ...]:
    if logarithmic and first <= 0:
        raise FieldError("from", f"must be greater than 0 on a logarithmic scale, not {first:g}")
    shares = [place / (count - 1) for place in range(count)]
    if logarithmic:
        return tuple(_plain(first * (last / first) ** share) for share in shares)
    return tuple(_plain(first + (last - first) * share) for share in shares)


def _plain(value: float) -> float:
    """Return the number without floating-point noise: 0.3, not 0.30000000000000004."""
    return value if isinstance(value, int) else float(f"{value:.12g}")
