"""Typed reading of JSON members: each reader returns the value or raises FieldError with the member's path."""

from __future__ import annotations

import math
from collections.abc import Mapping
from reprlib import Repr
from typing import Any, Final

from batsched_py.display import displayed
from batsched_py.hostset import MAX_HOST, HostSet, parse_bits

Data = Mapping[str, Any]

#: Levels of what users put into a message; orjson writes some 250 in all.
_DEEPEST: Final = 200
#: Plain repr() of a hostile value takes long or raises: JSON may nest deeper than Python's stack.
_REPR: Final = Repr()
#: Characters of a value in an error message.
_LONGEST: Final = 60
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = _LONGEST


class FieldError(ValueError):
    """A member breaks a rule; `path` is relative to the object that was being read."""

    def __init__(self, path: str, rule: str) -> None:
        self.path, self.rule = path, rule
        super().__init__(f"{path}: {rule}")


def shown(value: object) -> str:
    """A value for an error message, on one line and cut to a readable length."""
    try:
        return displayed(_REPR.repr(value), _LONGEST)
    except ValueError:  # an integer of thousands of digits
        return "a huge number"


def wrong(key: str, expected: str, data: Data) -> FieldError:
    """The error for a member that is missing or of another type than `expected`."""
    if key not in data:
        return FieldError(key, f"is missing; it must be {expected}")
    return FieldError(key, f"must be {expected}, not {shown(data[key])}")


def text(data: Data, key: str) -> str:
    value = data.get(key)
    if type(value) is not str:
        raise wrong(key, "a string", data)
    return value


def number(data: Data, key: str) -> float:
    value = data.get(key)
    if type(value) is not float and type(value) is not int:
        raise wrong(key, "a number", data)
    return float(value)


def integer(data: Data, key: str) -> int:
    value = data.get(key)
    if type(value) is not int:
        raise wrong(key, "an integer", data)
    return value


def boolean(data: Data, key: str, default: bool | None = None) -> bool:
    value = data.get(key, default)
    if type(value) is not bool:
        raise wrong(key, "true or false", data)
    return value


def mapping(data: Data, key: str) -> dict[str, Any]:
    value = data.get(key)
    if type(value) is not dict:
        raise wrong(key, "an object", data)
    return value


def optional_mapping(data: Data, key: str) -> dict[str, Any] | None:
    return mapping(data, key) if key in data else None


def array(data: Data, key: str) -> list[Any]:
    value = data.get(key)
    if type(value) is not list:
        raise wrong(key, "a list", data)
    return value


def texts(data: Data, key: str) -> tuple[str, ...]:
    values = array(data, key)
    if not all(type(value) is str for value in values):
        raise wrong(key, "a list of strings", data)
    return tuple(values)


def hosts(data: Data, key: str, highest: int = MAX_HOST) -> HostSet:
    """A set of hosts, none of them above `highest`."""
    value = data.get(key)
    if type(value) is not str:
        raise wrong(key, 'a string of intervals like "0-3 7"', data)
    try:
        return HostSet(parse_bits(value, highest))
    except ValueError as error:
        raise FieldError(key, str(error)) from None


def check_finite(value: object, path: str, depth: int = 0) -> None:
    """JSON has neither NaN nor Infinity: orjson writes null in their place, and the peer stumbles over that."""
    if depth > _DEEPEST:
        raise FieldError(path[:60], f"must not nest deeper than {_DEEPEST}")
    if isinstance(value, float) and not math.isfinite(value):
        raise FieldError(path, f"must be a finite number, not {value!r}")
    if isinstance(value, Mapping):
        for key, item in value.items():
            check_finite(item, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            check_finite(item, f"{path}[{position}]", depth + 1)


def check_pstate(state: str) -> None:
    """A pstate is told as the digits of its number; nobody's host has a thousand million."""
    if not (state.isascii() and state.isdigit() and len(state) < 10):
        raise FieldError("state", f"must be the number of a pstate, not {shown(state)}")


def rest(data: Data, known: frozenset[str]) -> dict[str, Any]:
    """The members that are not in `known`."""
    return {key: value for key, value in data.items() if key not in known}
