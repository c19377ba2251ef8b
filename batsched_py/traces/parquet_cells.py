"""The texts of the cells of a column in Parquet, in the forms that `table_cells` reads."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

# Cells become texts, because tables in Parquet have all forms of tables in CSV: dates as texts, numbers as decimals. So
# there is one rule for each form, whatever the file. Arrow converts whole columns; a number without a fraction is
# written without one, since a column of whole numbers with gaps has floating-point numbers in many files.

#: Unit of durations -> number of them in a second.
_PER_SECOND: Final = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}


class TypeRuleError(ValueError):
    """A column has a type that is no cell; the text is the rule."""


def texts_of(column: Any) -> Sequence[str]:
    """Return the texts of the cells, "" for missing ones. TypeRuleError for lists, structures and other types."""
    arrow: Any = import_module("pyarrow")
    compute: Any = import_module("pyarrow.compute")
    types = arrow.types
    kind = column.type
    if types.is_dictionary(kind):
        return texts_of(column.cast(kind.value_type))
    if types.is_null(kind):
        return [""] * len(column)
    if types.is_floating(kind):
        column = _whole_if_possible(compute.if_else(compute.is_finite(column), column, None), arrow)
    elif types.is_decimal(kind):
        column = _whole_if_possible(column, arrow)
    elif types.is_timestamp(kind):
        return _dates(column, arrow, compute)
    elif types.is_duration(kind):
        return _seconds(column, arrow)
    elif not _is_plain(kind, types):
        raise TypeRuleError(f"must have numbers, texts, dates or durations, not {kind}")
    texts: Sequence[str] = compute.fill_null(column.cast(arrow.string()), "").to_pylist()
    return texts


#: The types of which Arrow makes the text that readers of cells know, by the names of their tests.
_PLAIN: Final = (
    "string",
    "large_string",
    "string_view",
    "binary",
    "large_binary",
    "integer",
    "boolean",
    "date",
    "time",
)


def _is_plain(kind: Any, types: Any) -> bool:
    return any(getattr(types, f"is_{name}")(kind) for name in _PLAIN)


def _whole_if_possible(column: Any, arrow: Any) -> Any:
    try:
        return column.cast(arrow.int64())
    except arrow.ArrowInvalid:
        return column


def _dates(column: Any, arrow: Any, compute: Any) -> Sequence[str]:
    """Return dates in the form of ISO 8601; with "Z" if the column has a time zone, as it then counts in UTC."""
    zoned = column.type.tz is not None
    counted = column.cast(arrow.int64())
    plain = counted.cast(arrow.timestamp(column.type.unit))
    try:
        plain = plain.cast(arrow.timestamp("s"))
    except arrow.ArrowInvalid:
        plain = plain.cast(arrow.timestamp("us"), safe=False)
    texts = plain.cast(arrow.string())
    if zoned:
        texts = compute.binary_join_element_wise(texts, "Z", "")
    found: Sequence[str] = compute.fill_null(texts, "").to_pylist()
    return found


def _seconds(column: Any, arrow: Any) -> Sequence[str]:
    """Return durations as numbers of seconds with at most six decimals."""
    scale = _PER_SECOND[column.type.unit]
    counted = column.cast(arrow.int64()).to_pylist()
    return ["" if one is None else f"{one / scale:.6f}".removesuffix(".000000") for one in counted]
