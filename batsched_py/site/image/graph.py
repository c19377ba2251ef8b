"""The graph of the objects that the state of a site consists of."""

from __future__ import annotations

import gc
from array import array
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import count
from operator import length_hint
from types import CellType, FunctionType, GeneratorType, MappingProxyType, MethodType
from typing import Any, Final

from msgspec import Struct

from batsched_py.site.image.kinds import (
    STATELESS,
    Constants,
    UnfitStateError,
    attributes_of_compiled,
    cells,
    class_name,
    is_of_state,
    is_record,
    slots,
)

# `parts` is the one description of what an object consists of: an image is written, read and compared by it. A class
# needs to say nothing about its state, so nothing can be forgotten: all slots and attributes are parts. What is neither
# known here nor of our own classes is an error, and the site has no image.

#: Classes of values that are written as they are, or nearly so.
PLAIN: Final = (type(None), bool, int, float, str, bytes)
#: Classes whose objects never change, besides frozen records and named tuples.
_FIXED: Final = (tuple, frozenset, partial, MethodType, MappingProxyType, range)
#: Classes of iterators.
_ITERATORS: Final[tuple[type[Any], ...]] = (type(iter([])), type(iter(())))


def is_plain(value: object) -> bool:
    """Return whether a value is no object of its own: its identity has no meaning."""
    return type(value) in PLAIN or isinstance(value, Enum | type)


def is_fixed(value: object) -> bool:
    """Return whether an object never changes, so that it is made whole."""
    return isinstance(value, _FIXED) or is_record(type(value))


def attributes(value: object) -> list[tuple[str, Any]]:
    """Return the attributes of an object of our own classes, in a fixed order."""
    kind: Any = type(value)
    if isinstance(value, Struct):
        return [(name, getattr(value, name)) for name in kind.__struct_fields__]
    found = [(name, member.__get__(value, kind)) for name, member in slots(kind) if _is_set(value, member)]
    found += [(name, getattr(value, name)) for name in attributes_of_compiled(kind) if hasattr(value, name)]
    return found + list(getattr(value, "__dict__", {}).items())


def _is_set(value: object, member: Any) -> bool:
    try:
        member.__get__(value, type(value))
    except AttributeError:
        return False
    return True


def is_exhausted(value: object) -> bool:
    """Return whether an object is an iterator that has nothing more to give."""
    if isinstance(value, GeneratorType):
        return value.gi_frame is None
    return isinstance(value, _ITERATORS) and length_hint(value, 1) == 0


def elements(value: Any) -> list[Any] | None:
    """Return the elements of a container, keys before values; None for another object."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, list | tuple | deque):
        return list(value)
    if isinstance(value, set | frozenset):
        return ordered(value)
    return None


def ordered(values: Iterable[Any]) -> list[Any]:
    """Return the elements of a set in a fixed order, if they have one."""
    found = list(values)
    try:
        return sorted(found)
    except TypeError:
        return found


def parts(value: Any) -> list[Any]:
    """Return all that an object consists of. UnfitStateError if it is of no known kind."""
    kind = type(value)
    found = elements(value)
    if found is not None:
        if isinstance(value, defaultdict):
            found.append(value.default_factory)
        if kind.__module__ not in ("builtins", "collections"):
            class_name(kind)
            found += [one for _, one in (attributes(value) if not isinstance(value, tuple) else ())]
        return found
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__self__]
    if isinstance(value, MappingProxyType):
        return gc.get_referents(value)[:1]  # the dictionary itself, which its owner may change
    if isinstance(value, array | count | range | bytearray):
        return []
    class_name(kind)
    return [one for _, one in attributes(value)]


class Graph:
    """The objects that a start has made, numbered in the order in which they are found from some roots.

    Args:
        roots: the objects that have all of the state.
        borders: objects that are not part of it, but refer to files, threads and callers.
    """

    def __init__(self, roots: Sequence[object], borders: Iterable[object]) -> None:
        self.roots, self.constants = roots, Constants()
        self._borders = {id(one) for one in borders}
        #: The objects by number; kept, so that no other object gets their ids.
        self.made: list[Any] = []
        #: The id of each of them -> its number.
        self.numbers: dict[int, int] = {}
        #: What each of them consisted of.
        self._first: list[list[Any]] = []
        for one, of in self._walk():
            if isinstance(one, set | frozenset) and not all(map(is_plain, one)):
                raise UnfitStateError("a set of objects without an order")
            self.numbers[id(one)] = len(self.made)
            self.made.append(one)
            self._first.append(of)

    def walk(self) -> Iterator[tuple[Any, list[Any]]]:
        """Iterate over all objects that are reachable now, with their parts. UnfitStateError."""
        return self._walk(self.numbers)

    def has_changed(self, value: object, of: Sequence[Any]) -> bool:
        """Return whether an object that a start has made may have another state now; `of` are its parts."""
        if is_fixed(value) or isinstance(value, (FunctionType, *STATELESS)):
            return False
        if id(value) in self._borders or is_exhausted(value):
            return False
        if isinstance(value, array | count | bytearray):
            return True
        first = self._first[self.numbers[id(value)]]
        return len(first) != len(of) or not all(map(_is_same, first, of))

    def _walk(self, known: Mapping[int, int] | None = None) -> Iterator[tuple[Any, list[Any]]]:
        seen, stack, name = set[int](), [*reversed(self.roots)], self.constants.name
        while stack:
            one = stack.pop()
            if is_plain(one) or id(one) in seen or name(one) is not None:
                continue
            seen.add(id(one))
            of = self._parts(one, made=known is None or id(one) in known)
            yield one, of
            stack += reversed(of)

    def _parts(self, value: Any, *, made: bool) -> list[Any]:
        """Return the parts of an object; only one that a start has `made` may be a function, or without a state."""
        if id(value) in self._borders:
            return []
        if made:
            if isinstance(value, FunctionType):
                if not is_of_state(value.__module__) and not value.__module__.startswith("batsched_py.site."):
                    raise UnfitStateError(f"the function {value.__qualname__} of {value.__module__}")
                return [*cells(value), value.__defaults__, value.__kwdefaults__]
            if isinstance(value, CellType):
                return [value.cell_contents]
            if is_exhausted(value):
                return []
            if isinstance(value, STATELESS):
                owner = getattr(value, "__self__", None)
                return [] if owner is None or isinstance(owner, STATELESS) else [owner]
        return parts(value)

    def describe(self) -> str:
        """Return a text that is the same for two starts with the same objects."""
        return "\n".join(f"{type(one).__module__}.{type(one).__qualname__}" for one in self.made)


def _is_same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and isinstance(one, PLAIN) and one == other)
