"""Counter: a value that changes during a run, with its entries and their averages (H77, H78)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

#: A number as probes count it.
Number = int | float


class Average(StrEnum):
    """Kinds of averages, by their names in data files."""

    NONE = "none"
    #: Mean of the values so far.
    NORMAL = "normal"
    #: Mean of the values so far, each weighted by the time for which it held.
    TIME_WEIGHTED = "time-weighted"


class CounterChange(NamedTuple):
    """A change of a counter: seconds since the run began, the lease that caused it or None, and the new value."""

    time: float
    lease: int | None
    value: Number


#: The first entry of every counter.
FIRST: Final = CounterChange(0.0, None, 0)


class Counter:
    """A series of entries in order of time, at most one for each instant.

    Attributes:
        average: the kind of its averages.
        entries: all entries, beginning with the value 0 at the start of the run.
    """

    def __init__(self, average: Average = Average.NONE, entries: Sequence[CounterChange] = (FIRST,)) -> None:
        assert entries, "a counter begins with an entry"  # noqa: S101  # its readers see to it
        self.average = average
        self.entries = list(entries)

    @property
    def last(self) -> CounterChange:
        """The latest entry."""
        return self.entries[-1]

    def put(self, time: float, value: Number, lease: int | None = None) -> None:
        """Set the value at an instant, which must not be before the last entry.

        A second value at the same instant replaces the first, but keeps its lease. If neither the value nor the lease
        changes, no entry is added.
        """
        last = self.entries[-1]
        if time == last.time:
            self.entries[-1] = CounterChange(time, last.lease, value)
        elif value != last.value or lease != last.lease:
            assert time > last.time, f"{time:g} after {last.time:g}"  # noqa: S101  # the caller's promise
            self.entries.append(CounterChange(time, lease, value))

    def close(self, time: float) -> None:
        """Repeat the last value when the run stops, if its entry names a lease."""
        self.put(time, self.last.value)

    def averages(self) -> list[float] | None:
        """Return the average at each entry; None if the counter has no averages."""
        if self.average is Average.NORMAL:
            sums = accumulate(entry.value for entry in self.entries)
            return [value / count for count, value in enumerate(sums, start=1)]
        if self.average is Average.TIME_WEIGHTED:
            areas = accumulate(before.value * (after.time - before.time) for before, after in pairwise(self.entries))
            later = zip(areas, self.entries[1:], strict=True)
            return [float(self.entries[0].value), *(area / entry.time for area, entry in later)]
        return None
