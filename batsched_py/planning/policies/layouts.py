"""Layouts of a job's hosts: contiguous, in few zones, spread. Functions on bits; None if too few are free."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

from batsched_py.bits import at_distances, bit_runs, interval_bits, lowest, size_of
from batsched_py.planning.machine import Zones


def contiguous(free: int, size: int) -> int | None:
    """Return the lowest `size` bits of the shortest run of at least `size` ones, the lowest among equal runs.

    Runs are shortened by size - 1, in doubling steps, so that the remaining bits mark the beginnings of runs of `size`.
    """
    starts, length = free, 1
    while length < size and starts:
        step = min(length, size - length)
        starts &= starts >> step
        length += step
    if not starts:
        return None
    low = min(bit_runs(starts), key=lambda run: run[1] - run[0])[0]
    return interval_bits(low, low + size - 1)


def best_effort_contiguous(free: int, size: int) -> int | None:
    """Select like `contiguous` if a run is long enough, else from as few runs as possible (see `fewest`)."""
    bits = contiguous(free, size)
    if bits is not None or size_of(free) < size:
        return bits
    runs = list(bit_runs(free))
    taken = fewest([high - low + 1 for low, high in runs], size)
    return union(interval_bits(runs[index][0], runs[index][0] + count - 1) for index, count in taken)


def local(free: int, size: int, zones: Zones) -> int | None:
    """Select `size` hosts in the smallest sufficient zone, with the fewest free hosts; else in as few as possible."""
    if size_of(free) < size:
        return None
    for level, members in enumerate(zones):
        enough = [part for zone in members if (part := free & zone).bit_count() >= size]
        if enough:
            return within(min(enough, key=int.bit_count), size, zones[:level])
    return within(free, size, zones)


def within(free: int, size: int, zones: Zones) -> int:
    """Select `size` hosts from as few top-level zones as possible, recursively. Requires enough free hosts."""
    if not zones:
        return lowest(free, size) or 0
    members = [part for zone in zones[-1] if (part := free & zone)]
    taken = fewest([part.bit_count() for part in members], size)
    return union(within(members[index], count, zones[:-1]) for index, count in taken)


def fewest(counts: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Take `size` in total from as few pieces as possible, as (index, number): whole pieces and a part of one.

    The largest pieces are taken whole as long as no piece suffices for the remainder, which is taken from the smallest
    sufficient one. The first piece is taken among equals. The counts must sum up to at least `size`.
    """
    taken: list[tuple[int, int]] = []
    order = sorted(range(len(counts)), key=lambda index: -counts[index])
    for position, index in enumerate(order):
        if counts[index] >= size:
            last = min((other for other in order[position:] if counts[other] >= size), key=lambda other: counts[other])
            return [*taken, (last, size)]
        taken.append((index, counts[index]))
        size -= counts[index]
    return taken


def spread(free: int, size: int, zones: Zones) -> int | None:
    """Take equal numbers from the largest zones, recursively; within the smallest zones at equal distances.

    Zones with few free hosts give all they have, the others compensate; if there are more zones than hosts to take,
    those with the most free hosts give one each, the first among equals.
    """
    if size_of(free) < size:
        return None
    if not zones:
        return at_distances(free, size)
    members = sorted((part for zone in reversed(zones[-1]) if (part := free & zone)), key=int.bit_count)
    bits = 0
    for position, part in enumerate(members):
        count = min(part.bit_count(), size // (len(members) - position))
        if count:
            bits |= spread(part, count, zones[:-1]) or 0
            size -= count
    return bits


def union(pieces: Iterable[int]) -> int:
    """Return all bits of the pieces."""
    return reduce(or_, pieces, 0)
