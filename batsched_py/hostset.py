"""The immutable set of host numbers for algorithms, stored as the bits of one integer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

from msgspec import Struct
from procset import ProcSet

from batsched_py.bits import (
    LARGE,
    MAX_HOST,
    bit_runs,
    bits_of,
    format_bits,
    lowest,
    parse_bits,
    size_of,
    united,
    without,
)
from batsched_py.text.display import shown

#: The largest number of characters in the representation of a set.
_LONGEST_REPR: Final = 1000


class IntervalSet(Protocol):
    """A `procset.ProcSet`, for type checkers: that library has no types."""

    def intervals(self) -> Iterator[Any]:
        """Return the maximal intervals in ascending order; each has the ends `inf` and `sup`."""


class HostSet(Struct, frozen=True, gc=False):
    """Hosts as a set of numbers from 0; all operations return new sets.

    Written and read as Batsim's interval sets: `str(HostSet.of(0, 1, 2, 5))` is `"0-2 5"`. Any legal spelling is read,
    the canonical one (disjoint, maximal, ascending) is written.
    """

    #: Bit i is set if host i is a member; never negative.
    bits: int = 0

    @classmethod
    def of(cls, *hosts: int) -> HostSet:
        """Make the set of these host numbers."""
        return cls.from_ids(hosts)

    @classmethod
    def from_ids(cls, hosts: Iterable[int]) -> HostSet:
        """Make the set of these host numbers, each from 0 to MAX_HOST, or of a ProcSet; ValueError otherwise."""
        return cls.from_procset(hosts) if isinstance(hosts, ProcSet) else cls(bits_of(hosts))

    @classmethod
    def range(cls, count: int) -> HostSet:
        """Make the set of hosts 0 to count - 1; ValueError for a negative count."""
        if count < 0:
            raise _negative(count)
        return cls((1 << count) - 1)

    @classmethod
    def parse(cls, text: str, highest: int = MAX_HOST) -> HostSet:
        """Read an interval set in any spelling ("5 2-2 1-3", "0,1").

        ValueError names the wrong piece, as a host above `highest` is.
        """
        return cls(parse_bits(text, highest))

    @classmethod
    def from_procset(cls, procset: IntervalSet) -> HostSet:
        """Convert a procset.ProcSet; ValueError for a number that is not between 0 and MAX_HOST."""
        intervals = [(interval.inf, interval.sup) for interval in procset.intervals()]
        for end in (*intervals[:1], *intervals[-1:]):
            bits_of(end)  # checks the lowest and the highest number: the intervals ascend
        return cls(united(intervals))

    def to_procset(self) -> ProcSet:
        """Return the same set as a procset.ProcSet, for code that works with that library."""
        return ProcSet(*self.intervals())

    def intervals(self) -> Iterator[tuple[int, int]]:
        """Iterate over maximal runs of hosts (lowest, highest), both inclusive, in ascending order."""
        return bit_runs(self.bits)

    def first(self, count: int) -> HostSet | None:
        """Return the `count` lowest members, or None if there are fewer; ValueError for a negative count."""
        if count < 0:
            raise _negative(count)
        bits = lowest(self.bits, count)
        return None if bits is None else HostSet(bits)

    def isdisjoint(self, other: HostSet) -> bool:
        """Return whether no host is in both."""
        return not self.bits & other.bits

    def __str__(self) -> str:
        return format_bits(self.bits)

    def __repr__(self) -> str:
        text = format_bits(self.bits)
        if len(text) > _LONGEST_REPR:
            return f"<HostSet of {len(self)}: {text[:_LONGEST_REPR]}...>"
        return f"HostSet.parse({text!r})"

    def __len__(self) -> int:
        bits = self.bits
        return bits.bit_count() if bits < LARGE else size_of(bits)

    def __bool__(self) -> bool:
        return self.bits != 0

    def __contains__(self, host: int) -> bool:
        return host >= 0 and bool(self.bits >> host & 1)

    def __iter__(self) -> Iterator[int]:
        for low, high in bit_runs(self.bits):
            yield from range(low, high + 1)

    def __or__(self, other: HostSet) -> HostSet:
        return HostSet(self.bits | other.bits)

    def __and__(self, other: HostSet) -> HostSet:
        return HostSet(self.bits & other.bits)

    def __sub__(self, other: HostSet) -> HostSet:
        return HostSet(without(self.bits, other.bits))

    def __le__(self, other: HostSet) -> bool:
        return self.bits & other.bits == self.bits


def _negative(count: int) -> ValueError:
    return ValueError(f"a number of hosts must be 0 or more, not {count}")


def as_host_set(hosts: HostSet | IntervalSet) -> HostSet:
    """Convert an algorithm's hosts: a HostSet is returned as it is, a ProcSet converted; ValueError otherwise."""
    if isinstance(hosts, HostSet):
        return hosts
    if isinstance(hosts, ProcSet):
        return HostSet.from_procset(hosts)
    numbers = isinstance(hosts, (list, tuple, set, frozenset, range, int)) and not isinstance(hosts, bool)
    advice = f": HostSet.{'of' if isinstance(hosts, int) else 'from_ids'}({shown(hosts)}) makes one" if numbers else ""
    raise ValueError(f"hosts must be a HostSet or a ProcSet, not {shown(hosts)}{advice}")


def pick_hosts(
    free: int, size: int, choose: Callable[[HostSet, int], HostSet | None] | None, among: HostSet | None = None
) -> HostSet | None:
    """Return `size` hosts of `free` that are in `among` (None for all); None if there are too few, or `choose` refuses.

    `choose` selects the hosts; None for the lowest ones.
    """
    if among is not None:
        free &= among.bits
    if choose is None:
        bits = lowest(free, size)
        return None if bits is None else HostSet(bits)
    return choose(HostSet(free), size) if size_of(free) >= size else None
