"""Arithmetic on sets of numbers that are the bits of one integer: sizes, runs, the lowest of them.

Python counts the ones of an integer digit by digit, some 10 us for 80 000 bits, and each operation makes a copy. So
sizes of large sets are remembered, and what goes from bit to bit takes a set apart first.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Final

#: Bits up to which an integer is small: its ones are counted in less time than it takes to look them up.
SMALL: Final = 4096
#: The first integer that is not small: a comparison is faster than a call of `bit_length`.
LARGE: Final = 1 << SMALL
#: Large sets whose sizes are remembered; when there are more, all are forgotten.
_MOST: Final = 1024
#: Edges from which on a large set is taken apart into words to find them.
_MANY: Final = 24
_WORD: Final = 64

#: Identity of an integer -> the integer, which keeps the identity its own, and how many ones it has.
_sizes: dict[int, tuple[int, int]] = {}


def size_of(bits: int) -> int:
    """The number of ones; of a large integer it is counted once, and remembered as long as it is used soon again."""
    if bits < LARGE:
        return bits.bit_count()
    known = _sizes.get(id(bits))
    return sized(bits, bits.bit_count()) if known is None else known[1]


def counter(bits: int) -> Callable[[int], int]:
    """Return the faster function that counts the ones of integers as long as this one."""
    return int.bit_count if bits.bit_length() <= SMALL else size_of


def sized(bits: int, size: int) -> int:
    """Remember that there are `size` ones, which is returned."""
    if bits >= LARGE:
        if len(_sizes) >= _MOST:
            _sizes.clear()
        _sizes[id(bits)] = bits, size
    return size


def without(bits: int, others: int) -> int:
    """The ones that the others are not. Python is slow at `bits & ~others`: negative numbers are turned first."""
    return bits ^ (bits & others)


def interval_bits(low: int, high: int) -> int:
    """Bits low to high, both inside."""
    return ((1 << (high - low + 1)) - 1) << low


def bit_runs(bits: int) -> Iterator[tuple[int, int]]:
    """Maximal runs of ones (lowest, highest), ascending; ValueError for a negative number, which has endless ones."""
    if bits < 0:
        raise ValueError("a host set has no negative hosts")
    if bits >= LARGE:
        edges = bits ^ (bits << 1)  # the first of each run, and the one after its last
        if edges.bit_count() > _MANY:
            places = iter(_ones(edges))
            for low, above in zip(places, places, strict=True):
                yield low, above - 1
            return
    while bits:
        low = (bits & -bits).bit_length() - 1
        shifted = bits >> low
        length = (~shifted & (shifted + 1)).bit_length() - 1
        yield low, low + length - 1
        bits = shifted >> length << (low + length)


def lowest(bits: int, count: int) -> int | None:
    """The `count` lowest ones of `bits`, or None if there are fewer."""
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
    """The place of the lowest one of an integer that is not 0; looks no further than a few times that place."""
    if bits < LARGE:
        return (bits & -bits).bit_length() - 1
    width = _WORD
    while not (window := bits & ((1 << width) - 1)):
        width *= 4
    return (window & -window).bit_length() - 1


def at_distances(bits: int, count: int) -> int:
    """Keep `count` (1 to n) of the n ones, evenly spread: numbers 0, n / count, 2n / count, ... rounded down."""
    words = _words(bits)
    #: How many ones there are up to the end of each word.
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
    """Place of the one of this number, from 0, in a word that has it: by halves, then one by one."""
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
    """As `lowest`, of a short integer with `have` ones, which are more.

    A prefix that has k ones too few must be longer by k at least, one that has k too many shorter: that leaves a binary
    search of few steps.
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
    """Places of the ones, ascending, of a large integer."""
    places = []
    for number, word in enumerate(_words(bits)):
        while word:
            above = word & (word - 1)
            places.append(_WORD * number + (word ^ above).bit_length() - 1)
            word = above  # noqa: PLW2901
    return places


def _words(bits: int) -> array[int]:
    """The integer in words of 64 bits, the lowest first."""
    words = array("Q", bits.to_bytes((bits.bit_length() + _WORD) // _WORD * 8, "little"))
    if sys.byteorder == "big":
        words.byteswap()
    return words


def _little(words: array[int]) -> bytes:
    if sys.byteorder == "big":
        words = array("Q", words)
        words.byteswap()
    return words.tobytes()
