"""Sets of numbers as the bits of one integer: sizes, runs, lowest members, and their text form.

The core represents sets of hosts by such integers; `HostSet` wraps one for algorithms.

Python counts the ones of an integer digit by digit, some 10 us for 80 000 bits, and each operation makes a copy.
Therefore sizes of large sets are cached, and functions that visit single bits first split a set into words. Batsim
repeats at a job's end the text of its hosts that was written at its start, so texts are cached too.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, islice
from typing import Final

# Integers as sets: one operation of Python is one for all hosts, sets are immutable and can be shared, and no library
# is needed. On machines of up to SMALL hosts counting a set is faster than looking up its size. On larger ones (80 640
# hosts of Curie) each operation copies ten kilobytes and counting takes 10 us, so that the work is done once and
# remembered, or goes over 64-bit words.
#
# What is remembered of large sets is found by identity, since hashing or comparing one reads all of it. An entry holds
# the integer itself: as long as the entry exists no other object can have that identity. Sets that are equal but not
# the same object are computed again, which is correct. Small sets are found by value.
#
# All memory that is kept is bounded, and all entries are dropped when a bound is reached: `_MOST` sizes, `_MOST_BYTES`
# of spellings. Dropping the oldest alone would need an order of use to be kept at each look-up. A set larger than an
# eighth of the bound is not kept.
#
# `parse_bits` reads text from other programs. Its cost is that of the text: a host number above `highest` is refused
# before a set is made of it (a few hundred kilobytes of message once took gigabytes), and many pieces are joined in one
# field of bytes (`united`), where a shift for each would copy the set each time.
#
# `~` is avoided (`without`): Python converts negative numbers to two's complement first, a copy each time.

#: The largest host number that is read: no platform has larger ones, and a set takes a bit for each host below it.
MAX_HOST: Final = 10_000_000
#: The length of small integers, in bits: counting their ones is faster than a lookup.
SMALL: Final = 4096
#: The first integer that is not small: a comparison is faster than a call of `bit_length`.
LARGE: Final = 1 << SMALL
#: The largest number of cached sizes of large sets; the cache is cleared when it is full.
_MOST: Final = 1024
#: The number of edges above which a large set is split into words to find them; below it, each takes two copies.
_MANY: Final = 24
_WORD: Final = 64
#: Bits that are searched for the lowest one in steps; beyond them one operation on all bits is faster.
_NEAR: Final = 1024

#: Identity of an integer -> the integer, kept so that its identity is not reused, and its number of ones.
_sizes: dict[int, tuple[int, int]] = {}


def size_of(bits: int) -> int:
    """Return the number of ones; cached for large integers."""
    if bits < LARGE:
        return bits.bit_count()
    known = _sizes.get(id(bits))
    return sized(bits, bits.bit_count()) if known is None else known[1]


def counter(bits: int) -> Callable[[int], int]:
    """Return the fastest function to count the ones of integers of this length."""
    return int.bit_count if bits.bit_length() <= SMALL else size_of


def sized(bits: int, size: int) -> int:
    """Cache `size`, the number of ones, and return it."""
    if bits >= LARGE:
        if len(_sizes) >= _MOST:
            _sizes.clear()
        _sizes[id(bits)] = bits, size
    return size


def without(bits: int, others: int) -> int:
    """Return `bits & ~others`, but faster: Python converts negative operands first."""
    return bits ^ (bits & others)


def bits_of(numbers: Iterable[int]) -> int:
    """Return the set of these host numbers, each from 0 to MAX_HOST; ValueError otherwise."""
    hosts = list(numbers)
    for host in hosts:
        if not 0 <= host <= MAX_HOST:
            raise ValueError(f"host {host} is not between 0 and {MAX_HOST}")
    if len(hosts) > _FEW:
        return united([(host, host) for host in hosts])
    bits = 0
    for host in hosts:
        bits |= 1 << host
    return bits


def interval_bits(low: int, high: int) -> int:
    """Return the bits from low to high, both inclusive."""
    return ((1 << (high - low + 1)) - 1) << low


def bit_runs(bits: int) -> Iterator[tuple[int, int]]:
    """Yield maximal runs of ones (lowest, highest), ascending; ValueError for a negative number."""
    if bits < 0:
        raise ValueError("a host set has no negative hosts")
    if bits >= LARGE:
        edges = bits ^ (bits << 1)  # the first of each run, and the one after its last
        places = iter(_ones(edges) if edges.bit_count() > _MANY else _few_ones(edges))
        for low, above in zip(places, places, strict=True):
            yield low, above - 1
        return
    while bits:
        low = (bits & -bits).bit_length() - 1
        shifted = bits >> low
        length = (~shifted & (shifted + 1)).bit_length() - 1
        yield low, low + length - 1
        bits = shifted >> length << (low + length)


def count_runs(bits: int) -> int:
    """Return the number of maximal runs of ones."""
    return (bits & ~(bits << 1)).bit_count()


def lowest(bits: int, count: int) -> int | None:
    """Return the `count` lowest ones of `bits`, or None if there are fewer."""
    if bits < LARGE:
        have = bits.bit_count()
        if count >= have:
            return bits if count == have else None
        return _lowest(bits, count, have)
    have = size_of(bits)
    if count >= have:
        return bits if count == have else None
    place = lowest_one(bits)
    rest, width, missing = bits >> place, max(_WORD, 2 * count), count
    while True:
        window = rest & ((1 << width) - 1)
        inside = window.bit_count()
        if inside >= missing:
            break
        missing -= inside
        place, rest, width = place + width, rest >> width, 2 * width
    found = window if inside == missing else _lowest(window, missing, inside)
    prefix = bits & ((1 << (place + found.bit_length())) - 1)
    sized(prefix, count)
    return prefix


def lowest_one(bits: int) -> int:
    """Return the position of the lowest one of an integer other than 0."""
    if bits < LARGE:
        return (bits & -bits).bit_length() - 1
    width = _WORD
    while width <= _NEAR:
        if window := bits & ((1 << width) - 1):
            return (window & -window).bit_length() - 1
        width *= 4
    return (bits ^ (bits - 1)).bit_length() - 1


def at_distances(bits: int, count: int) -> int:
    """Return `count` (1 to n) of the n ones, evenly spread: numbers 0, n / count, 2n / count, ... rounded down."""
    words = _words(bits)
    #: The number of ones up to the end of each word.
    totals = list(accumulate(map(int.bit_count, words)))
    chosen, size, word, before = array("Q", bytes(8 * len(words))), totals[-1], 0, 0
    for position in range(count):
        number = position * size // count
        while totals[word] <= number:
            before = totals[word]
            word += 1
        chosen[word] |= 1 << _place(words[word], number - before)
    found = int.from_bytes(_little(chosen), "little")
    sized(found, count)
    return found


def _place(word: int, number: int) -> int:
    """Return the position of the n-th one, from 0, in a word that has it: by bisection, then one by one."""
    place = 0
    for half in (32, 16, 8):
        low = word & ((1 << half) - 1)
        inside = low.bit_count()
        if number < inside:
            word = low
        else:
            number, word, place = number - inside, word >> half, place + half
    for _ in range(number):
        word &= word - 1
    return place + (word & -word).bit_length() - 1


def _lowest(bits: int, count: int, have: int) -> int:
    """Return the `count` lowest of `have` ones of a short integer, by a binary search for the shortest prefix.

    A prefix with k ones too few must be longer by at least k, one with k too many shorter by at least k: the search
    takes few steps.
    """
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


def _ones(bits: int) -> list[int]:
    """Return the positions of the ones of a large integer, in ascending order."""
    places = []
    for number, word in enumerate(_words(bits)):
        while word:
            above = word & (word - 1)
            places.append(_WORD * number + (word ^ above).bit_length() - 1)
            word = above  # noqa: PLW2901
    return places


def _few_ones(bits: int) -> list[int]:
    """Return the positions of the ones of a large integer with few ones, in ascending order."""
    places = []
    while bits:  # from above: the rest becomes shorter
        place = bits.bit_length() - 1
        bits ^= 1 << place
        places.append(place)
    places.reverse()
    return places


def _words(bits: int) -> array[int]:
    """Return the words of 64 bits of an integer, the lowest first."""
    words = array("Q", bits.to_bytes((bits.bit_length() + _WORD) // _WORD * 8, "little"))
    if sys.byteorder == "big":
        words.byteswap()
    return words


def _little(words: array[int]) -> bytes:
    if sys.byteorder == "big":
        words = array("Q", words)
        words.byteswap()
    return words.tobytes()


class _Spellings:
    """A cache of sets and their texts: Batsim repeats at a job's end the text that was written at its start."""

    __slots__ = ("bits_of", "large_texts", "size", "text_of")

    def __init__(self) -> None:
        #: Any spelling -> bits.
        self.bits_of: dict[str, int] = {}
        #: Bits of a small integer -> canonical spelling.
        self.text_of: dict[int, str] = {}
        #: Identity of a large integer -> the integer, so that its identity is not reused, and its canonical spelling.
        self.large_texts: dict[int, tuple[int, str]] = {}
        #: The approximate size of the cache, in bytes.
        self.size = 0

    def keep(self, text: str, bits: int) -> None:
        """Add a set; the cache is cleared first if it would become too large."""
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
#: The largest size of the cache in bytes: some ten thousand sets of a small machine, some hundred of a large one.
_MOST_BYTES: Final = 32_000_000
#: Bytes of an entry in addition to its text and its bits.
_ENTRY: Final = 250


def format_bits(bits: int) -> str:
    """Return the canonical spelling: "0-3 7"; the empty set is ""."""
    if bits >= LARGE:
        return _format_large(bits)
    text = _text_of.get(bits)
    if text is None:
        if bits < 0:
            return ""  # for a negative number, which has no spelling
        text = _written(bits)
        _spellings.keep(text, bits)
        if text in _bits_of:
            _text_of[bits] = text
    return text


def _format_large(bits: int) -> str:
    """Format a large integer; it is cached by identity, because its hash takes linear time."""
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
    while edges:  # from above: the rest becomes shorter
        above = edges.bit_length() - 1
        edges ^= 1 << above
        low = edges.bit_length() - 1
        edges ^= 1 << low
        pieces.append(f"{low}-{above - 1}" if above - low > 1 else f"{low}")
    pieces.reverse()
    return " ".join(pieces)


def parse_bits(text: str, highest: int = MAX_HOST) -> int:
    """Read an interval set in any spelling; ValueError names an invalid piece, such as a host above `highest`.

    No set is built before its numbers are checked against `highest`, and time is linear in the number of pieces: a
    hostile text takes time and memory in proportion to its length only.
    """
    bits = _bits_of.get(text)
    if bits is None:
        bits = _read_bits(text, highest)
        _spellings.keep(text, bits)
    elif bits.bit_length() > highest + 1:
        raise ValueError(_above(bits.bit_length() - 1, highest))
    return bits


#: The number of hosts up to which one shift per host is fastest.
_FEW: Final = 256
#: The length of a text times the highest allowed host, up to which one shift per piece is fastest.
_SHIFTED: Final = 2**22
#: Characters of a text above which it is read in parts, and pieces of a part; this bounds the memory for long texts.
_LONG_TEXT: Final = 2**16
_PIECE: Final = re.compile(r"[^\s,]+")


def _read_bits(text: str, highest: int) -> int:
    if len(text) > _LONG_TEXT:
        pieces = (match[0] for match in _PIECE.finditer(text))
        bits = 0
        while part := list(islice(pieces, _LONG_TEXT)):
            bits |= united([_interval(piece, highest) for piece in part])
        return bits
    intervals = [_interval(piece, highest) for piece in (text.replace(",", " ") if "," in text else text).split()]
    if len(text) * highest > _SHIFTED:
        return united(intervals)
    bits = 0
    for low, high in intervals:
        bits |= ((1 << (high - low + 1)) - 1) << low
    return bits


def united(intervals: list[tuple[int, int]]) -> int:
    """Return the bits of intervals in any order; each byte is written a few times at most."""
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
