"""The restoration of a state from columns of JSON values."""

from __future__ import annotations

import base64
from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count, islice
from types import CellType, MappingProxyType, MethodType
from typing import Any, Final

from msgspec import Raw, Struct

from batsched_py.site.image.columns import ABSENT, ObjectGroup, StateColumns, read_column
from batsched_py.site.image.graph import Graph
from batsched_py.site.image.kinds import (
    UnfitStateError,
    class_named,
    constant_named,
    is_record,
    member_named,
    method_of,
)

# All new objects exist before any is filled. After an error the site begins anew, with objects that no image has
# touched.
#
# A column is forgotten once it is used, since memory between objects that stay is never given back. Dictionaries and
# sets are filled at the very end, since they may hash what has attributes.

#: The most steps of a counter between two states.
_MOST_STEPS: Final = 10**8


def restore(graph: Graph, state: StateColumns) -> None:
    """Give the objects of a start the state of an image. After an error, any of them may be spoiled.

    UnfitStateError, ValueError, TypeError, LookupError, AttributeError or RecursionError if the image is not of such a
    start.
    """
    _ImageReader(graph).read(state)


class _ImageReader:
    def __init__(self, graph: Graph) -> None:
        self._objects = list(graph.made)
        self._first = len(graph.made)
        #: Texts and numbers that were read, each of which is kept once.
        self._texts: dict[str, str] = {}
        self._floats: dict[float, float] = {}

    def read(self, state: StateColumns) -> None:
        new = [(group, self._shells(group)) for group in state.new]
        for group in state.fixed:
            self._objects += self._whole(group)
        made = [(group, [self._made(number) for number in group.numbers]) for group in state.made]
        for group, some in made:
            kind = CellType if group.of_class == "cell" else class_named(group.of_class)
            if not all(type(one) is kind for one in some):
                raise UnfitStateError(f"objects that are not {group.of_class}")
        both = [*new, *made]
        for group, some in both:
            self._set_attributes(group, some, self._columns(group))
        for group, some in both:
            if group.lengths is not None:
                _fill(some, self._contents(group, group.lengths))

    def _made(self, number: int) -> Any:
        if not 0 <= number < self._first:
            raise UnfitStateError(f"object {number}, which a start does not make")
        return self._objects[number]

    def _shells(self, group: ObjectGroup) -> list[Any]:
        """Add the empty objects of a group, and return them."""
        kind: Any = class_named(group.of_class)
        if issubclass(kind, deque):
            some = [kind((), length) for length in self._decode(group.extra)]
        elif issubclass(kind, defaultdict):
            some = [kind(factory) for factory in self._decode(group.extra)]
        elif kind is array:
            some = [kind(code) for code in self._decode(group.of[0])]
        elif kind is count:
            some = list(map(kind, *self._columns(group)))
        elif issubclass(kind, Struct):
            empty = dict.fromkeys(kind.__struct_fields__)
            some = [kind(**empty) for _ in range(group.count)]
        else:
            some = [kind.__new__(kind) for _ in range(group.count)]
        self._objects += some
        return some

    def _whole(self, group: ObjectGroup) -> list[Any]:
        """Return the objects of a group that never change."""
        kind: Any = class_named(group.of_class)
        if issubclass(kind, tuple | frozenset):
            items = iter(self._decode(group.items))
            make = kind if issubclass(kind, frozenset) else partial(tuple.__new__, kind)
            return [make(islice(items, length)) for length in group.lengths or ()]
        columns = self._columns(group)
        if kind in _MAKERS:
            return list(map(_MAKERS[kind], *columns))
        if not is_record(kind) or list(kind.__struct_fields__) != group.names:
            raise UnfitStateError(f"objects of {group.of_class} that are made whole")
        if not columns:
            return [kind() for _ in range(group.count)]
        if len(kind.__match_args__) == len(columns):
            return list(map(kind, *columns))
        names = kind.__struct_fields__
        return [kind(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]

    def _columns(self, group: ObjectGroup) -> list[list[Any]]:
        return [self._decode(column) for column in group.of]

    @staticmethod
    def _set_attributes(group: ObjectGroup, some: Sequence[Any], columns: list[list[Any]]) -> None:
        refill = _REFILLED.get(group.of_class)
        if refill is not None:
            for one, *values in zip(some, *columns, strict=True):
                refill(one, *values)
            return
        if some and hasattr(some[0], "__dict__"):
            for one in some:
                one.__dict__.clear()
        is_struct = bool(some) and isinstance(some[0], Struct)
        set_attribute = setattr if is_struct else object.__setattr__  # others may be frozen
        for name, column in zip(group.names, columns, strict=True):
            if name.startswith("__"):
                raise UnfitStateError(f"the attribute {name}")
            for one, value in zip(some, column, strict=True):
                set_attribute(one, name, value)

    def _contents(self, group: ObjectGroup, lengths: list[int]) -> tuple[list[int], list[Any], list[Any] | None]:
        values = self._decode(group.values) if group.values is not ABSENT else None
        if group.addresses:
            addressed = values or [] if group.addresses == 1 else [one[0] for one in values or []]
            return lengths, list(map(id, addressed)), values
        return lengths, self._decode(group.items), values

    def _decode(self, column: Raw) -> list[Any]:
        kind, values = read_column(column)
        if kind == "text":
            memo = self._texts
            return [memo.setdefault(value, value) for value in values]
        if kind == "plain":
            shared = self._floats.setdefault
            return [shared(value, value) if type(value) is float and value else value for value in values]
        if kind == "objects":
            objects = self._objects
            if values and min(values) < 0:
                raise UnfitStateError("an object without a number")
            return [objects[number] for number in values]
        if kind != "mixed":
            raise UnfitStateError(f"a column {kind}")
        return [self._value(value) if type(value) is list else self._shared(value) for value in values]

    def _shared(self, value: Any) -> Any:
        """Return a value as one object for all places, as it mostly was; not 0, of which there are two."""
        if type(value) is str:
            return self._texts.setdefault(value, value)
        return self._floats.setdefault(value, value) if type(value) is float and value else value

    def _value(self, value: list[Any]) -> Any:
        kind, *more = value
        if type(kind) is int:
            if kind < 0:
                raise UnfitStateError("an object without a number")
            return self._objects[kind]
        return _VALUES[kind](*more)


#: Mark of a value in a column -> function that returns it.
_VALUES: Final[dict[str, Callable[..., Any]]] = {
    "int": lambda text: int(text, 16),
    "float": float,
    "bytes": lambda text: base64.b64decode(text, validate=True),
    "member": member_named,
    "class": class_named,
    "constant": constant_named,
}


def _advance(counter: Any, value: int) -> None:
    """Let a counter of a start count on until its next value."""
    steps = value - counter.__reduce__()[1][0]
    if not 0 <= steps <= _MOST_STEPS:
        raise UnfitStateError("a counter that has gone back")
    if steps:
        next(islice(counter, steps - 1, None))


def _refill_array(values: array[Any], code: str, content: str) -> None:
    if values.typecode != code:
        raise UnfitStateError(f"an array of {code}")
    del values[:]
    values.frombytes(base64.b64decode(content, validate=True))


def _refill_bytes(values: bytearray, content: bytes) -> None:
    values[:] = content


def _refill_cell(cell: CellType, content: object) -> None:
    cell.cell_contents = content


def _partial(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Callable[..., Any]:
    return partial(function, *args, **named)


#: Class -> function that makes an object that never changes of its parts.
_MAKERS: Final[dict[type, Callable[..., Any]]] = {
    partial: _partial,
    MethodType: method_of,
    MappingProxyType: MappingProxyType,
    range: range,
}
#: Name of a class whose objects have no attributes -> function that gives an object its parts.
_REFILLED: Final[dict[str, Callable[..., None]]] = {
    "count": _advance,
    "array": _refill_array,
    "bytearray": _refill_bytes,
    "cell": _refill_cell,
}


def _fill(some: Sequence[Any], contents: tuple[list[int], list[Any], list[Any] | None]) -> None:
    """Fill containers with their items."""
    lengths, items, values = contents
    if sum(lengths) != len(items) or len(lengths) != len(some) or (values is not None and len(values) != len(items)):
        raise UnfitStateError("containers of other lengths")
    rest, others = iter(items), iter(values or ())
    for one, length in zip(some, lengths, strict=True):
        one.clear()
        if isinstance(one, dict):
            one.update(zip(islice(rest, length), islice(others, length), strict=True))
        elif isinstance(one, set):
            one.update(islice(rest, length))
        else:
            one.extend(islice(rest, length))
