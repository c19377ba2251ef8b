"""A fast reader of a JSON object; only after an error, a second, slow pass locates it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import orjson

from batsched_py.errors import WorkloadError
from batsched_py.text.display import shown

#: Maximum number of digits of a number in a message.
_MOST_DIGITS = 20
#: The beginning of an escaped colon.
_COLON = b"\\u003"
_NOT_A_NUMBER = re.compile(rb"-?(nan|inf)", re.IGNORECASE)


_PARTS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])


class _NotFinite(str):
    """The text of a number that no finite float represents: NaN, Infinity, 1e400."""

    __slots__ = ()


class _Doubled(dict[str, Any]):
    """An object that has a member twice."""

    __slots__ = ("key",)

    key: str


def parse_object(file: str, content: bytes) -> dict[str, Any]:
    """Return the object; WorkloadError names the file and the member, or else the line and the column."""
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        _name_number(file, content)
        where = f"line {error.lineno}, column {error.colno}"
        at = len(error.doc[: error.pos].encode())
        if _NOT_A_NUMBER.match(content, at) or _NOT_A_NUMBER.match(content, max(at - 1, 0)):
            raise WorkloadError(file, where, "must be a number: JSON has no NaN and no Infinity") from error
        raise WorkloadError(file, where, f"is not JSON: {error.msg.partition(': line')[0]}") from error
    if not isinstance(document, dict):
        raise WorkloadError(file, "", f"must be an object, not {shown(document)}")
    return document


def parse_outline(file: str, content: bytes, member: str) -> tuple[dict[str, Any], bytes, list[msgspec.Raw] | None]:
    """Return the object without `member`, the text that holds that list, and the list's elements as JSON.

    The elements are slices of the text, in order; usually the text is `content` itself, and long lists need little
    memory. A member that is not a list remains in the object, and the elements are None. WorkloadError as
    `parse_object`; errors inside elements are not detected yet.
    """
    try:
        parts = _PARTS.decode(content)
        elements = _ELEMENTS.decode(parts.pop(member))
        return {key: orjson.loads(memoryview(value)) for key, value in parts.items()}, content, elements
    except (KeyError, msgspec.MsgspecError, orjson.JSONDecodeError, UnicodeDecodeError, RecursionError):
        document = parse_object(file, content)
    if not isinstance(document.get(member), list):
        return document, content, None
    written = orjson.dumps(document.pop(member))
    return document, written, _ELEMENTS.decode(written)


def count_members(document: dict[str, Any]) -> int:
    """Return the number of members of an object and of all nested objects."""
    count, left = 0, list[Any]([document])
    while left:
        value = left.pop()
        if isinstance(value, dict):
            count += len(value)
            value = value.values()
        left += [inner for inner in value if isinstance(inner, dict | list)]
    return count


def may_be_doubled(content: bytes, members: int, texts: Iterable[str]) -> bool:
    """Return False only if no object has a member twice: the fast reader silently keeps the last one.

    Each member in the file has one colon. `members` is the number of members read; `texts` are values in which colons
    are counted, too. Colons in other texts, and escapes that may encode a colon, make the result True.
    """
    return _COLON in content or content.count(b":") != members + sum(text.count(":") for text in texts)


def refuse_doubled(file: str, content: bytes) -> None:
    """Raise WorkloadError if an object has a member twice; slow: several times the duration of `parse_object`."""
    for field, value in _members(content):
        if isinstance(value, _Doubled):
            raise WorkloadError(file, field, f"has the member {shown(value.key)} twice")


def _name_number(file: str, content: bytes) -> None:
    """Raise WorkloadError for the first invalid number, if the document is valid otherwise."""
    for field, value in _members(content):
        if isinstance(value, _NotFinite):
            if not value[-1].isdigit():
                raise WorkloadError(file, field, f"must be a number, not {value}")
            digits = value if len(value) <= _MOST_DIGITS else f"{value[:_MOST_DIGITS]}..."
            raise WorkloadError(file, field, f"is too large for a number: {digits}")


def _members(content: bytes) -> Iterator[tuple[str, Any]]:
    """Yield each value with its place (`jobs[3].walltime`), in the file's order; nothing if it is not JSON at all."""
    try:
        document = json.loads(
            content.decode(),
            parse_constant=_NotFinite,
            parse_float=_number,
            parse_int=_number,
            object_pairs_hook=_object,
        )
    except (ValueError, RecursionError):
        return
    left = [("", document)]
    while left:
        place, value = left.pop()
        yield place, value
        if isinstance(value, dict):
            left += [(_inside(place, key), inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list):
            left += [(f"{place}[{index}]", value[index]) for index in reversed(range(len(value)))]


def _inside(place: str, key: str) -> str:
    name = key if key.isprintable() else shown(key)
    return f"{place}.{name}" if place else name


def _number(text: str) -> float | _NotFinite:
    number = float(text)
    return number if math.isfinite(number) else _NotFinite(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    doubled = _Doubled(found)
    doubled.key = Counter(key for key, _ in pairs).most_common(1)[0][0]
    return doubled
