"""Typed readers of single values, each with its rule in words and as a JSON schema.

The vocabulary of all messages: a text, a number, a whole number, true or false, an object, a list, null.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from batsched_py.reading.faults import FieldError, refused
from batsched_py.reading.limits import LONGEST, NAME_RULE, TOO_LONG, breaks_csv
from batsched_py.text.display import shown
from batsched_py.text.wording import spelled

T = TypeVar("T")
S = TypeVar("S")
T_co = TypeVar("T_co", covariant=True)
Schema = Mapping[str, Any]

#: Types whose values are read as those of others.
_LIKE: Final[Mapping[type, type]] = {int: float, tuple: list, MappingProxyType: dict}
_MUST_BE: Final = "must be "
#: Names that are not empty and that NAME_RULE admits, as a regular expression of JavaScript.
_NAME: Final = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029,"]*$'


class Reader(Generic[T_co]):
    """A function from a parsed value to a typed one, which raises ValueError with the rule, or FieldError.

    Attributes:
        schema: JSON schema of the accepted values; it may admit more if a rule cannot be expressed.
    """

    __slots__ = ("read", "schema")

    def __init__(self, read: Callable[[Any], T_co], schema: Schema) -> None:
        #: The function itself, for readers around this one: a call less.
        self.read = read
        self.schema = schema

    def __call__(self, value: Any) -> T_co:
        """Return the typed value."""
        return self.read(value)

    def then(self, convert: Callable[[T_co], S], **schema: Any) -> Reader[S]:
        """Return a reader that converts the values of this one; `convert` raises ValueError for those it refuses.

        `schema` has members to add to the schema.
        """
        read = self.read
        return Reader(lambda value: convert(read(value)), {**self.schema, **schema})


def text(*, least: int = 0, most: int | None = None) -> Reader[str]:
    """Return a reader of texts of `least` to `most` characters."""

    def read(value: Any) -> str:
        if type(value) is not str:
            raise refused("a text", value)
        if len(value) < least:
            raise FieldError("", "must not be empty")
        if most is not None and len(value) > most:
            raise FieldError("", f"must have at most {most} characters")
        return value

    return Reader(read, {"type": "string", **_without_none(minLength=least or None, maxLength=most)})


def name_text(*, most: int | None = None) -> Reader[str]:
    """Return a reader of names: not empty, and printable in tables."""

    def check(name: str) -> str:
        if breaks_csv(name):
            raise FieldError("", f"{NAME_RULE}, not {shown(name)}")
        return name

    return text(least=1, most=most).then(check, pattern=_NAME)


def one_of(words: Collection[str]) -> Reader[str]:
    """Return a reader of one of some words."""

    def read(value: Any) -> str:
        if type(value) is not str or value not in words:
            raise refused(f"one of {', '.join(words)}", value)
        return value

    return Reader(read, {"enum": list(words)})


def number(
    unit: str = "", *, least: float | None = None, above: float | None = None, most: float | None = None
) -> Reader[float]:
    """Return a reader of finite numbers, from `least` or greater than `above`, to `most`."""
    expected = _expected("a number", unit, least, above)
    lowest = least if least is not None else above if above is not None else -sys.float_info.max
    highest = sys.float_info.max

    def read(value: Any) -> float:
        if (type(value) is float or type(value) is int) and lowest <= value <= highest and value != above:
            if most is not None and value > most:
                raise refused(f"at most {most}", value)
            return float(value)
        raise refused(expected, value)

    return Reader(read, {"type": "number", **_without_none(minimum=least, exclusiveMinimum=above, maximum=most)})


def seconds(*, least: float | None = None, above: float | None = None) -> Reader[float]:
    """Return a reader of times, of at most LONGEST seconds."""
    expected = _expected("a number", "seconds", least, above)

    def read(value: Any) -> float:
        if not is_number(value, least, above):
            raise refused(expected, value)
        if abs(value) > LONGEST:
            raise FieldError("", f"{TOO_LONG} not {shown(value)}")
        return float(value)

    lower = {} if above is not None else {"minimum": -LONGEST if least is None else least}
    return Reader(read, {"type": "number", **lower, **_without_none(exclusiveMinimum=above), "maximum": LONGEST})


def whole_number(unit: str = "", *, least: int | None = 0, most: int | None = None) -> Reader[int]:
    """Return a reader of whole numbers from `least` to `most`."""
    expected = _expected("a whole number", unit, least) + ("" if most is None else f" to {most}")

    def read(value: Any) -> int:
        if type(value) is not int or (least is not None and value < least) or (most is not None and value > most):
            raise refused(expected, value)
        return value

    return Reader(read, {"type": "integer", **_without_none(minimum=least, maximum=most)})


def special(words: Mapping[Any, S], otherwise: Reader[T]) -> Reader[S | T]:
    """Return a reader of some words (or true, or null) with meanings of their own, and of other values."""
    spelt = ", ".join(_in_json(word) for word in words)

    meanings = {(type(word), word): meaning for word, meaning in words.items()}

    def read(value: Any) -> S | T:
        kind = type(value)
        if (kind is str or kind is bool or value is None) and (kind, value) in meanings:  # other values have no hash
            return meanings[kind, value]
        try:
            return otherwise.read(value)
        except FieldError as error:
            if error.path or not error.rule.startswith(_MUST_BE):
                raise
            raise FieldError("", f"{_MUST_BE}{spelt} or {error.rule.removeprefix(_MUST_BE)}") from None

    return Reader(read, {"anyOf": [{"enum": list(words)}, otherwise.schema]})


def exactly(word: Any, meaning: T) -> Reader[T]:
    """Return a reader of one value, such as true, with its meaning."""

    def read(value: Any) -> T:
        if type(value) is not type(word) or value != word:
            raise refused(spelled(word), value)
        return meaning

    return Reader(read, {"const": word})


def optional(reader: Reader[T]) -> Reader[T | None]:
    """Return a reader that also accepts null, as None."""
    return special({None: None}, reader)


def by_type(expected: str, readers: Mapping[type, Reader[T]]) -> Reader[T]:
    """Return the reader of a union of values of different types: str, float (any number), bool, list or dict."""

    def read(value: Any) -> T:
        reader = readers.get(_LIKE.get(type(value), type(value)))
        if reader is None:
            raise refused(expected, value)
        return reader.read(value)

    return Reader(read, {"anyOf": [reader.schema for reader in readers.values()]})


def is_number(value: Any, least: float | None = None, above: float | None = None) -> bool:
    """Return whether a value is a number within these bounds, which no NaN is; true and false are not numbers."""
    if type(value) is not float and type(value) is not int:
        return False
    if least is not None:
        return bool(value >= least)
    return bool(value > above) if above is not None else type(value) is int or not math.isnan(value)


def _in_json(word: Any) -> str:
    return "null" if word is None else f'"{word}"' if isinstance(word, str) else spelled(word)


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise refused("true or false", value)
    return value


def _expected(kind: str, unit: str, least: float | None, above: float | None = None) -> str:
    bound = f" from {least}" if least is not None else f" greater than {above}" if above is not None else ""
    return f"{kind}{f' of {unit}' if unit else ''}{bound}"


def _without_none(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


TEXT: Final = text()
TRUTH: Final = Reader(_truth, {"type": "boolean"})
