"""Values of options: read from text and JSON, checked, and loaded from files or code that the user names.

This is the only place where the core reads files and loads user code. Options from a peer or a recording are data and
can only select built-in values; nothing is opened or imported for them.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin

import orjson

from batsched_py.errors import OptionError, PluginError
from batsched_py.loading import load_object
from batsched_py.named import Named
from batsched_py.scheduling.options import FreeOptions, option_types, type_text
from batsched_py.text.display import MOST, displayed, shown
from batsched_py.text.wording import did_you_mean

OptionsType = TypeVar("OptionsType")
#: Words for booleans on the command line.
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
#: Types of options of which no value names a file or a module.
_HARMLESS: Final = (bool, int, float, type(None))


class Origin(Enum):
    """Source of an option.

    Options from a peer or a recording are data and can only select built-in values. Only the user can name files and
    modules, from which code is loaded.
    """

    USER = "user"
    PEER = "peer"


def parse_options(options_type: type[OptionsType], texts: Mapping[str, Any], algorithm: str) -> OptionsType:
    """Create the options object from names and values of the user.

    Text is converted, JSON values must have the right type. Raises OptionError for a name that does not exist, a value
    of the wrong type or out of range.
    """
    return make_options(options_type, read_values(options_type, texts, algorithm), algorithm)


def read_values(
    options_type: type[Any], texts: Mapping[str, Any], algorithm: str, origin: Origin = Origin.USER
) -> dict[str, Any]:
    """Read the values of options by name, converted and checked one by one; OptionError as in `parse_options`.

    For a peer nothing is imported or opened: OptionError for a value that is not built in, and for an option that only
    the user may set.
    """
    if not texts:
        return {}
    if options_type is FreeOptions:
        return {name: _free_value(name, value, algorithm, origin) for name, value in texts.items()}
    hints = option_types(options_type)
    fields = {field.name: field for field in dataclasses.fields(options_type)}
    values = {}
    for name, value in texts.items():
        if name not in fields:
            raise OptionError(_no_such_option(name, list(fields), algorithm))
        try:
            values[name] = _value(value, hints[name], fields[name].metadata, origin)
        except (ValueError, PluginError) as error:
            raise OptionError(f"option {name} of {algorithm}: {error}") from None
    return values


def _no_such_option(name: str, known: Sequence[str], algorithm: str) -> str:
    suggestion, listed = did_you_mean(name, known), ", ".join(known) or "none"
    names = f"{suggestion} It has: {listed}" if suggestion else f"it has: {listed}"
    return f"option {displayed(name)}: {algorithm} has no such option; {names}"


def make_options(options_type: type[OptionsType], values: Mapping[str, Any], algorithm: str) -> OptionsType:
    """Create the options object from parsed values; OptionError if they break a rule of the class."""
    arguments = {"values": values} if options_type is FreeOptions else values
    try:
        return options_type(**arguments)
    except (TypeError, ValueError) as error:  # in __post_init__
        raise OptionError(f"options of {algorithm}: {error}") from error


def _free_value(name: str, value: Any, algorithm: str, origin: Origin) -> Any:
    """Return the value of an option that is not declared: a text that is JSON is read as JSON.

    OptionError for a text, list or object of a peer: the algorithm could take a text in it for the name of a file.
    """
    if isinstance(value, str) and origin is Origin.USER:
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    if origin is Origin.PEER and not isinstance(value, _HARMLESS):
        raise OptionError(
            f"option {displayed(name)} of {algorithm}: is set by the user alone, with -o or --options-file"
        )
    return value


def _value(value: Any, expected: Any, metadata: Mapping[str, Any], origin: Origin) -> Any:
    things: Named[Any] | None = metadata.get("things")
    if origin is Origin.PEER:
        _check_peer(value, expected, metadata)
    if "parse" in metadata:
        return _read(value, metadata)
    converted = _convert(value, expected) if things is None else _find(value, things, origin)
    _check_range(converted, metadata)
    return converted


def _check_peer(value: Any, expected: Any, metadata: Mapping[str, Any]) -> None:
    """Raise ValueError if a peer may not set this option, or may not give this value."""
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
    """Return whether all values of a type are numbers, truth values or fixed words."""
    if get_origin(expected) is Literal:
        return True
    if get_origin(expected) in (Union, types.UnionType):
        return all(_is_harmless(choice) for choice in get_args(expected))
    return expected in _HARMLESS


def _find(value: Any, things: Named[Any], origin: Origin) -> Any:
    load = load_object if origin is Origin.USER else None
    if not isinstance(value, str):
        raise ValueError(f"must be {things.choices_with(load)}, not {shown(value)}")
    return things.find(value, load)


def _read(value: Any, metadata: Mapping[str, Any]) -> Any:
    """Return the parsed content of a file; None for "none"."""
    if value is None or value == "none":
        return None
    if not isinstance(value, str) or not value:
        raise ValueError(f"must name a file, not {shown(value)}")
    from batsched_py.files.bounded_file import read_content  # noqa: PLC0415
    from batsched_py.files.document_file import read_document  # noqa: PLC0415  # few runs have documents
    from batsched_py.files.included_files import read_included  # noqa: PLC0415

    path = Path(value)
    others, includes = metadata["others"], metadata["includes"]
    read = others.get(path.suffix.lower(), others.get("*"))
    if read is None:
        return metadata["parse"](value, read_document(path))
    content = read_content(path)
    return read(value, content, *([] if includes is None else [read_included(path, value, content, includes)]))


def _convert(value: Any, expected: Any) -> Any:
    choices = get_args(expected)
    if get_origin(expected) is Literal:
        if value not in choices:
            suggestion = did_you_mean(value, map(str, choices)) if isinstance(value, str) else ""
            raise ValueError(f"must be {type_text(expected)}, not {shown(value)}{suggestion and '; '}{suggestion}")
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
        raise ValueError(f"must be a {type_text(expected)}, not {shown(value)}")
    return value


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    raise ValueError(f"must be true or false, not {shown(value)}")


def _to_number(value: Any, expected: type) -> Any:
    wrong = ValueError(f"must be a {type_text(expected)}, not {shown(value)}")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise wrong
    if expected is int and isinstance(value, float):
        raise wrong
    try:
        number = expected(value)
        finite = math.isfinite(number)
    except (ValueError, OverflowError):  # also integers too large for a float, which are certainly mistakes
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
