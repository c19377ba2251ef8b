"""Reader of files of records: a JSON list of objects, each with a `name` and attributes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import orjson

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_content
from batsched_py.queries.values import Value
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.text.display import displayed, shown


def read_records(path: Path, limits: Limits = LIMITS) -> list[tuple[str, dict[str, Value]]]:
    """Return names and attributes in the order of the file; WorkloadError names the file, the record and the rule."""
    file = str(path)
    try:
        document = orjson.loads(read_content(path, limits))
    except orjson.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise WorkloadError(file, where, f"is not JSON: {error.msg.partition(': line')[0]}") from error
    if not isinstance(document, list):
        raise WorkloadError(file, "", f"must be a list of objects, not {shown(document)}")
    records: dict[str, dict[str, Value]] = {}
    for position, record in enumerate(document):
        place = f"[{position}]"
        if not isinstance(record, dict):
            raise WorkloadError(file, place, f"must be an object, not {shown(record)}")
        name = record.get("name")
        if not isinstance(name, str) or not name:
            raise WorkloadError(file, f"{place}.name", f"must be a text, not {shown(name)}")
        if name in records:
            raise WorkloadError(file, f"{place}.name", f"{shown(name)} stands for another record already")
        records[name] = dict(_attributes(file, place, record))
    return list(records.items())


def _attributes(file: str, place: str, record: dict[str, object]) -> Iterator[tuple[str, Value]]:
    for key, value in record.items():
        fits = isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value))
        if not fits:
            raise WorkloadError(
                file, f"{place}.{displayed(key)}", f"must be a number, a text or a truth value, not {shown(value)}"
            )
        yield key, value  # type: ignore[misc]  # it fits
