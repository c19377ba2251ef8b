"""The columns of an image in JSON, of which each is read when it is needed.

All of them at once, as objects of Python, need five times the memory of the file, most of which a site would keep.
"""

from __future__ import annotations

from typing import Any, Final

import orjson
from msgspec import Raw, Struct

#: No column.
ABSENT: Final = Raw(b"")


class ObjectGroup(Struct, frozen=True, rename={"of_class": "class"}):
    """Objects of one class and shape.

    Attributes:
        of_class: the name of the class.
        count: how many they are.
        numbers: their numbers, if a start makes them.
        names: the names of their attributes.
        of: a column for each attribute, or part.
        lengths: the number of items of each container; None for other objects.
        items: all items of containers, or keys of dictionaries, one after the other.
        values: all values of dictionaries.
        addresses: 1 or 2 for dictionaries without `items`, whose keys are addresses; see `writing.addressed`.
        extra: the longest length of each deque, or what a dictionary makes of a missing key.
    """

    of_class: str
    count: int
    numbers: list[int] = []
    names: list[str] = []
    of: list[Raw] = []
    lengths: list[int] | None = None
    items: Raw = ABSENT
    values: Raw = ABSENT
    addresses: int = 0
    extra: Raw = ABSENT


class StateColumns(Struct, frozen=True):
    """The state of a site: the objects of a start that have changed, and new ones, filled later or made whole."""

    made: list[ObjectGroup]
    new: list[ObjectGroup]
    fixed: list[ObjectGroup]


def read_column(column: Raw) -> tuple[str, list[Any]]:
    """Return the kind and the values of a column. ValueError if it is none."""
    kind, values = orjson.loads(memoryview(column))
    if not isinstance(values, list):
        raise ValueError("a column without values")
    return kind, values
