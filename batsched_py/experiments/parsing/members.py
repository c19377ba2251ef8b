"""Members of objects: each is read by its rule; faults are noted, and defaults replace invalid values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from batsched_py.experiments.faults import Place, RefusedValueError
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown

_T = TypeVar("_T")
#: Parses a value; refuses an invalid one.
Reader = Callable[[Place, Any], _T]


class Members:
    """The members of an object; unknown and missing ones are noted as faults.

    Args:
        place: place of the object.
        value: the object; any other value is refused.
        known: valid names of members.
    """

    def __init__(self, place: Place, value: Any, known: Iterable[str]) -> None:
        if not isinstance(value, dict):
            place.refuse(f"must be an object, not {shown(value)}")
        self._place, self._values = place, value
        names = list(known)
        for member in value:
            if member not in names:
                (place / member).note(unknown(member, names))

    def optional(self, member: str, read: Reader[_T], default: _T) -> _T:
        """Return the value of a member, `default` if it is absent or invalid."""
        if member not in self._values:
            return default
        try:
            return read(self._place / member, self._values[member])
        except RefusedValueError:
            return default

    def required(self, member: str, read: Reader[_T], default: _T) -> _T:
        """Return the value of a member, `default` if it is invalid or absent; note an absent one."""
        if member not in self._values:
            (self._place / member).note("is missing")
        return self.optional(member, read, default)


def list_of(read: Reader[_T]) -> Reader[tuple[_T, ...]]:
    """Return a reader of lists, without invalid items."""

    def read_list(place: Place, value: Any) -> tuple[_T, ...]:
        if not isinstance(value, list):
            place.refuse(f"must be a list, not {shown(value)}")
        found = []
        for index, item in enumerate(value):
            try:
                found.append(read(place[index], item))
            except RefusedValueError:
                continue
        return tuple(found)

    return read_list


def pair_of(read: Reader[_T]) -> Reader[tuple[_T, _T]]:
    """Return a reader of lists of two values."""

    def read_pair(place: Place, value: Any) -> tuple[_T, _T]:
        if not isinstance(value, list) or len(value) != 2:
            place.refuse(f"must be a list of two items, not {shown(value)}")
        return read(place[0], value[0]), read(place[1], value[1])

    return read_pair


def mapping_of(read: Reader[_T], read_key: Reader[str]) -> Reader[Mapping[str, _T]]:
    """Return a reader of objects with any members, without invalid ones."""

    def read_mapping(place: Place, value: Any) -> Mapping[str, _T]:
        if not isinstance(value, dict):
            place.refuse(f"must be an object, not {shown(value)}")
        found = {}
        for key, item in value.items():
            try:
                found[read_key(place / key, key)] = read(place / key, item)
            except RefusedValueError:
                continue
        return found

    return read_mapping
