"""Types of the values in Haizea's configuration files, with the rules for their texts (H68 to H75)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from batsched_py.reading.limits import LONGEST, TOO_LONG
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import did_you_mean
from batsched_py.traces.lwf_time import read_time

_NUMBER: Final = re.compile(r"[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})([eE][+-]?\d{1,2})?", re.ASCII)
_WHOLE: Final = re.compile(r"[+-]?\d{1,15}", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?", re.ASCII)
#: The last year in which a simulation may begin, so that the longest one ends before the last date.
_LAST_YEAR: Final = 8000
_FLAGS: Final = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)
#: A user class: package.module.Class, or path/to/file.py:Class.
_CLASS: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+|.+\.py:[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class ValueType:
    """Type of an option.

    Attributes:
        label: allowed texts, for the documentation.
        read: converts a text to a value; ValueError names the rule.
    """

    label: str
    read: Callable[[str], Any]


def choice(*names: str, refused: Mapping[str, str] | None = None) -> ValueType:
    """Return the type of one of these names; `refused` maps names that Haizea knows to the reason of their refusal."""
    reasons = refused or {}

    def read(text: str) -> str:
        if text in reasons:
            raise ValueError(reasons[text])
        if text not in names:
            suggestion = did_you_mean(text, names)
            wrong = f"must be {_alternatives(names)}, not {shown(text)}"
            raise ValueError(f"{wrong}; {suggestion}" if suggestion else wrong)
        return text

    return ValueType(" | ".join(names), read)


def number(least: float, most: float) -> ValueType:
    """Return the type of a number from `least` to `most`."""

    def read(text: str) -> float:
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not least <= value <= most:
            raise ValueError(f"must be a number from {least:g} to {most:g}, not {shown(text)}")
        return value

    return ValueType("number", read)


def whole(least: int, most: int, *, unlimited: bool = False) -> ValueType:
    """Return the type of an integer from `least` to `most`; with `unlimited`, -1 is read as infinity."""

    def read(text: str) -> float:
        value = int(text) if _WHOLE.fullmatch(text) else least - 2
        if unlimited and value == -1:
            return math.inf
        if not least <= value <= most:
            or_unlimited = ", or -1 for no limit" if unlimited else ""
            raise ValueError(f"must be a whole number from {least} to {most}{or_unlimited}, not {shown(text)}")
        return value

    return ValueType("whole number", read)


def named_class(known: Mapping[str, str]) -> ValueType:
    """Return the type of a policy: a known name, which is mapped to another, or a user class."""

    def read(text: str) -> str:
        if text in known:
            return known[text]
        if _CLASS.fullmatch(text) is None or text.startswith("haizea."):
            suggestion = did_you_mean(text, known)
            names = _alternatives([*dict.fromkeys(known.values()), "package.module.Class", "file.py:Class"])
            wrong = f"must be {names}, not {shown(text)}"
            raise ValueError(f"{wrong}; {suggestion}" if suggestion else wrong)
        return text

    return ValueType(" | ".join((*dict.fromkeys(known.values()), "class")), read)


def _alternatives(names: list[str] | tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def _duration(text: str) -> float:
    if _WHOLE.fullmatch(text) and not text.startswith("-"):
        seconds: float = int(text)
        if seconds > LONGEST:
            raise ValueError(f"{TOO_LONG} not {shown(text)}")
        return seconds
    if ":" not in text:
        raise ValueError(f"must be HH:MM:SS or whole seconds, not {shown(text)}")
    return read_time(text)


def _flag(text: str) -> bool:
    value = _FLAGS.get(text.lower())
    if value is None:
        raise ValueError(f"must be True or False, not {shown(text)}")
    return value


def _timestamp(text: str) -> datetime:
    rule = f"must be a date and a time like 2006-11-25 13:00:00, before the year {_LAST_YEAR}, not {shown(text)}"
    if _DATE.fullmatch(text) is None:
        raise ValueError(rule)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(rule) from None
    if time.year >= _LAST_YEAR:
        raise ValueError(rule)
    return time


def _trace(text: str) -> str:
    if not text.removesuffix(".gz").endswith((".lwf", ".xml", ".swf")):
        raise ValueError(f"must end in .lwf, .xml or .swf, not {shown(text)}")
    return text


def _attributes(text: str) -> tuple[tuple[str, str], ...]:
    """Read "name=value,name=value"."""
    pairs = [piece.partition("=") for piece in text.split(",") if piece.strip()]
    names = [name.strip() for name, _, _ in pairs]
    for name, equals, _ in pairs:
        if not equals or not name.strip():
            raise ValueError(f"must be name=value, separated by commas, not {shown(text)}")
    if len(set(names)) < len(names):
        raise ValueError(f"must name each attribute once, not {shown(text)}")
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split()))


def _text(text: str) -> str:
    if not text.isprintable():
        raise ValueError(f"must be one line without control characters, not {displayed(repr(text))}")
    return text


DURATION: Final = ValueType("HH:MM:SS or seconds", _duration)
FLAG: Final = ValueType("True | False", _flag)
TIMESTAMP: Final = ValueType("YYYY-MM-DD HH:MM:SS", _timestamp)
TRACE: Final = ValueType("path", _trace)
PATH: Final = ValueType("path", _text)
TEXT: Final = ValueType("text", _text)
WORDS: Final = ValueType("names, separated by blanks", _words)
ATTRIBUTES: Final = ValueType("name=value,...", _attributes)
#: Resources are read with the limits of the caller.
RESOURCES: Final = ValueType("N CPU:100 Memory:1024 ... | in-tracefile", _text)
