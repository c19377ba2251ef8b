"""Kinds of objects that an image of a site may hold, and their classes, functions and constants by name.

This is the only place that finds or makes objects by names from a file.
"""

from __future__ import annotations

import operator
import re
import sys
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from enum import Enum
from functools import cache, partial
from itertools import count
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, Final

import msgspec
import orjson
from msgspec import Struct

# A file is input from outside, like any other: what it names must be a class, a function or a constant of the packages
# below, which do no I/O, and must have been imported already. No constructor is called but those of records (msgspec),
# whose checks are part of them; no attribute of a class is written, and nothing is imported, called or evaluated.
#
# An algorithm of a user, or one with state that depends on addresses of objects (`slurm` counts by `id`), has classes
# that are not here. A site with such an algorithm has no images.

#: Packages whose classes may be part of the state of a site.
PACKAGES: Final = tuple(
    f"batsched_py.{name}"
    for name in (
        *("bits", "experiments", "hostset", "leases", "metadata", "model", "planning", "protocol", "queries"),
        *("reading", "results", "scheduling", "schedulers", "session", "simulator", "state", "text", "timelines"),
        *("traces",),
    )
)
#: Containers and other classes of Python by their names in an image.
BUILTINS: Final[dict[str, type[Any]]] = {
    str(kind.__name__): kind
    for kind in (
        *(bool, int, float, str, bytes, list, dict, set, tuple, frozenset, range, bytearray),
        *(deque, defaultdict, Counter, OrderedDict, array, count, partial, MethodType, MappingProxyType),
    )
}
_NAMES: Final = {kind: name for name, kind in BUILTINS.items()}
#: Classes of objects without a state of their own, which stay as a start makes them.
STATELESS: Final = (
    *(type, ModuleType, BuiltinFunctionType, re.Pattern, MemberDescriptorType, GetSetDescriptorType),
    *(operator.itemgetter, operator.attrgetter, operator.methodcaller, orjson.Fragment),
    *(msgspec.json.Encoder, msgspec.json.Decoder, msgspec.msgpack.Encoder, msgspec.msgpack.Decoder),
    *(type(object.__init__), type(str.join), type("".__len__), type(cache(len)), property, staticmethod, classmethod),
)


class UnfitStateError(Exception):
    """The state has something that an image cannot hold; the message says what."""


@cache
def is_of_state(module: str) -> bool:
    """Return whether objects of a module may be part of the state."""
    return any(module == one or module.startswith(f"{one}.") for one in PACKAGES)


def class_name(kind: type) -> str:
    """Return the name of a class in an image. UnfitStateError if it is not among the kinds."""
    name = _NAMES.get(kind)
    if name is not None:
        return name
    name = f"{kind.__module__}:{kind.__qualname__}"
    if not is_of_state(kind.__module__) or _attribute(name) is not kind:
        raise UnfitStateError(f"an object of {kind.__module__}.{kind.__qualname__}")
    return name


@cache
def class_named(name: str) -> type:
    """Return the class with a name in an image. UnfitStateError if there is none."""
    if name in BUILTINS:
        return BUILTINS[name]
    found = _attribute(name)
    if not isinstance(found, type) or f"{found.__module__}:{found.__qualname__}" != name:
        raise UnfitStateError(f"the class {name}")
    return found


def member_named(name: str, member: str) -> Enum:
    """Return the member of an enumeration. UnfitStateError if there is none."""
    kind = class_named(name)
    if not issubclass(kind, Enum) or member not in kind.__members__:
        raise UnfitStateError(f"{name} {member}")
    return kind.__members__[member]


def method_of(owner: object, name: str) -> MethodType:
    """Return a method of an object of our own classes. UnfitStateError if there is none."""
    function = None if name.startswith("__") else getattr(type(owner), name, None)
    if not isinstance(function, FunctionType) or not is_of_state(function.__module__):
        raise UnfitStateError(f"the method {name} of {type(owner).__qualname__}")
    return MethodType(function, owner)


class Constants:
    """Functions and constants of our own modules that are imported by now, by name and by identity.

    They are found again by their names, since some are compared by identity; their contents never change. A name is all
    the names that modules have for one, as another start may have imported other modules by then.
    """

    def __init__(self) -> None:
        found: dict[int, tuple[list[str], object]] = {}
        for module in sorted(filter(is_of_state, list(sys.modules))):  # copies, since other threads import modules
            for name, value in list(vars(sys.modules[module]).items()):
                if not name.startswith("__") and _is_constant(value):
                    found.setdefault(id(value), ([], value))[0].append(f"{module}:{name}")
        #: The id of an object -> its name, and the object.
        self._names = {one: (" ".join(names), value) for one, (names, value) in found.items()}

    def name(self, value: object) -> str | None:
        """Return the name of a constant; None for another object."""
        found = self._names.get(id(value))
        return None if found is None else found[0]


@cache
def constant_named(name: str) -> object:
    """Return the constant with a name in an image. UnfitStateError if there is none."""
    one = next((one for one in name.split() if one.partition(":")[0] in sys.modules), "")
    found = _attribute(one)
    if one.rpartition(":")[2].startswith("__") or not _is_constant(found):
        raise UnfitStateError(f"the constant {name}")
    return found


def _is_constant(value: object) -> bool:
    """Return whether a value of a module is more than a number or a text, and no class or module."""
    if isinstance(value, FunctionType):
        return is_of_state(value.__module__)
    plain = (int, float, str, bytes, tuple, frozenset, type(None), type, ModuleType, Enum)
    return not isinstance(value, plain) and (
        isinstance(value, list | dict | set) or is_of_state(type(value).__module__)
    )


def _attribute(name: str) -> object:
    module, _, path = name.partition(":")
    if not is_of_state(module) or module not in sys.modules:
        raise UnfitStateError(name)
    found: object = sys.modules[module]
    for part in path.split("."):
        found = vars(found).get(part) if isinstance(found, type | ModuleType) else None
    return found


@cache
def slots(kind: type) -> tuple[tuple[str, Any], ...]:
    """Return name and descriptor of each slot of a class that is not a record."""
    found = [
        (name, member)
        for base in reversed(kind.__mro__)
        for name, member in vars(base).items()
        if isinstance(member, MemberDescriptorType) and base.__module__ != "builtins"
    ]
    return tuple(found)


@cache
def attributes_of_compiled(kind: type) -> tuple[str, ...]:
    """Return the names of the attributes of a compiled class (mypyc); none for another one."""
    return tuple(name for name in getattr(kind, "__mypyc_attrs__", ()) if name != "__dict__")


def is_record(kind: type) -> bool:
    """Return whether a class is a frozen record, whose objects are made whole."""
    return issubclass(kind, Struct) and kind.__struct_config__.frozen


def cells(function: FunctionType) -> Iterator[CellType]:
    """Iterate over the variables that a function shares with the one in which it was made."""
    yield from function.__closure__ or ()
