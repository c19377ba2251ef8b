"""Typed options of algorithms: declared once as a frozen dataclass, read from text and JSON, described to users."""

from __future__ import annotations

import dataclasses
import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from batsched_py.errors import OptionError, PluginError
from batsched_py.loading import load_object
from batsched_py.named import Named
from batsched_py.text.display import MOST, displayed, shown
from batsched_py.text.wording import did_you_mean

OptionsType = TypeVar("OptionsType")

#: Words for booleans on the command line.
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
#: Types of options of which no value names a file or a module.
_HARMLESS: Final = (bool, int, float, type(None))


class Origin(Enum):
    """Source of an option.

    What a peer or a recording gives is data, which chooses among built-in things. Files and modules are named by the
    user, and code is loaded for nobody else.
    """

    USER = "user"
    PEER = "peer"


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of an algorithm that has none."""


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """Description of an option for users, as text; `kind` is that of the things it is chosen from."""

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

    A text can name a file or a module, so that only the user sets it, not Batsim's `sched-config`; unless `peer_text`
    is given: a regular expression of harmless texts, which a peer's must match as a whole.
    """
    metadata = {"help": help, "minimum": minimum, "maximum": maximum, "peer_text": peer_text}
    return dataclasses.field(default=default, metadata=metadata)


def named(default: str, help: str, things: Named[Any]) -> Any:
    """Declare a field that is one of `things`, chosen by name; things with a `name` are shown by it."""
    metadata = {"help": help, "things": things}
    return dataclasses.field(default=things[default], metadata=metadata)


def document(
    parse: Callable[[str, Mapping[str, Any]], Any],
    help: str,
    others: Mapping[str, Callable[[str, bytes], Any]] | None = None,
) -> Any:
    """Declare a field that is made of a JSON or YAML file, which only the user names; None without one.

    `parse` takes the name of the file and the object in it; one of `others` the name and the content of a file whose
    name has its ending. They may raise WorkloadError.
    """
    return dataclasses.field(default=None, metadata={"help": help, "parse": parse, "others": others or {}})


def describe_options(options_type: type[Any]) -> tuple[OptionInfo, ...]:
    """Return all options of an options class, in the order of their declaration."""
    hints = _hints(options_type)
    return tuple(
        OptionInfo(
            field.name,
            _choices(field) or ("FILE" if "parse" in field.metadata else _type_text(hints[field.name])),
            _default(field),
            field.metadata.get("help", ""),
            getattr(field.metadata.get("things"), "kind", ""),
        )
        for field in dataclasses.fields(options_type)
    )


@lru_cache(maxsize=64)  # each session asks, and annotations that are texts are compiled each time
def _hints(options_type: type[Any]) -> Mapping[str, Any]:
    return get_type_hints(options_type)


def parse_options(options_type: type[OptionsType], given: Mapping[str, Any], algorithm: str) -> OptionsType:
    """Make the options object of names and values that the user gave.

    Text is converted, JSON values must have the right type. Raises OptionError for a name that does not exist, a value
    of the wrong type or out of range.
    """
    return make_options(options_type, read_values(options_type, given, algorithm), algorithm)


def read_values(
    options_type: type[Any], given: Mapping[str, Any], algorithm: str, origin: Origin = Origin.USER
) -> dict[str, Any]:
    """Read the values of options by name, converted and checked one by one; OptionError as in `parse_options`.

    For a peer nothing is imported or opened: OptionError for whatever names no built-in thing, and for an option that
    only the user sets.
    """
    if not given:
        return {}
    hints = _hints(options_type)
    fields = {field.name: field for field in dataclasses.fields(options_type)}
    values = {}
    for name, value in given.items():
        if name not in fields:
            raise OptionError(_no_such_option(name, list(fields), algorithm))
        try:
            values[name] = _value(value, hints[name], fields[name].metadata, origin)
        except (ValueError, PluginError) as error:
            raise OptionError(f"option {name} of {algorithm}: {error}") from None
    return values


def plain_options(options: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an options object by name, as JSON has them.

    What JSON has not, a function or what was made of a file, is the text that was `given` for it, else its name.
    """
    return {
        field.name: _plain(getattr(options, field.name), given.get(field.name)) for field in dataclasses.fields(options)
    }


def _plain(value: Any, given: Any) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(given, str):
        return given
    return str(getattr(value, "name", None) or getattr(value, "__qualname__", type(value).__qualname__))


def _no_such_option(name: str, known: Sequence[str], algorithm: str) -> str:
    suggestion, listed = did_you_mean(name, known), ", ".join(known) or "none"
    told = f"{suggestion} It has: {listed}" if suggestion else f"it has: {listed}"
    return f"option {displayed(name)}: {algorithm} has no such option; {told}"


def make_options(options_type: type[OptionsType], values: Mapping[str, Any], algorithm: str) -> OptionsType:
    """Make the options object of values that were read; OptionError if they break a rule of the class's own."""
    try:
        return options_type(**values)
    except (TypeError, ValueError) as error:  # in __post_init__
        raise OptionError(f"options of {algorithm}: {error}") from error


def _value(value: Any, expected: Any, metadata: Mapping[str, Any], origin: Origin) -> Any:
    things: Named[Any] | None = metadata.get("things")
    if origin is Origin.PEER:
        _check_peer(value, expected, metadata)
    if "parse" in metadata:
        return _read(value, metadata["parse"], metadata["others"])
    converted = _convert(value, expected) if things is None else _find(value, things, origin)
    _check_range(converted, metadata)
    return converted


def _check_peer(value: Any, expected: Any, metadata: Mapping[str, Any]) -> None:
    """Raise ValueError if a peer may not set this option, or names what it must not."""
    if isinstance(value, str) and len(value) > MOST:
        raise ValueError(f"must have at most {MOST} characters, not {len(value)}")
    if metadata.get("things") is not None or _is_harmless(expected):
        return
    pattern = metadata.get("peer_text")
    if pattern is None:
        raise ValueError("is set by the user alone, with -o or --options-file")
    if isinstance(value, str) and value and not re.fullmatch(pattern, value):
        raise ValueError(f"cannot be {shown(value)} unless the user says so, with -o or --options-file")


def _is_harmless(expected: Any) -> bool:
    """Return whether all values of a type are numbers, truth values or one of a few words."""
    if get_origin(expected) is Literal:
        return True
    if get_origin(expected) in (Union, types.UnionType):
        return all(_is_harmless(choice) for choice in get_args(expected))
    return expected in _HARMLESS


def _default(field: dataclasses.Field[Any]) -> str:
    """Return a default as a user would type it: of named things, their name."""
    things: Named[Any] | None = field.metadata.get("things")
    names = () if things is None else (name for name in things if things[name] is field.default)
    return next(iter(names), _typed(field.default))


def _typed(default: Any) -> str:
    """Return a default as a user would type it."""
    if default is None or isinstance(default, bool):
        return str(default).lower()
    return str(getattr(default, "name", default))


def _choices(field: dataclasses.Field[Any]) -> str:
    """Return as text what a `named` field may be; "" for others."""
    things: Named[Any] | None = field.metadata.get("things")
    return "" if things is None else things.choices


def _find(value: Any, things: Named[Any], origin: Origin) -> Any:
    load = load_object if origin is Origin.USER else None
    if not isinstance(value, str):
        raise ValueError(f"must be {things.choices_with(load)}, not {shown(value)}")
    return things.find(value, load)


def _read(
    value: Any, parse: Callable[[str, Mapping[str, Any]], Any], others: Mapping[str, Callable[[str, bytes], Any]]
) -> Any:
    """Return what a file is read as; None for "none"."""
    if value is None or value == "none":
        return None
    if not isinstance(value, str) or not value:
        raise ValueError(f"must name a file, not {shown(value)}")
    from batsched_py.traces.document_file import read_document  # noqa: PLC0415  # few runs have documents
    from batsched_py.traces.json_document import read_content  # noqa: PLC0415

    path = Path(value)
    if path.suffix.lower() in others:
        return others[path.suffix.lower()](value, read_content(path))
    return parse(value, read_document(path))


def _convert(value: Any, expected: Any) -> Any:
    choices = get_args(expected)
    if get_origin(expected) is Literal:
        if value not in choices:
            suggestion = did_you_mean(value, map(str, choices)) if isinstance(value, str) else ""
            raise ValueError(f"must be {_type_text(expected)}, not {shown(value)}{suggestion and '; '}{suggestion}")
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
        raise ValueError(f"must be a {_type_text(expected)}, not {shown(value)}")
    return value


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    raise ValueError(f"must be true or false, not {shown(value)}")


def _to_number(value: Any, expected: type) -> Any:
    wrong = ValueError(f"must be {'an' if expected is int else 'a'} {_type_text(expected)}, not {shown(value)}")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise wrong
    if expected is int and isinstance(value, float):
        raise wrong
    try:
        number = expected(value)
        finite = math.isfinite(number)
    except (ValueError, OverflowError):  # also integers that no float holds: nobody means them
        raise wrong from None
    if not finite:
        raise wrong
    return number


def _check_range(value: Any, metadata: Mapping[str, Any]) -> None:
    minimum, maximum = metadata.get("minimum"), metadata.get("maximum")
    if minimum is not None and value is not None and value < minimum:
        raise ValueError(f"must be at least {minimum:g}, not {shown(value)}")
    if maximum is not None and value is not None and value > maximum:
        raise ValueError(f"must be at most {maximum:g}, not {shown(value)}")


def _type_text(expected: Any) -> str:
    if get_origin(expected) is Literal:
        return " | ".join(str(choice) for choice in get_args(expected))
    if get_origin(expected) in (Union, types.UnionType):
        return " | ".join("none" if choice is type(None) else _type_text(choice) for choice in get_args(expected))
    return {bool: "true | false", int: "integer", float: "number", str: "text"}.get(expected, str(expected))
