"""The texts of the cells of a column in Parquet, in the forms that `table_cells` reads."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from batsched_py.reading.limits import Limits

# Cells become texts, because tables in Parquet have all forms of tables in CSV: dates as texts, numbers as decimals. So
# there is one rule for each form, whatever the file. Arrow converts whole columns; a number without a fraction is
# written without one, since a column of whole numbers with gaps has floating-point numbers in many files.

#: Unit of durations -> number of them in a second.
_PER_SECOND: Final = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}


#: Types that have values of any length, and all types that have cells, by the names of their tests.
_TEXTS: Final = ("string", "large_string", "string_view", "binary", "large_binary")
_CELLS: Final = (*_TEXTS, "null", "integer", "boolean", "floating", "decimal", "date", "time", "timestamp", "duration")


class TypeRuleError(ValueError):
    """A column has a type that is no cell; the text is the rule."""


def check_type(kind: Any) -> None:
    """Check that a column of this type of Arrow has cells. TypeRuleError for lists, structures and other types."""
    types: Any = import_module("pyarrow").types
    value = kind.value_type if types.is_dictionary(kind) else kind
    if not any(getattr(types, f"is_{name}")(value) for name in _CELLS):
        raise TypeRuleError(f"must have numbers, texts, dates or durations, not {kind}")


def has_texts(kind: Any) -> bool:
    """Return whether the values of a column of this type have any length."""
    types: Any = import_module("pyarrow").types
    return any(getattr(types, f"is_{name}")(kind) for name in _TEXTS)


def texts_of(column: Any, limits: Limits) -> Sequence[str]:
    """Return the texts of the cells, "" for missing ones.

    TypeRuleError for lists, structures and other types; LimitError for a text that is longer than a line may be.
    """
    arrow: Any = import_module("pyarrow")
    compute: Any = import_module("pyarrow.compute")
    types = arrow.types
    kind = column.type
    check_type(kind)
    if types.is_dictionary(kind):
        return _repeated(column, limits, arrow, compute)
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
    elif has_texts(kind):
        _check_lengths(column, limits, compute)
    texts: Sequence[str] = compute.fill_null(column.cast(arrow.string()), "").to_pylist()
    return texts


def _repeated(column: Any, limits: Limits, arrow: Any, compute: Any) -> Sequence[str]:
    """Return the texts of a dictionary's cells: of each value that these cells have, one text, however often it is."""
    used = compute.unique(column.indices.cast(arrow.int64())).drop_null()
    texts = dict[int | None, str](zip(used.to_pylist(), texts_of(column.dictionary.take(used), limits), strict=True))
    texts[None] = ""
    return [texts[index] for index in column.indices.to_pylist()]


def _check_lengths(column: Any, limits: Limits, compute: Any) -> None:
    limits.check("line_size", compute.max(compute.binary_length(column)).as_py() or 0)


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
