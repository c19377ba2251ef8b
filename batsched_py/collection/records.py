"""Records: resources as a collection knows them, and those that a query has found, made when they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple, overload

from batsched_py.collection.columns import Columns
from batsched_py.collection.mil.values import Value

#: Attribute of a record -> who may use the resource, of the one who asks.
POLICIES: Final = {"allowed_users": "user", "allowed_classes": "job_class", "allowed_origins": "origin"}


class Record(NamedTuple):
    """A resource as a collection knows it.

    Attributes:
        name: unique in the collection.
        attributes: values by name.
        age: seconds since they were so.
    """

    name: str
    attributes: Mapping[str, Value]
    age: float


class Requester(NamedTuple):
    """The user, class and origin of a request; None for what is not known."""

    user: str | None = None
    job_class: str | None = None
    origin: str | None = None


class Found(Sequence[Record]):
    """Records that a query has found, in order: to be looked at before the collection changes.

    A query finds hundreds, of which whoever places a job looks at a few.
    """

    __slots__ = ("_columns", "_make", "_names", "rows")

    def __init__(
        self, rows: Sequence[int], columns: Columns, names: Mapping[int, str], make: Callable[[int], Record]
    ) -> None:
        """Keep rows of a collection, whose names are in `names`, and whose records `make` makes."""
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
        """Return the numbers that an attribute has; 0 where it is none."""
        values = self._columns.values(attribute)
        if values is None:
            return [0.0] * len(self.rows)
        found = [values[row] for row in self.rows]
        return [float(value) if isinstance(value, (int, float)) else 0.0 for value in found]

    def arranged(self, positions: Sequence[int]) -> Found:
        """Return the records at these positions, in this order."""
        return self._with([self.rows[position] for position in positions])

    def without(self, names: Collection[str]) -> Found:
        """Return the records but for those of these names."""
        return self._with([row for row in self.rows if self._names[row] not in names]) if names else self

    def admitting(self, requester: Requester) -> Found:
        """Return the records but for those that are certain to refuse who asks."""
        if not any(self._columns.values(attribute) for attribute in POLICIES):
            return self
        return self._with([row for row in self.rows if admits(self._columns.get(row), requester)])

    def _with(self, rows: Sequence[int]) -> Found:
        return Found(rows, self._columns, self._names, self._make)


def admits(attributes: Mapping[str, Value], requester: Requester) -> bool:
    """Return whether a resource may admit who asks: False if its record names others only."""
    for attribute, member in POLICIES.items():
        allowed, asks = attributes.get(attribute), getattr(requester, member)
        if allowed is not None and asks is not None and asks not in str(allowed).replace(",", " ").split():
            return False
    return True
