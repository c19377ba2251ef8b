"""Records of resources in a collection, and lazily created lists of the records that a query finds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple, overload

from batsched_py.queries.columns import Columns
from batsched_py.queries.values import Value

#: Attribute of a record that restricts its users -> the member of the requester to compare.
POLICIES: Final = {"allowed_users": "user", "allowed_classes": "job_class", "allowed_origins": "origin"}


class Record(NamedTuple):
    """The record of a resource in a collection.

    Attributes:
        name: unique in the collection.
        attributes: values by name.
        age: seconds since the values were read.
    """

    name: str
    attributes: Mapping[str, Value]
    age: float


class Requester(NamedTuple):
    """The user, class and origin of a request; None for unknown ones."""

    user: str | None = None
    job_class: str | None = None
    origin: str | None = None


class Found(Sequence[Record]):
    """The records found by a query, in order; they must be read before the collection changes.

    They are created lazily: a query finds hundreds, and placing a job reads only a few.
    """

    __slots__ = ("_columns", "_make", "_names", "rows")

    def __init__(
        self, rows: Sequence[int], columns: Columns, names: Mapping[int, str], make: Callable[[int], Record]
    ) -> None:
        """Refer to rows of a collection; `names` has their names, and `make` creates their records."""
        self.rows, self._columns, self._names, self._make = rows, columns, names, make

    @overload
    def __getitem__(self, position: int) -> Record: ...

    @overload
    def __getitem__(self, position: slice) -> Found: ...

    def __getitem__(self, position: int | slice) -> Record | Found:
        if isinstance(position, slice):
            return self._with(self.rows[position])
        return self._make(self.rows[position])

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> list[str]:
        """The names of the records."""
        return [self._names[row] for row in self.rows]

    def numbers(self, attribute: str) -> list[float]:
        """Return the numbers of an attribute; 0 where it is not a number."""
        values = self._columns.values(attribute)
        if values is None:
            return [0.0] * len(self.rows)
        found = [values[row] for row in self.rows]
        return [float(value) if isinstance(value, (int, float)) else 0.0 for value in found]

    def arranged(self, positions: Sequence[int]) -> Found:
        """Return the records at these positions, in this order."""
        return self._with([self.rows[position] for position in positions])

    def without(self, names: Collection[str]) -> Found:
        """Return the records except those of these names."""
        return self._with([row for row in self.rows if self._names[row] not in names]) if names else self

    def admitting(self, requester: Requester) -> Found:
        """Return the records except those that are certain to refuse the requester."""
        if not any(self._columns.values(attribute) for attribute in POLICIES):
            return self
        return self._with([row for row in self.rows if admits(self._columns.get(row), requester)])

    def _with(self, rows: Sequence[int]) -> Found:
        return Found(rows, self._columns, self._names, self._make)


def admits(attributes: Mapping[str, Value], requester: Requester) -> bool:
    """Return whether a resource may admit the requester: False if its record names only others."""
    for attribute, member in POLICIES.items():
        allowed, asks = attributes.get(attribute), getattr(requester, member)
        if allowed is not None and asks is not None and asks not in str(allowed).replace(",", " ").split():
            return False
    return True
