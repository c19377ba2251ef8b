"""Typed options of algorithms: declared once as a frozen dataclass, read from text and JSON, described to users."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from batsched_py.named import Named

#: Options class -> the types of its fields, as long as the class is there.
_types: WeakKeyDictionary[type[Any], Mapping[str, Any]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of an algorithm that has none."""


@dataclass(frozen=True, slots=True)
class FreeOptions:
    """The options of an algorithm that declares none and takes any: name -> JSON value."""

    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """Description of an option for users, as text; `kind` is the kind of its named values."""

    name: str
    type: str
    default: str
    help: str
    kind: str = ""


def option(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    peer_text: str | None = None,
) -> Any:
    """Declare a field of an options class: its default, one line of help, for numbers the legal range, ends included.

    A text can name a file or a module, so only the user may set it, and not Batsim's `sched-config`, unless `peer_text`
    is given: a regular expression that a peer's text must match completely.
    """
    metadata = {"help": help, "minimum": minimum, "maximum": maximum, "peer_text": peer_text}
    return dataclasses.field(default=default, metadata=metadata)


def named(default: str, help: str, things: Named[Any]) -> Any:
    """Declare a field whose value is one of `things`, selected by name; things with a `name` are shown by it."""
    metadata = {"help": help, "things": things}
    return dataclasses.field(default=things[default], metadata=metadata)


def document(
    parse: Callable[[str, Mapping[str, Any]], Any],
    help: str,
    others: Mapping[str, Callable[..., Any]] | None = None,
    includes: Callable[[bytes], Iterable[str]] | None = None,
) -> Any:
    """Declare a field that is read from a JSON or YAML file, which only the user may name; None without one.

    `parse` takes the name of the file and the object in it; one of `others` the name and the content of a file whose
    name has its ending, "*" for all other endings. They may raise WorkloadError. With `includes`, which returns the
    names of files that a content includes, these take the `IncludedFiles`, too.
    """
    metadata = {"help": help, "parse": parse, "others": others or {}, "includes": includes}
    return dataclasses.field(default=None, metadata=metadata)


def describe_options(options_type: type[Any]) -> tuple[OptionInfo, ...]:
    """Return all declared options of an options class, in the order of their declaration."""
    if options_type is FreeOptions:
        return ()
    hints = option_types(options_type)
    return tuple(
        OptionInfo(
            field.name,
            _choices(field) or ("FILE" if "parse" in field.metadata else type_text(hints[field.name])),
            _default(field),
            field.metadata.get("help", ""),
            getattr(field.metadata.get("things"), "kind", ""),
        )
        for field in dataclasses.fields(options_type)
    )


def option_types(options_type: type[Any]) -> Mapping[str, Any]:
    """Return name -> type of the fields of an options class."""
    found = _types.get(options_type)
    if found is None:  # each session asks, and annotations that are texts are compiled each time
        found = _types[options_type] = get_type_hints(options_type)
    return found


def plain_options(options: Any, texts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an options object by name, as JSON values.

    A value without a JSON form, such as a function or the content of a file, is represented by its text in
    `texts`, else by its name.
    """
    if isinstance(options, FreeOptions):
        return dict(options.values)
    return {
        field.name: _plain(getattr(options, field.name), texts.get(field.name)) for field in dataclasses.fields(options)
    }


def _plain(value: Any, text: Any) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(text, str):
        return text
    return str(getattr(value, "name", None) or getattr(value, "__qualname__", type(value).__qualname__))


def _default(field: dataclasses.Field[Any]) -> str:
    """Return a default as a user would type it; for named things, the name."""
    things: Named[Any] | None = field.metadata.get("things")
    names = () if things is None else (name for name in things if things[name] is field.default)
    return next(iter(names), _typed(field.default))


def _typed(default: Any) -> str:
    """Return a default as a user would type it."""
    if default is None or isinstance(default, bool):
        return str(default).lower()
    return str(getattr(default, "name", default))


def _choices(field: dataclasses.Field[Any]) -> str:
    """Return the possible values of a `named` field as text; "" for others."""
    things: Named[Any] | None = field.metadata.get("things")
    return "" if things is None else things.choices


def type_text(expected: Any) -> str:
    """Return a type as users read it: "a | b", "whole number", "number | none"."""
    if get_origin(expected) is Literal:
        return " | ".join(str(choice) for choice in get_args(expected))
    if get_origin(expected) in (Union, types.UnionType):
        return " | ".join("none" if choice is type(None) else type_text(choice) for choice in get_args(expected))
    return {bool: "true | false", int: "whole number", float: "number", str: "text"}.get(expected, str(expected))
