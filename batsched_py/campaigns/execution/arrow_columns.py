"""Columns of Parquet files, made of lists without the pandas that `pyarrow.array` loads wherever it is installed."""

from __future__ import annotations

import importlib
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

#: Bytes of the texts of a column whose offsets have 32 bits.
_MOST_BYTES: Final = 2**31 - 1


def encode_table(columns: Mapping[str, Any]) -> bytes:
    """Return a Parquet file with these columns of pyarrow."""
    arrow: Any = importlib.import_module("pyarrow")
    out = arrow.BufferOutputStream()
    importlib.import_module("pyarrow.parquet").write_table(arrow.table(columns), out)
    content: bytes = out.getvalue().to_pybytes()
    return content


def make_column(arrow: Any, values: Sequence[Any], kind: Any = None) -> Any:
    """Return a column as `arrow.array(values, kind)` does; `arrow` is the module pyarrow.

    None is a missing value. Values of other kinds than numbers, texts and truths are left to pyarrow, as is what it
    refuses.
    """
    kind = _kind_of(arrow, values) if kind is None else kind
    kinds = {type(value) for value in values if value is not None}
    if kind == arrow.null() and not kinds:
        return arrow.nulls(len(values))
    if kind == arrow.string() and kinds <= {str}:
        return _texts(arrow, values)
    if kind == arrow.bool_() and kinds <= {bool}:
        return _filled(arrow, kind, values, _bits([bool(value) for value in values]))
    if kind == arrow.float64() and kinds <= {int, float}:
        return _filled(arrow, kind, values, array("d", [value or 0.0 for value in values]))
    if kind == arrow.int64() and kinds <= {int}:
        return _filled(arrow, kind, values, array("q", [value or 0 for value in values]))
    return arrow.array(values, kind)


def _kind_of(arrow: Any, values: Sequence[Any]) -> Any:
    """Return the type of values of one kind; None for what pyarrow shall find out."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return arrow.null()
    if kinds == {int, float}:
        return arrow.float64()
    found = {str: arrow.string(), bool: arrow.bool_(), float: arrow.float64(), int: arrow.int64()}
    return found.get(kinds.pop()) if len(kinds) == 1 else None


def _texts(arrow: Any, values: Sequence[str | None]) -> Any:
    encoded = [(value or "").encode() for value in values]
    data = b"".join(encoded)
    if len(data) > _MOST_BYTES:
        return arrow.array(values, arrow.string())
    return _filled(arrow, arrow.string(), values, array("i", accumulate(map(len, encoded), initial=0)), data)


def _filled(arrow: Any, kind: Any, values: Sequence[Any], *contents: Any) -> Any:
    """Return a column of these contents, in which the values that are None are missing."""
    missing = values.count(None)
    present = arrow.py_buffer(_bits([value is not None for value in values])) if missing else None
    return arrow.Array.from_buffers(kind, len(values), [present, *map(arrow.py_buffer, contents)], missing)


def _bits(truths: Sequence[bool]) -> bytes:
    """Return a bit for each, the first one lowest."""
    digits = "".join("1" if truth else "0" for truth in reversed(truths))
    return int(digits or "0", 2).to_bytes((len(truths) + 7) // 8, "little")
