"""Readers of structs by the types of their fields, as msgspec converts them, with the vocabulary of all messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from batsched_py.reading.faults import FieldError, joined
from batsched_py.reading.objects import members_of
from batsched_py.reading.values import Reader
from batsched_py.text.display import displayed, shown

StructType = TypeVar("StructType", bound=Struct)
#: msgspec's name of a type -> the word of messages.
_WORDS: Final[Mapping[str, str]] = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}
_EXPECTED: Final = re.compile(r"Expected `([a-z |]+)`, got `([a-z]+)`")
_MISSING: Final = re.compile(r"Object missing required field `(.+)`")


def converted(kind: Any) -> Reader[Any]:
    """Return a reader of values of a type that msgspec knows; its schema admits any value."""

    def read(value: Any) -> Any:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise fault_of(error, value) from None

    return Reader(read, {})


def struct_of(kind: type[StructType]) -> Reader[StructType]:
    """Return a reader of objects whose members are the fields of a struct, each of its type."""
    names = {field.encode_name: field.name for field in fields(kind)}
    readers = {field.encode_name: converted(field.type) for field in fields(kind)}
    required = [field.encode_name for field in fields(kind) if field.required]
    return members_of(readers, required).then(
        lambda members: kind(**{names[member]: value for member, value in members.items()})
    )


def fault_of(error: msgspec.ValidationError, value: Any) -> FieldError:
    """Return the fault of a value that msgspec could not convert, with its place."""
    rule, _, path = str(error).partition(" - at `$")
    path = displayed(path.rstrip("`").lstrip(".").replace("[...]", ""))  # a member of a mapping has no name in it
    if missing := _MISSING.fullmatch(rule):
        return FieldError(joined(path, displayed(missing[1])), "is missing")
    if expected := _EXPECTED.fullmatch(rule):
        words = " or ".join(_WORDS.get(word, word) for word in expected[1].split(" | "))
        wrong = _WORDS.get(expected[2], expected[2]) if path else shown(value)
        return FieldError(path, f"must be {words}, not {wrong}")
    return FieldError(path, displayed(f"{rule[:1].lower()}{rule[1:]}" + ("" if path else f": {shown(value)}")))
