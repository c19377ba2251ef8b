"""The comparison of two states of a site, object by object."""

from __future__ import annotations

from array import array
from itertools import count
from types import CellType, FunctionType, MappingProxyType, MethodType
from typing import Any

from batsched_py.leases.accounting.ledger import Ledger
from batsched_py.session.session import Session
from batsched_py.simulator.wire.scheduler_link import SchedulerLink
from batsched_py.site.image.api import (
    STATELESS,
    Constants,
    addressed,
    attributes,
    is_exhausted,
    is_fixed,
    is_plain,
    ordered,
    parts,
)

#: Attributes that measure the run itself, or have views for callers only.
LEFT_OUT = frozenset({"_began", "_begun", "_asked", "deciding_seconds", "_quiet"})


def difference(one: Any, other: Any, borders: tuple[type, ...]) -> str:
    """Return where two states differ, by names of classes; "" if all that can be reached is the same.

    An object that may change, and is at several places of one state, must be one object in the other, too. `borders`
    are not followed.
    """
    known = _Pairs()
    stack: list[tuple[Any, Any, str]] = [(one, other, "")]
    while stack:
        first, second, path = stack.pop()
        if type(first) is not type(second) or (is_plain(first) and repr(first) != repr(second)):
            return f"{path}: {first!r}, not {second!r}"
        if is_plain(first) or isinstance(first, borders) or known.are_same(first, second):
            continue
        if not known.add(first, second):
            return f"{path}: {type(first)} is another object"
        here = f"{path}>{type(first).__name__}"[-300:]
        of = [_parts(value) for value in (first, second)]
        if len(of[0]) != len(of[1]):
            return f"{here}: {len(of[0])} parts, not {len(of[1])}"
        stack += [(*pair, f"{here}[{place}]") for place, pair in enumerate(zip(*of, strict=True))]
    return ""


class _Pairs:
    """Pairs of objects that stand for each other in two states."""

    def __init__(self) -> None:
        self._constants = Constants()
        self._there: dict[int, int] = {}
        self._back: dict[int, int] = {}
        self._fixed = set[tuple[int, int]]()
        #: The objects, whose ids must stay theirs.
        self._kept = list[Any]()

    def are_same(self, one: Any, other: Any) -> bool:
        """Return whether both are compared already, or are one constant."""
        pair = id(one), id(other)
        return (
            pair in self._fixed
            or self._there.get(id(one)) == id(other)
            or (one is other and bool(self._constants.name(one)))
        )

    def add(self, one: Any, other: Any) -> bool:
        """Note a pair; return False if one of them stands for another object, unless they never change."""
        self._kept += [one, other]
        if is_fixed(one):
            self._fixed.add((id(one), id(other)))
            return True
        if id(one) in self._there or id(other) in self._back:
            return False
        self._there[id(one)], self._back[id(other)] = id(other), id(one)
        return True


def _parts(value: Any) -> list[Any]:
    if isinstance(value, FunctionType):
        return [value.__qualname__, *(value.__closure__ or ()), value.__defaults__]
    if isinstance(value, array | count | range | bytearray):
        return [repr(value)]
    if isinstance(value, CellType):
        return [value.cell_contents]
    if is_exhausted(value) or isinstance(value, STATELESS):
        return []
    if addressed(value):
        return list(value.values())
    if isinstance(value, MappingProxyType):
        return [*value, *value.values()]
    if isinstance(value, MethodType):
        return [value.__name__, value.__self__]
    if isinstance(value, set | frozenset):
        return ordered(value) if all(map(is_plain, value)) else [len(value)]
    if isinstance(value, SchedulerLink | Session | Ledger):
        return [one for name, one in attributes(value) if name not in LEFT_OUT]
    return parts(value)
