"""Values of MIL: numbers, strings, truth values, and undefined with its reason (L9, L11, L29, L30)."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Final, TypeAlias

_NUMBER: Final = re.compile(
    r"[+-]?(?:(?P<hex>0[xX][0-9a-fA-F]+)|(?P<octal>0[0-7]*)|(?P<decimal>[1-9][0-9]*)"
    r"|(?P<float>(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+))"
)
#: Longer texts are not numbers: parsing them would take too long.
_LONGEST_NUMBER: Final = 400


class Undefined(Enum):
    """Reasons why an expression is undefined for a record."""

    MISSING = "the record has no such attribute"
    MISTYPED = "its type does not suit"
    DIVISION = "division by zero"


class NumericText(str):
    """The text of an attribute that looks like a number: a string in operations with strings, else a number."""

    __slots__ = ("number",)

    number: int | float

    def __new__(cls, text: str, number: int | float) -> NumericText:
        """Make a text with its number."""
        made = super().__new__(cls, text)
        made.number = number
        return made


Number: TypeAlias = int | float
Value: TypeAlias = int | float | str | bool
Result: TypeAlias = Value | Undefined


@lru_cache(maxsize=4096)
def parse_number(text: str) -> Number | None:
    """Parse a number by the rules of literals, with an optional sign; return None if the text is not a number."""
    found = _NUMBER.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
    if found is None:
        return None
    if found["float"]:
        return float(text)
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    return sign * int(digits, 16 if found["hex"] else 8 if found["octal"] else 10)


def enter(value: Value) -> Value:
    """Return the value of an attribute in the form that records store."""
    if type(value) is str:
        number = parse_number(value)
        return value if number is None else NumericText(value, number)
    return value


def as_number(value: Value) -> Number | None:
    """Return the number of a number or a numeric text; None for truth values and other strings."""
    if type(value) is int or type(value) is float:
        return value
    return value.number if isinstance(value, NumericText) else None
