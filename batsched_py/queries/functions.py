"""Functions of MIL: its operators and its named functions on values (L9, L10, L30)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Final

from batsched_py.queries.matching import PATTERN, PatternError, matches
from batsched_py.queries.values import Number, Result, Undefined, Value, as_number, parse_number


def of_numbers(compute: Callable[[Number, Number], Number], left: Result, right: Result) -> Result:
    """Apply an operation to two numbers; undefined if an operand is not a number, or the result is undefined."""
    if isinstance(left, Undefined):
        return left
    if isinstance(right, Undefined):
        return right
    one, other = as_number(left), as_number(right)
    if one is None or other is None:
        return Undefined.MISTYPED
    try:
        result = compute(one, other)
    except ZeroDivisionError:
        return Undefined.DIVISION
    except OverflowError:  # an integer too large for a float
        return Undefined.MISTYPED
    return result if result == result else Undefined.MISTYPED  # noqa: PLR0124  # NaN is no number


def _divide(one: Number, other: Number) -> Number:
    if isinstance(one, int) and isinstance(other, int):
        quotient = abs(one) // abs(other)
        return quotient if (one < 0) == (other < 0) else -quotient
    return one / other


def _remainder(one: Number, other: Number) -> Number:
    if isinstance(one, int) and isinstance(other, int):
        rest = abs(one) % abs(other)
        return -rest if one < 0 else rest
    if other == 0:
        raise ZeroDivisionError
    return math.nan if math.isinf(one) else math.fmod(one, other)


def _convert(value: Value, to: Callable[[Number], Number]) -> Result:
    number = as_number(value)
    if number is None and isinstance(value, str):
        number = parse_number(value)
    if number is None:
        return Undefined.MISTYPED
    try:
        return to(number)
    except (OverflowError, ValueError):  # infinity, or an integer too large for a float
        return Undefined.MISTYPED


def _match(*values: Value) -> Result:
    pattern, text = values[PATTERN], values[1 - PATTERN]
    if not isinstance(pattern, str) or not isinstance(text, str):
        return Undefined.MISTYPED
    try:
        return matches(str(pattern), str(text))
    except (PatternError, UnicodeEncodeError):
        return Undefined.MISTYPED


#: Sign of an operation -> its function.
ARITHMETIC: Final[dict[str, Callable[[Number, Number], Number]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "mod": _remainder,
}
#: Sign of a comparison -> its function.
COMPARISONS: Final[dict[str, Callable[[Value, Value], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
#: Name of a function -> its number of arguments, and its implementation.
FUNCTIONS: Final[dict[str, tuple[int, Callable[..., Result]]]] = {
    "match": (2, _match),
    "max": (2, lambda one, other: of_numbers(max, one, other)),
    "min": (2, lambda one, other: of_numbers(min, one, other)),
    "int": (1, lambda value: _convert(value, int)),
    "float": (1, lambda value: _convert(value, float)),
}
