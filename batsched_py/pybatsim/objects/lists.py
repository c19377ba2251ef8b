"""Lists of jobs and resources that can be filtered, and the rules of their elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

from batsched_py.errors import PlanError


def check(condition: object, rule: str) -> None:
    """Raise a PlanError with this rule unless a condition is met."""
    if not condition:
        raise PlanError(rule)


def just_after(time: float, delta: float) -> float:
    """Return time + delta, or the first float that differs from `time` if delta is too small or 0."""
    step = delta or 1e-11
    while time + step == time and step < float("inf"):
        step *= 10
    return time + step


def filter_list(
    data: Iterable[Any],
    filters: Any = (),
    cond: Callable[[Any], Any] | None = None,
    max_entries: int | None = None,
    min_entries: int | None = None,
    num_entries: int | None = None,
    *,
    min_or_max: bool = False,
    **values: Any,
) -> list[Any]:
    """Return what the filters pass on, the last filter first, and `cond` accepts.

    At most `max_entries` are returned, and none if there are fewer than `min_entries`; with `min_or_max`, one of both.
    """
    least, most = (num_entries, num_entries) if num_entries else (min_entries, max_entries)
    found: Iterable[Any] = data
    for each in reversed(filters if isinstance(filters, list) else [filters] if callable(filters) else []):
        found = each(found, max_entries=most, min_entries=least, min_or_max=min_or_max, **values)
    chosen = [one for one in found if cond is None or cond(one)]
    if most:
        del chosen[most:]
    if least and len(chosen) < least:
        return []
    return chosen[:least] if min_or_max and least and most and least < len(chosen) < most else chosen


class ElementList:
    """A list of different elements, in the order of addition (`batsim.sched.utils.ObserveList`).

    Elements with an `id` are found by it; a slice is a list of the same kind.
    """

    def __init__(self, from_list: Iterable[Any] = ()) -> None:
        self._data: dict[Any, None] = dict.fromkeys(from_list)
        self._ids: dict[Any, Any] | None = None

    @property
    def data(self) -> list[Any]:
        """The elements."""
        return list(self._data)

    @property
    def first(self) -> Any:
        """The first element; None if there is none."""
        return next(iter(self._data), None)

    @property
    def last(self) -> Any:
        """The last element; None if there is none."""
        return next(reversed(self._data), None)

    def get(self, idx: int, default: Any = None) -> Any:
        """Return the element at a position."""
        data = list(self._data)
        return data[idx] if -len(data) <= idx < len(data) else default

    def add(self, element: Any) -> None:
        """Append an element, unless it is there."""
        self._data[element] = None
        self._ids = None

    def remove(self, element: Any) -> None:
        """Remove an element; KeyError if it is not there."""
        del self._data[element]
        self._ids = None

    def discard(self, element: Any) -> None:
        """Remove an element if it is there."""
        self._data.pop(element, None)
        self._ids = None

    def clear(self) -> None:
        """Remove all elements."""
        self._data.clear()
        self._ids = None

    def update_element(self, element: Any) -> None:
        """Take note of a change of an element; for subclasses."""

    def create(self, *args: Any, **kwargs: Any) -> Self:
        """Return a list of the same kind."""
        return type(self)(*args, **kwargs)

    def apply(self, apply: Callable[[list[Any]], Iterable[Any]]) -> Self:
        """Return a list of the elements that a function makes of this one's."""
        return self.create(apply(list(self._data)))

    def sorted(self, field_getter: Callable[[Any], Any] | None = None, reverse: bool = False) -> Self:
        """Return a sorted list; equal elements keep their order."""
        return self.create(sorted(self._data, key=field_getter, reverse=reverse))

    def filter(self, *args: Any, **kwargs: Any) -> Self:
        """Return the elements that pass: the arguments of `filter_list`."""
        return self.create(filter_list(self._data, *args, **kwargs))

    def _by_id(self) -> dict[Any, Any]:
        if self._ids is None:
            self._ids = {element.id: element for element in self._data}
        return self._ids

    def __len__(self) -> int:
        return len(self._data)

    def __contains__(self, element: object) -> bool:
        return element in self._data

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._data))

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, slice):
            return self.create(list(self._data)[item])
        return self._by_id()[item]

    def __add__(self, other: ElementList) -> Self:
        return self.create([*self._data, *other.data])
