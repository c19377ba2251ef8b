"""A value for each host, kept once for neighbours that have the same."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Generic, TypeVar

Value = TypeVar("Value")


class RunMap(Generic[Value]):
    """Values of hosts 0 to n - 1. A change of a million hosts that are alike costs no more than one of two."""

    __slots__ = ("_begins", "_end", "_values")

    def __init__(self, hosts: int, value: Value) -> None:
        """All `hosts` have this value."""
        self._end = hosts
        #: The lowest host of each run, and the value of all its hosts.
        self._begins, self._values = [0], [value]

    def change(self, low: int, high: int, new: Callable[[Value, int], Value]) -> None:
        """Replace the values of hosts `low` to `high`: `new` gets each one that is there, and how many have it."""
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
        """(lowest host, highest host, their value), ascending; neighbours may have the same value."""
        for (begin, end), value in zip(pairwise([*self._begins, self._end]), self._values, strict=True):
            if begin < end:
                yield begin, end - 1, value

    def _cut(self, host: int) -> int:
        """The place of the run that begins with this host, which is made if there is none."""
        place = bisect_left(self._begins, host)
        if host < self._end and (place == len(self._begins) or self._begins[place] != host):
            self._begins.insert(place, host)
            self._values.insert(place, self._values[place - 1])
        return place


def repeated(value: float, count: int) -> Iterator[float]:
    """A few numbers whose sum is exactly `count` times the value: its doubles, by the binary digits of the count."""
    while count:
        lowest = count & -count
        yield value * lowest
        count ^= lowest
