"""Typed options of algorithms: declared once as a frozen dataclass, read from text and JSON, described to users."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from batsched_py.errors import OptionError, PluginError
from batsched_py.loading import load_object
from batsched_py.named import Named

OptionsType = TypeVar("OptionsType")

#: Words for booleans on the command line.
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True, slots=True)
class NoOptions:
    """For algorithms without options."""


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """What a user needs to know about an option, as text; `kind` is that of the things it is chosen from."""

    name: str
    type: str
    default: str
    help: str
    kind: str = ""


def option(default: Any, help: str, *, minimum: float | None = None, maximum: float | None = None) -> Any:
    """A field of an options class: its default, one line of help, and for numbers the legal values, ends included."""
    return dataclasses.field(default=default, metadata={"help": help, "minimum": minimum, "maximum": maximum})


def named(default: str, help: str, things: Named[Any]) -> Any:
    """A field that is one of `things`, chosen by name; things with a `name` are shown by it."""
    metadata = {"help": help, "things": things}
    return dataclasses.field(default=things[default], metadata=metadata)


def describe_options(options_type: type[Any]) -> tuple[OptionInfo, ...]:
    """All options of an options class, in the order of their declaration."""
    hints = get_type_hints(options_type)
    return tuple(
        OptionInfo(
            field.name,
            _choices(field) or _type_text(hints[field.name]),
            _typed(field.default),
            field.metadata.get("help", ""),
            getattr(field.metadata.get("things"), "kind", ""),
        )
        for field in dataclasses.fields(options_type)
    )


def parse_options(options_type: type[OptionsType], given: Mapping[str, Any], algorithm: str) -> OptionsType:
    """The options object of these names and values; text is converted, JSON values must have the right type.

    Raises OptionError for a name that does not exist, a value of the wrong type or out of range.
    """
    hints = get_type_hints(options_type)
    fields = {field.name: field for field in dataclasses.fields(options_type)}  # type: ignore[arg-type]
    values = {}
    for name, value in given.items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise OptionError(f"option {name}: {algorithm} has no such option; it has: {known}")
        try:
            things: Named[Any] | None = fields[name].metadata.get("things")
            values[name] = _convert(value, hints[name]) if things is None else _find(value, things)
            _check_range(values[name], fields[name].metadata)
        except (ValueError, PluginError) as error:
            raise OptionError(f"option {name} of {algorithm}: {error}") from None
    try:
        return options_type(**values)
    except (TypeError, ValueError) as error:  # the class may have rules of its own, in __post_init__
        raise OptionError(f"options of {algorithm}: {error}") from error


def _typed(default: Any) -> str:
    """A default as a user would type it."""
    if default is None or isinstance(default, bool):
        return str(default).lower()
    return str(getattr(default, "name", default))


def _choices(field: dataclasses.Field[Any]) -> str:
    """What a `named` field may be, as text; "" for others."""
    things: Named[Any] | None = field.metadata.get("things")
    return "" if things is None else things.choices


def _find(value: Any, things: Named[Any]) -> Any:
    if not isinstance(value, str):
        raise ValueError(f"must be {things.choices}, not {value!r}")
    return things.find(value, load_object)


def _convert(value: Any, expected: Any) -> Any:
    choices = get_args(expected)
    if get_origin(expected) is Literal:
        if value not in choices:
            raise ValueError(f"must be {_type_text(expected)}, not {value!r}")
        return value
    if get_origin(expected) in (Union, types.UnionType):
        if value is None or value == "none":
            return None
        return _convert(value, next(choice for choice in choices if choice is not type(None)))
    if expected is bool:
        return _to_bool(value)
    if expected in (int, float):
        return _to_number(value, expected)
    if type(value) is not expected:
        raise ValueError(f"must be a {_type_text(expected)}, not {value!r}")
    return value


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    raise ValueError(f"must be true or false, not {value!r}")


def _to_number(value: Any, expected: type) -> Any:
    wrong = ValueError(f"must be {'an' if expected is int else 'a'} {_type_text(expected)}, not {value!r}")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise wrong
    if expected is int and isinstance(value, float):
        raise wrong
    try:
        number = expected(value)
    except ValueError:
        raise wrong from None
    if not math.isfinite(number):
        raise wrong
    return number


def _check_range(value: Any, metadata: Mapping[str, Any]) -> None:
    minimum, maximum = metadata.get("minimum"), metadata.get("maximum")
    if minimum is not None and value is not None and value < minimum:
        raise ValueError(f"must be at least {minimum:g}, not {value!r}")
    if maximum is not None and value is not None and value > maximum:
        raise ValueError(f"must be at most {maximum:g}, not {value!r}")


def _type_text(expected: Any) -> str:
    if get_origin(expected) is Literal:
        return " | ".join(str(choice) for choice in get_args(expected))
    if get_origin(expected) in (Union, types.UnionType):
        return " | ".join("none" if choice is type(None) else _type_text(choice) for choice in get_args(expected))
    return {bool: "true | false", int: "integer", float: "number", str: "text"}.get(expected, str(expected))
