"""An immutable set of host numbers, kept as the bits of one integer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from msgspec import Struct
from procset import ProcSet

from batsched_py.bits import LARGE, bit_runs, interval_bits, lowest, size_of, without

#: Larger host numbers are refused when read: no platform has them, and each costs a bit for every host below it.
MAX_HOST = 10_000_000

#: Characters of a set that its representation shows.
_LONGEST_REPR: Final = 1000


class HostSet(Struct, frozen=True, gc=False):
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
        numbers = list(hosts)
        for host in numbers:
            if not 0 <= host <= MAX_HOST:
                raise ValueError(f"host {host} is not between 0 and {MAX_HOST}")
        if len(numbers) > _FEW:
            return cls(_united([(host, host) for host in numbers]))
        bits = 0
        for host in numbers:
            bits |= 1 << host
        return cls(bits)

    @classmethod
    def range(cls, count: int) -> HostSet:
        """Hosts 0 to count - 1; ValueError for a negative count."""
        _check_count(count)
        return cls((1 << count) - 1)

    @classmethod
    def parse(cls, text: str, highest: int = MAX_HOST) -> HostSet:
        """Read an interval set in any spelling ("5 2-2 1-3", "0,1").

        ValueError names the wrong piece, as a host above `highest` is.
        """
        return cls(parse_bits(text, highest))

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


def _check_count(count: int) -> None:
    if count < 0:
        raise ValueError(f"a number of hosts must be 0 or more, not {count}")


class _Spellings:
    """Sets and their texts, read or written lately: Batsim repeats at a job's end what we wrote at its start."""

    __slots__ = ("bits_of", "large_texts", "size", "text_of")

    def __init__(self) -> None:
        #: Spelling -> bits, in any spelling.
        self.bits_of: dict[str, int] = {}
        #: Bits -> canonical spelling, of small integers.
        self.text_of: dict[int, str] = {}
        #: Identity of a large integer -> the integer, which keeps the identity its own, and its canonical spelling.
        self.large_texts: dict[int, tuple[int, str]] = {}
        #: Bytes of all of them, about.
        self.size = 0

    def keep(self, text: str, bits: int) -> None:
        """Remember a set; when all together are too large, all are forgotten first."""
        size = _ENTRY + len(text) + bits.bit_length() // 8
        if size > _MOST_BYTES // 8:
            return
        if self.size + size > _MOST_BYTES:
            self.bits_of.clear()
            self.text_of.clear()
            self.large_texts.clear()
            self.size = 0
        self.size += size
        self.bits_of[text] = bits


_spellings: Final = _Spellings()
_bits_of, _text_of, _large_texts = _spellings.bits_of, _spellings.text_of, _spellings.large_texts
#: Bytes of sets and texts that are remembered: of a small machine's some ten thousand, of a large one's some hundred.
_MOST_BYTES: Final = 32_000_000
#: Bytes of an entry beside its text and its bits.
_ENTRY: Final = 250


def format_bits(bits: int) -> str:
    """The canonical spelling: "0-3 7"; the empty set is ""."""
    if bits >= LARGE:
        return _format_large(bits)
    text = _text_of.get(bits)
    if text is None:
        if bits < 0:
            return ""  # which spells no negative number
        text = _written(bits)
        _spellings.keep(text, bits)
        if text in _bits_of:
            _text_of[bits] = text
    return text


def _format_large(bits: int) -> str:
    """As `format_bits`: a large integer is known by its identity, because its hash takes a look at all of it."""
    known = _large_texts.get(id(bits))
    if known is not None:
        return known[1]
    if bits < 0:
        return ""
    text = _written(bits)
    _spellings.keep(text, bits)
    if text in _bits_of:
        _large_texts[id(bits)] = bits, text
    return text


def _written(bits: int) -> str:
    pieces = []
    if bits >= LARGE:
        return " ".join([f"{low}-{high}" if low < high else f"{low}" for low, high in bit_runs(bits)])
    edges = bits ^ (bits << 1)  # the first host of each run, and the one after its last
    while edges:  # from above: what is left becomes shorter
        above = edges.bit_length() - 1
        edges ^= 1 << above
        low = edges.bit_length() - 1
        edges ^= 1 << low
        pieces.append(f"{low}-{above - 1}" if above - low > 1 else f"{low}")
    pieces.reverse()
    return " ".join(pieces)


def parse_bits(text: str, highest: int = MAX_HOST) -> int:
    """Read an interval set in any spelling; ValueError names the wrong piece, as a host above `highest` is.

    Nothing is made of a set before all its numbers are known to be at most `highest`, and many pieces take no more time
    for each than few: a hostile text costs what its length does.
    """
    bits = _bits_of.get(text)
    if bits is None:
        bits = _read_bits(text, highest)
        _spellings.keep(text, bits)
    elif bits.bit_length() > highest + 1:
        raise ValueError(_above(bits.bit_length() - 1, highest))
    return bits


#: Hosts up to which a shift for each is fastest.
_FEW: Final = 256
#: Length of a text, times the highest host that may stand in it, up to which a shift for each piece is fastest.
_SMALL: Final = 2**22
#: Characters, and then pieces, that are read at a time, so that a long text does not take many times its memory.
_LONG: Final = 2**16
_PIECE: Final = re.compile(r"[^\s,]+")


def _read_bits(text: str, highest: int) -> int:
    if len(text) > _LONG:
        pieces = (match[0] for match in _PIECE.finditer(text))
        bits = 0
        while part := list(islice(pieces, _LONG)):
            bits |= _united([_interval(piece, highest) for piece in part])
        return bits
    intervals = [_interval(piece, highest) for piece in (text.replace(",", " ") if "," in text else text).split()]
    if len(text) * highest > _SMALL:
        return _united(intervals)
    bits = 0
    for low, high in intervals:
        bits |= ((1 << (high - low + 1)) - 1) << low
    return bits


def _united(intervals: list[tuple[int, int]]) -> int:
    """The bits of intervals in any order: each byte is written a few times, however many intervals there are."""
    if not intervals:
        return 0
    field = bytearray(max(high for _, high in intervals) // 8 + 1)
    done = -1  # all below was written
    for first, high in sorted(intervals):
        low = max(first, done + 1)
        if low > high:
            continue
        done = high
        start, end = low >> 3, high >> 3
        head, tail = 0xFF << (low & 7) & 0xFF, 0xFF >> (7 - (high & 7))
        if start == end:
            field[start] |= head & tail
        else:
            field[start] |= head
            field[start + 1 : end] = b"\xff" * (end - start - 1)
            field[end] |= tail
    return int.from_bytes(field, "little")


def _interval(piece: str, highest: int) -> tuple[int, int]:
    low_text, dash, high_text = piece.partition("-")
    low = _host_number(low_text, piece, highest)
    high = _host_number(high_text, piece, highest) if dash else low
    if high < low:
        raise ValueError(f"interval {piece!r} ends before it begins")
    return low, high


def _host_number(digits: str, piece: str, highest: int) -> int:
    if not (digits.isdecimal() and digits.isascii() and len(digits) < 20):
        raise ValueError(f"{piece[:40]!r} is not a host number or an interval like 0-3")
    number = int(digits)
    if number > highest:
        raise ValueError(_above(number, highest))
    return number


def _above(number: int, highest: int) -> str:
    return f"host {number} is above {highest}, the highest number of a host here"
