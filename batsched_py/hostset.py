"""An immutable set of host numbers, kept as the bits of one integer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from msgspec import Struct
from procset import ProcSet

#: Larger host numbers are refused when read: no platform has them, and each costs a bit for every host below it.
MAX_HOST = 10_000_000


class HostSet(Struct, frozen=True):
    """Hosts as a set of numbers from 0; all operations return new sets.

    Written and read as Batsim's interval sets: `str(HostSet.of(0, 1, 2, 5))` is `"0-2 5"`. Any legal spelling is read,
    the canonical one (disjoint, maximal, ascending) is written.
    """

    #: Bit i is set if host i is a member; never negative.
    bits: int = 0

    @classmethod
    def of(cls, *hosts: int) -> HostSet:
        """The set of these host numbers."""
        return cls.from_ids(hosts)

    @classmethod
    def from_ids(cls, hosts: Iterable[int]) -> HostSet:
        """The set of these host numbers, each from 0 to MAX_HOST; ValueError otherwise."""
        bits = 0
        for host in hosts:
            if not 0 <= host <= MAX_HOST:
                raise ValueError(f"host {host} is not between 0 and {MAX_HOST}")
            bits |= 1 << host
        return cls(bits)

    @classmethod
    def range(cls, count: int) -> HostSet:
        """Hosts 0 to count - 1; ValueError for a negative count."""
        _check_count(count)
        return cls((1 << count) - 1)

    @classmethod
    def parse(cls, text: str) -> HostSet:
        """Read an interval set in any spelling ("5 2-2 1-3", "0,1"); ValueError names the wrong piece."""
        return cls(parse_bits(text))

    @classmethod
    def from_procset(cls, procset: ProcSet) -> HostSet:
        """The same set as a procset.ProcSet."""
        bits = 0
        for interval in procset.intervals():
            bits |= interval_bits(interval.inf, interval.sup)
        return cls(bits)

    def to_procset(self) -> ProcSet:
        """The same set as a procset.ProcSet, for code that works with that library."""
        return ProcSet(*self.intervals())

    def intervals(self) -> Iterator[tuple[int, int]]:
        """Maximal runs of hosts (lowest, highest), both inside, in ascending order."""
        return bit_runs(self.bits)

    def first(self, count: int) -> HostSet | None:
        """The `count` lowest members, or None if there are fewer; ValueError for a negative count."""
        _check_count(count)
        bits = lowest(self.bits, count)
        return None if bits is None else HostSet(bits)

    def isdisjoint(self, other: HostSet) -> bool:
        """True if no host is in both."""
        return not self.bits & other.bits

    def __str__(self) -> str:
        return format_bits(self.bits)

    def __repr__(self) -> str:
        return f"HostSet.parse({format_bits(self.bits)!r})"

    def __len__(self) -> int:
        return self.bits.bit_count()

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
        return HostSet(self.bits & ~other.bits)

    def __le__(self, other: HostSet) -> bool:
        return not self.bits & ~other.bits


def _check_count(count: int) -> None:
    if count < 0:
        raise ValueError(f"a number of hosts must be 0 or more, not {count}")


def interval_bits(low: int, high: int) -> int:
    """Bits low to high, both inside."""
    return ((1 << (high - low + 1)) - 1) << low


def bit_runs(bits: int) -> Iterator[tuple[int, int]]:
    """Maximal runs of ones (lowest, highest), ascending; ValueError for a negative number, which has endless ones."""
    if bits < 0:
        raise ValueError("a host set has no negative hosts")
    while bits:
        low = (bits & -bits).bit_length() - 1
        shifted = bits >> low
        length = (~shifted & (shifted + 1)).bit_length() - 1
        yield low, low + length - 1
        bits = shifted >> length << (low + length)


#: Spelling -> bits, of sets read or written lately: Batsim repeats at a job's end what we wrote at its start.
_known: dict[str, int] = {}
#: When so many are known, all are forgotten: more jobs than that hardly run at a time.
_MOST_KNOWN: Final = 2048


@lru_cache(maxsize=1024)  # the same allocations come again and again
def format_bits(bits: int) -> str:
    """The canonical spelling: "0-3 7"; the empty set is ""."""
    if bits < 0:
        return ""  # which spells no negative number
    pieces = []
    edges = bits ^ (bits << 1)  # the first host of each run, and the one after its last
    while edges:  # from above: what is left becomes shorter
        above = edges.bit_length() - 1
        edges ^= 1 << above
        low = edges.bit_length() - 1
        edges ^= 1 << low
        pieces.append(f"{low}-{above - 1}" if above - low > 1 else f"{low}")
    pieces.reverse()
    text = " ".join(pieces)
    _remember(text, bits)
    return text


def parse_bits(text: str) -> int:
    """Read an interval set in any spelling; ValueError names the wrong piece."""
    bits = _known.get(text)
    if bits is None:
        bits = _read_bits(text)
        _remember(text, bits)
    return bits


def _remember(text: str, bits: int) -> None:
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[text] = bits


def _read_bits(text: str) -> int:
    bits = 0
    for piece in (text.replace(",", " ") if "," in text else text).split():
        low_text, dash, high_text = piece.partition("-")
        low = _host_number(low_text, piece)
        high = _host_number(high_text, piece) if dash else low
        if high < low:
            raise ValueError(f"interval {piece!r} ends before it begins")
        bits |= ((1 << (high - low + 1)) - 1) << low
    return bits


def _host_number(digits: str, piece: str) -> int:
    if not (digits.isdecimal() and digits.isascii() and len(digits) < 20):
        raise ValueError(f"{piece[:40]!r} is not a host number or an interval like 0-3")
    number = int(digits)
    if number > MAX_HOST:
        raise ValueError(f"host {number} is above {MAX_HOST}")
    return number


def lowest(bits: int, count: int) -> int | None:
    """The `count` lowest ones of `bits`, or None if there are fewer.

    A prefix that has k ones too few must be longer by k at least, one that has k too many shorter: that leaves a binary
    search of few steps.
    """
    have = bits.bit_count()
    if count >= have:
        return bits if count == have else None
    low, high = count, bits.bit_length() - (have - count)
    middle = low
    while True:
        prefix = bits & ((1 << middle) - 1)
        missing = count - prefix.bit_count()
        if not missing:
            return prefix
        if missing > 0:
            low = middle + missing
        else:
            high = middle + missing
        middle = (low + high) // 2
