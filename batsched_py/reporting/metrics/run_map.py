"""A value for each host, stored once for each run of neighbours with the same value."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Generic, TypeVar

Value = TypeVar("Value")


class RunMap(Generic[Value]):
    """Values of hosts 0 to n - 1. A change of a million hosts with equal values takes no longer than one of two."""

    __slots__ = ("_begins", "_end", "_values")

    def __init__(self, hosts: int, value: Value) -> None:
        """Begin with the same value for all `hosts`."""
        self._end = hosts
        #: The lowest host of each run, and the value of all its hosts.
        self._begins, self._values = [0], [value]

    def change(self, low: int, high: int, new: Callable[[Value, int], Value]) -> None:
        """Replace the values of hosts `low` to `high`: `new` returns one, given a run's value and number of hosts."""
        first, above = self._cut(low), self._cut(high + 1)
        begins = [*self._begins[first:above], high + 1]
        changed = [
            (begin, new(value, end - begin))
            for (begin, end), value in zip(pairwise(begins), self._values[first:above], strict=True)
        ]
        merged = [next(alike) for _, alike in groupby(changed, key=itemgetter(1))]
        self._begins[first:above] = [begin for begin, _ in merged]
        self._values[first:above] = [value for _, value in merged]

    def runs(self) -> Iterator[tuple[int, int, Value]]:
        """Yield (lowest host, highest host, their value), ascending; neighbouring runs may have the same value."""
        for (begin, end), value in zip(pairwise([*self._begins, self._end]), self._values, strict=True):
            if begin < end:
                yield begin, end - 1, value

    def _cut(self, host: int) -> int:
        """Return the index of the run that begins with this host, splitting a run if necessary."""
        place = bisect_left(self._begins, host)
        if host < self._end and (place == len(self._begins) or self._begins[place] != host):
            self._begins.insert(place, host)
            self._values.insert(place, self._values[place - 1])
        return place


def repeated(value: float, count: int) -> Iterator[float]:
    """Yield a few numbers with the exact sum `count` times the value: its multiples by powers of two."""
    while count:
        lowest = count & -count
        yield value * lowest
        count ^= lowest
