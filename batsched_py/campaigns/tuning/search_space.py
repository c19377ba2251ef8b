"""Search spaces of options: words, truth values, numbers between bounds."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from batsched_py.errors import OptionError
from batsched_py.scheduling.base import Scheduler
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import unknown

_RANGE: Final = ("from", "to", "scale")


class Words(Struct, frozen=True):
    """One of a few values."""

    values: tuple[Any, ...]


class Numbers(Struct, frozen=True):
    """A number from `low` to `high`, both included.

    Attributes:
        low, high: the bounds.
        whole: integers only.
        logarithmic: small numbers are tried as often as large ones.
    """

    low: float
    high: float
    whole: bool
    logarithmic: bool = False


Space = Words | Numbers


def read_space(scheduler: type[Scheduler[Any]], options: Mapping[str, Any]) -> dict[str, Space]:
    """Return the search space of each option to tune.

    `options` maps an option to True (all values of its type), a list of values, or bounds, {from, to, scale}.
    OptionError names the option and the rule.
    """
    hints = get_type_hints(scheduler.options_type)
    fields = {field.name: field for field in dataclasses.fields(scheduler.options_type)}
    spaces = {}
    for name, raw in options.items():
        if name not in fields:
            raise OptionError(f"{displayed(name)}: {unknown(name, fields)}")
        try:
            spaces[name] = _space(raw, hints[name], fields[name].metadata)
        except ValueError as error:
            raise OptionError(f"{name}: {error}") from error
    if not spaces:
        raise OptionError("names no option")
    return spaces


def _space(raw: Any, hint: Any, metadata: Mapping[str, Any]) -> Space:
    if isinstance(raw, list):
        if len(raw) < 2 or not all(isinstance(value, (bool, int, float, str)) for value in raw):
            raise ValueError(f"must be two values or more, not {shown(raw)}")
        return Words(tuple(raw))
    kind = _kind(hint)
    if raw is True:
        return _of_type(kind, metadata)
    if not isinstance(raw, dict) or kind not in (int, float):
        raise ValueError(f"must be true, a list, or for a number {{from = ..., to = ...}}, not {shown(raw)}")
    return _between(raw, kind)


def _kind(hint: Any) -> Any:
    """Return the type of an option, without None."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(choice for choice in get_args(hint) if choice is not type(None))
    return hint


def _of_type(kind: Any, metadata: Mapping[str, Any]) -> Space:
    things = metadata.get("things")
    if things is not None:
        return Words(tuple(things))
    if get_origin(kind) is Literal:
        return Words(get_args(kind))
    if kind is bool:
        return Words((False, True))
    low, high = metadata.get("minimum"), metadata.get("maximum")
    if kind not in (int, float) or low is None or high is None:
        raise ValueError("its type has no bounds: give a list, or {from = ..., to = ...}")
    return Numbers(low, high, kind is int)


def _between(raw: Mapping[str, Any], kind: type) -> Numbers:
    for name in raw:
        if name not in _RANGE:
            raise ValueError(f"{displayed(name)}: {unknown(name, _RANGE)}")
    ends = [raw.get("from"), raw.get("to")]
    if not all(isinstance(end, kind if kind is int else (int, float)) and not isinstance(end, bool) for end in ends):
        raise ValueError(f"must have from and to, {'whole numbers' if kind is int else 'numbers'}")
    low, high = ends
    scale = raw.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise ValueError(f"scale: must be linear or log, not {shown(scale)}")
    assert isinstance(low, (int, float))  # noqa: S101 - checked above
    assert isinstance(high, (int, float))  # noqa: S101
    if not low < high:
        raise ValueError(f"to: must be greater than from, {low:g}, not {high:g}")
    if scale == "log" and low <= 0:
        raise ValueError(f"from: must be greater than 0 on a logarithmic scale, not {low:g}")
    return Numbers(low, high, kind is int, scale == "log")
