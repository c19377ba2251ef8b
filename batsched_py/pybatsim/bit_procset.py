"""The `ProcSet` that schedulers of pybatsim import from `procset`: the same sets, kept as the bits of one integer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import and_, or_, xor
from typing import Any, Final

import procset

from batsched_py.bits import MAX_HOST, bit_runs, count_runs, size_of
from batsched_py.bits import interval_bits as interval_of
from batsched_py.hostset import HostSet
from batsched_py.text.display import shown

# Schedulers of pybatsim spend most of their time on sets: the package's merges intervals one by one, in Python, 10 to
# 20 us for an operation. An operation on integers takes a fraction of 1 us, and the Plan needs no conversion.
#
# It is a subclass, so that both kinds may be mixed, and code that asks for a `procset.ProcSet` gets one: the package
# reads other sets by `_itvs`, which is made when it is asked for. All that changes a set is overridden here, since
# `_itvs` cannot be set. Results have the class of the left operand, as in the package; errors are its errors. The one
# difference are numbers above MAX_HOST, which are refused: their bits would need too much memory.

_procint = procset.ProcInt
_without: Final[Callable[[int, int], int]] = lambda bits, others: bits & ~others  # noqa: E731  (as and_, or_, xor)


class BitProcSet(procset.ProcSet):  # type: ignore[misc]  # the package has no types
    """A set of numbers from 0 to MAX_HOST with the interface of `procset.ProcSet`, mutable."""

    __slots__ = ("_bits",)

    _bits: int

    def __init__(self, *intervals: Any) -> None:
        """Unite numbers, intervals of two numbers, and sets. TypeError or ValueError for anything else."""
        bits = 0
        for element in intervals:
            if type(element) is int and 0 <= element <= MAX_HOST:
                bits |= 1 << element
            else:
                bits |= _bits_of(element)
        self._bits = bits

    @property
    def host_set(self) -> HostSet:
        """The same set for the engine."""
        return HostSet(self._bits)

    @property
    def _itvs(self) -> list[Any]:
        """The intervals, by which the package's own sets read others."""
        return [tuple.__new__(_procint, interval) for interval in bit_runs(self._bits)]

    def _made(self, bits: int) -> BitProcSet:
        """Return a set of the class of this one."""
        kind = type(self)
        made = kind.__new__(kind) if kind is BitProcSet else kind()
        made._bits = bits
        return made

    # Questions.

    def __repr__(self) -> str:
        items = ", ".join(str(low) if low == high else f"({low}, {high})" for low, high in bit_runs(self._bits))
        return f"ProcSet({items})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(bit_runs(self._bits))

    def __iter__(self) -> Iterator[int]:
        for low, high in bit_runs(self._bits):
            yield from range(low, high + 1)

    def __len__(self) -> int:
        return size_of(self._bits)

    def __bool__(self) -> bool:
        return self._bits != 0

    def __contains__(self, item: Any) -> bool:
        if type(item) is int:
            return 0 <= item <= MAX_HOST and bool(self._bits >> item & 1)
        return any(low <= item <= high for low, high in bit_runs(self._bits))

    def __getitem__(self, index: Any) -> Any:
        if type(index) is slice and index.step in (None, 1):
            start, stop, _ = index.indices(len(self))
            return list(islice(self, start, max(start, stop)))
        return super().__getitem__(index)

    def count(self) -> int:
        """Return the number of intervals."""
        return count_runs(self._bits)

    def intervals(self) -> Iterator[Any]:
        """Iterate over the intervals, ascending."""
        return iter(self._itvs)

    @property
    def min(self) -> int:
        """The lowest number; ValueError without one."""
        bits = self._checked()
        return (bits & -bits).bit_length() - 1

    @property
    def max(self) -> int:
        """The highest number; ValueError without one."""
        return self._checked().bit_length() - 1

    def _checked(self) -> int:
        if not self._bits:
            raise ValueError("Empty ProcSet")
        return self._bits

    def aggregate(self) -> BitProcSet:
        """Return the interval from the lowest to the highest number; empty for an empty set."""
        return self._made(interval_of(self.min, self.max) if self._bits else 0)

    def copy(self) -> BitProcSet:
        """Return a set of its own with the same numbers."""
        return self._made(self._bits)

    def __copy__(self) -> BitProcSet:
        return self.copy()

    def __deepcopy__(self, memo: object) -> BitProcSet:
        return self.copy()

    # Comparisons. What is no set is not equal to one; the package's raises an AttributeError.

    __hash__ = None  # type: ignore[assignment]  # mutable, as the package's

    def __eq__(self, other: object) -> bool:
        bits = _bits_of_set(other)
        return NotImplemented if bits is None else self._bits == bits

    def __le__(self, other: object) -> bool:
        bits = _bits_of_set(other)
        return NotImplemented if bits is None else not self._bits & ~bits

    def __lt__(self, other: object) -> bool:
        bits = _bits_of_set(other)
        return NotImplemented if bits is None else not self._bits & ~bits and self._bits != bits

    def __ge__(self, other: object) -> bool:
        bits = _bits_of_set(other)
        return NotImplemented if bits is None else not bits & ~self._bits

    def __gt__(self, other: object) -> bool:
        bits = _bits_of_set(other)
        return NotImplemented if bits is None else not bits & ~self._bits and self._bits != bits

    def isdisjoint(self, other: Any) -> Any:
        """Return whether no number is in both."""
        bits = _bits_of_all(other)
        return NotImplemented if bits is None else not self._bits & bits

    def issubset(self, other: Any) -> Any:
        """Return whether all numbers are in the other."""
        bits = _bits_of_all(other)
        return NotImplemented if bits is None else not self._bits & ~bits

    def issuperset(self, other: Any) -> Any:
        """Return whether all numbers of the other are in this."""
        bits = _bits_of_all(other)
        return NotImplemented if bits is None else not bits & ~self._bits

    # Results of two sets; the other operand of an operator must be a set.

    def __or__(self, other: object) -> BitProcSet:
        bits = _bits_of_set(other)
        return NotImplemented if bits is None else self._made(self._bits | bits)

    def __and__(self, other: object) -> BitProcSet:
        bits = _bits_of_set(other)
        return NotImplemented if bits is None else self._made(self._bits & bits)

    def __sub__(self, other: object) -> BitProcSet:
        bits = _bits_of_set(other)
        return NotImplemented if bits is None else self._made(self._bits & ~bits)

    def __xor__(self, other: object) -> BitProcSet:
        bits = _bits_of_set(other)
        return NotImplemented if bits is None else self._made(self._bits ^ bits)

    def union(self, *others: Any) -> BitProcSet:
        """Return the numbers of this and the others, which are numbers, intervals, or sets."""
        return self.copy().update(*others)

    def intersection(self, *others: Any) -> BitProcSet:
        """Return the numbers that are in this and in each of the others."""
        return self.copy().intersection_update(*others)

    def difference(self, *others: Any) -> BitProcSet:
        """Return the numbers that are in none of the others."""
        return self.copy().difference_update(*others)

    def symmetric_difference(self, other: Any) -> BitProcSet:
        """Return the numbers that are in one of both only."""
        return self.copy().symmetric_difference_update(other)

    # Changes.

    def __ior__(self, other: object) -> BitProcSet:
        return self._changed(other, or_)

    def __iand__(self, other: object) -> BitProcSet:
        return self._changed(other, and_)

    def __isub__(self, other: object) -> BitProcSet:
        return self._changed(other, _without)

    def __ixor__(self, other: object) -> BitProcSet:
        return self._changed(other, xor)

    def _changed(self, other: object, change: Callable[[int, int], int]) -> BitProcSet:
        bits = _bits_of_set(other)
        if bits is None:
            return NotImplemented  # type: ignore[no-any-return]
        self._bits = change(self._bits, bits)
        return self

    def update(self, *others: Any) -> BitProcSet:
        """Add the numbers of the others."""
        return self._changed_by_all(others, or_)

    def intersection_update(self, *others: Any) -> BitProcSet:
        """Keep the numbers that are in each of the others."""
        return self._changed_by_all(others, and_)

    def difference_update(self, *others: Any) -> BitProcSet:
        """Remove the numbers of the others."""
        return self._changed_by_all(others, _without)

    def symmetric_difference_update(self, other: Any) -> BitProcSet:
        """Keep the numbers that are in one of both only."""
        return self._changed_by_all([other], xor)

    def _changed_by_all(self, others: Iterable[Any], change: Callable[[int, int], int]) -> BitProcSet:
        for other in others:
            self._bits = change(self._bits, _bits_of(other))
        return self

    #: Other names in the package.
    insert = update
    discard = difference_update

    def clear(self) -> None:
        """Remove all numbers."""
        self._bits = 0


def _bits_of_set(value: object) -> int | None:
    """Return the bits of a set; None for anything else. ValueError for too high a number."""
    if isinstance(value, BitProcSet):
        return value._bits
    return _united(value) if isinstance(value, procset.ProcSet) else None


def _bits_of_all(value: Any) -> int | None:
    """Return the bits of a set, or of numbers, intervals and sets; None for what cannot be iterated or holds others."""
    bits = _bits_of_set(value)
    if bits is not None:
        return bits
    try:
        return BitProcSet(*value)._bits
    except TypeError:
        return None


def _bits_of(element: Any) -> int:
    """Return the bits of a number, an interval, or a set. TypeError, ValueError."""
    bits = _bits_of_set(element)
    if bits is not None:
        return bits
    try:
        low, high = element
    except ValueError:
        raise TypeError("Incompatible iterable, expected an iterable of exactly 2 int") from None
    except TypeError:  # a number
        low = high = element
    return _united([_procint(low, high)])


def _united(intervals: Any) -> int:
    """Return the bits of a set of the package, or of intervals. ValueError for too high a number."""
    bits = 0
    for low, high in intervals.intervals() if isinstance(intervals, procset.ProcSet) else intervals:
        if high > MAX_HOST:
            raise ValueError(f"a ProcSet has numbers from 0 to {MAX_HOST}, not {shown(high)}")
        bits |= interval_of(low, high)
    return bits
