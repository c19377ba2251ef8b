"""The description of a graph as columns of JSON values."""

from __future__ import annotations

import base64
import math
from array import array
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import partial
from itertools import count
from types import CellType, MappingProxyType, MethodType
from typing import Any, Final

from msgspec import Struct

from batsched_py.site.image.graph import Graph, attributes, is_fixed, is_plain, parts
from batsched_py.site.image.kinds import UnfitStateError, class_name

# Objects of one class and shape are a group: a list of their numbers, or how many there are, and a column for each
# attribute. Columns of like values need no mark for each value, which makes them three times as fast to read as objects
# that are written one by one.
#
# The numbers of new objects follow those of the objects that a start makes. First come all that can be made empty and
# filled later, whatever refers to what; then those that are made whole, each after all that it consists of. Cycles can
# only go through the first ones.

#: The smallest and the largest integers of the JSON library.
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1
#: The most objects within objects that never change.
_DEEPEST: Final = 500

Column = list[Any]


def describe(graph: Graph) -> dict[str, Any]:
    """Return the state of the objects that are reachable now. UnfitStateError if an image cannot hold it."""
    return _ImageWriter(graph).write()


class _ImageWriter:
    def __init__(self, graph: Graph) -> None:
        self._graph, self._numbers = graph, dict(graph.numbers)
        self._name = graph.constants.name
        #: The objects, kept so that no other gets their ids while they are written.
        self._kept: list[Any] = []
        self._levels: dict[int, int] = {}

    def write(self) -> dict[str, Any]:
        numbers, changed, filled, whole = self._graph.numbers, list[Any](), list[Any](), list[Any]()
        for one, of in self._graph.walk():
            self._kept.append(one)
            if id(one) in numbers:
                if self._graph.has_changed(one, of):
                    changed.append(one)
            else:
                (whole if is_fixed(one) else filled).append(one)
        new = _grouped((shape(one), one) for one in filled)
        fixed = sorted(_grouped(((self._level(one), *shape(one)), one) for one in whole), key=lambda group: group[0][0])
        first = len(numbers)
        for _, some in (*new, *fixed):
            for one in some:
                self._numbers[id(one)] = first
                first += 1
        return {
            "made": [self._group(key, some, ids=True) for key, some in _grouped((shape(one), one) for one in changed)],
            "new": [self._group(key, some) for key, some in new],
            "fixed": [self._group(key[1:], some) for key, some in fixed],
        }

    def _level(self, one: Any, depth: int = 0) -> int:
        """Return how many objects that never change an object has above each other."""
        found = self._levels.get(id(one))
        if found is None:
            if depth > _DEEPEST:
                raise UnfitStateError("objects within more than 500 others")
            of = [part for part in parts(one) if not is_plain(part) and id(part) not in self._graph.numbers]
            levels = [self._level(part, depth + 1) for part in of if is_fixed(part) and self._name(part) is None]
            found = self._levels[id(one)] = 1 + max(levels, default=-1)
        return found

    def _group(self, key: tuple[Any, ...], some: Sequence[Any], *, ids: bool = False) -> dict[str, Any]:
        kind, names = key
        group: dict[str, Any] = {"class": kind.rstrip("="), "count": len(some)}
        if ids:
            group["numbers"] = [self._numbers[id(one)] for one in some]
        if names:
            group["names"] = names
        if isinstance(some[0], dict | list | tuple | deque | set | frozenset):
            group |= self._contents(some)
        elif isinstance(some[0], Struct) or not _SPECIAL.get(type(some[0])):
            pass
        else:
            group["of"] = [self._column(column) for column in zip(*map(_SPECIAL[type(some[0])], some), strict=True)]
            return group
        if names:
            rows = ([value for _, value in attributes(one)] for one in some)
            group["of"] = [self._column(column) for column in zip(*rows, strict=True)]
        return group

    def _contents(self, some: Sequence[Any]) -> dict[str, Any]:
        """Return the contents of containers, one after the other, and their lengths."""
        found: dict[str, Any] = {"lengths": [len(one) for one in some]}
        addresses = addressed(some[0])
        if addresses:
            found["addresses"] = addresses
        else:
            found["items"] = self._column([item for one in some for item in one])
        if isinstance(some[0], dict):
            found["values"] = self._column([value for one in some for value in one.values()])
        if isinstance(some[0], deque):
            found["extra"] = self._column([one.maxlen for one in some])
        if isinstance(some[0], defaultdict):
            found["extra"] = self._column([one.default_factory for one in some])
        return found

    def _column(self, values: Iterable[Any]) -> Column:
        """Return values with the kind of their column: plain ones, numbers of objects, or a mixture."""
        values = list(values)
        kinds = set(map(type, values))
        if kinds <= {str}:
            return ["text", values]
        if kinds <= _VALUES and (not kinds & {int, float} or all(map(_is_json, values))):
            return ["plain", values]
        if not kinds & _VALUES:
            found = [self._numbers.get(id(one)) for one in values]
            if None not in found:
                return ["objects", found]
        return ["mixed", [self._value(one) for one in values]]

    def _value(self, value: Any) -> Any:
        if type(value) in _VALUES:
            if _is_json(value):
                return value
            if isinstance(value, int):
                return ["int", f"{value:x}"]
            return ["float", str(value)]
        if isinstance(value, bytes):
            return ["bytes", base64.b64encode(value).decode()]
        if isinstance(value, Enum):
            return ["member", class_name(type(value)), value.name]
        if isinstance(value, type):
            return ["class", class_name(value)]
        number = self._numbers.get(id(value))
        if number is not None:
            return [number]
        name = self._name(value)
        if name is None:
            raise UnfitStateError(f"an object of {type(value).__qualname__} that was not found")
        return ["constant", name]


#: Classes of values that JSON has.
_VALUES: Final = frozenset({type(None), bool, int, float, str})
#: Class -> function that returns what an object of it consists of, if that is no attributes.
_SPECIAL: Final[dict[type, Any]] = {
    partial: lambda one: (one.func, one.args, one.keywords),
    MethodType: lambda one: (one.__self__, one.__func__.__name__),
    MappingProxyType: lambda one: tuple(parts(one)),
    array: lambda one: (one.typecode, base64.b64encode(one.tobytes()).decode()),
    count: lambda one: one.__reduce__()[1],
    range: lambda one: (one.start, one.stop, one.step),
    bytearray: lambda one: (bytes(one),),
    CellType: lambda one: (one.cell_contents,),
}


def addressed(value: object) -> int:
    """Return 1 for a dictionary whose keys are the addresses of its values, 2 if of their first parts; else 0."""
    if not isinstance(value, dict) or not value or not all(type(key) is int for key in value):
        return 0
    if all(key == id(one) for key, one in value.items()):
        return 1
    if all(isinstance(one, tuple) and one and key == id(one[0]) for key, one in value.items()):
        return 2
    return 0


def shape(value: Any) -> tuple[str, tuple[str, ...]]:
    """Return the name of the class of an object, and those of its attributes."""
    kind = type(value)
    if kind in _SPECIAL:
        return kind.__name__, ()
    if isinstance(value, dict) and kind.__module__ in _PYTHON:
        return class_name(kind) + "=" * addressed(value), ()
    if isinstance(value, tuple) or (isinstance(value, list | deque | set) and kind.__module__ in _PYTHON):
        return class_name(kind), ()
    if isinstance(value, frozenset):
        return class_name(kind), ()
    return class_name(kind), tuple(name for name, _ in attributes(value))


#: Modules of containers without attributes.
_PYTHON: Final = frozenset({"builtins", "collections"})


def _grouped(keyed: Iterable[tuple[Any, Any]]) -> list[tuple[Any, list[Any]]]:
    groups: dict[Any, list[Any]] = {}
    for key, one in keyed:
        groups.setdefault(key, []).append(one)
    return list(groups.items())


def _is_json(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or _LEAST <= value <= _MOST
