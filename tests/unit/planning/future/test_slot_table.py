"""The slot table against lists of numbers: what it cuts, joins and finds."""

from __future__ import annotations

import math
import random

import pytest

from batsched_py.bits import lowest
from batsched_py.hostset import HostSet
from batsched_py.planning.future.count_slots import CountSlots
from batsched_py.planning.future.host_slots import HostSlots
from batsched_py.planning.future.promises import Claim, Slot
from batsched_py.planning.future.slot_table import SlotTable
from tests.thoroughness import thorough

HOSTS = 6
ALL = (1 << HOSTS) - 1
END = 40


def room_at(slots: CountSlots | HostSlots, time: float) -> int:
    return slots.rooms[max(index for index, begin in enumerate(slots.times) if begin <= time)]


def drawn_counts(chance: random.Random) -> tuple[CountSlots, list[int]]:
    """Some slots, and the room of each second."""
    rooms = [chance.choice((0, 1, 3, HOSTS)) for _ in range(END)]
    return CountSlots((float(time), room) for time, room in enumerate(rooms)), rooms + rooms[-1:] * 20


@pytest.mark.parametrize("seed", range(thorough(25)))
def test_the_first_window_is_that_of_a_search_second_by_second(seed: int) -> None:
    """However much is given and taken in between, which moves the instants that are known to be full."""
    chance = random.Random(seed)
    slots, rooms = drawn_counts(chance)
    for _ in range(30):
        start = chance.randrange(END - 1)
        end, count = chance.randint(start + 1, END), chance.choice((-1, 1, 2))
        slots.give(start, end, count)
        rooms[start:end] = [room + count for room in rooms[start:end]]
        assert [room_at(slots, time) for time in range(END + 20)] == rooms
        assert all(one != other for one, other in zip(slots.rooms, slots.rooms[1:], strict=False))
        size, duration = chance.randint(1, HOSTS), chance.randint(1, 12)
        fits = [time for time in range(END + 1) if min(rooms[time : time + duration]) >= size]
        first = next((time for time in fits if time in slots.times), None)
        assert slots.earliest(size, duration) == (None if first is None else Claim(first, first + duration, size))


@pytest.mark.parametrize("seed", range(thorough(25)))
def test_who_would_come_sooner_is_found_without_giving_back(seed: int) -> None:
    """As if what is taken were given back first, on counts and on hosts."""
    chance = random.Random(seed)
    taken = [chance.getrandbits(HOSTS) & chance.getrandbits(HOSTS) for _ in range(END)]
    steps = [(float(time), ALL & ~bits) for time, bits in enumerate(taken)] + [(float(END), ALL)]
    size, duration = chance.randint(1, HOSTS), float(chance.randint(1, 12))
    counts, hosts = CountSlots((time, free.bit_count()) for time, free in steps), HostSlots(steps)
    first = counts.earliest(size, duration)
    assert first is not None
    since = first.start + chance.randint(0, 10)
    counts.give(since, since + duration, -size)
    assert counts.sooner(since, size, duration) == (first.start if first.start < since else math.inf)
    found = hosts.earliest(size, duration, ALL, None)
    assert found is not None
    assert hosts.take(found.start, found.end, found.hosts.bits)
    assert hosts.sooner(found, duration, math.inf, None) is None


def test_what_was_not_free_cannot_be_taken() -> None:
    """The caller is told, and makes the slots anew."""
    slots = HostSlots([(0.0, 0b0111), (10.0, 0b1111)])
    assert not slots.take(5.0, 15.0, 0b1000)
    assert HostSlots([(0.0, 0b0111), (10.0, 0b1111)]).take(10.0, 15.0, 0b1000)


def test_a_pick_that_finds_nothing_waits_for_more() -> None:
    """Enough hosts are not enough: the next start is tried."""
    slots = HostSlots([(0.0, 0b0101), (10.0, 0b0111)])

    def neighbours(free: HostSet, size: int) -> HostSet | None:
        both = free.bits & free.bits >> 1
        return None if not both else HostSet(0b11 * (both & -both))

    assert slots.earliest(2, 5.0, ALL, None) == Slot(0.0, 5.0, HostSet(0b0101))
    assert slots.earliest(2, 5.0, ALL, neighbours) == Slot(10.0, 15.0, HostSet(0b0011))


def test_slots_that_are_over_are_dropped() -> None:
    """The first slot begins now."""
    slots = CountSlots([(0.0, 1), (5.0, 2), (10.0, 3)])
    slots.advance(7.0)
    assert (slots.times, slots.rooms) == ([7.0, 10.0], [2, 3])


def test_the_table_drops_what_it_cannot_follow() -> None:
    """Hosts that are reserved by their number leave the counts unknown; hosts that are taken twice both."""
    table = SlotTable(late=False)
    table.by_host, table.by_count = HostSlots([(0.0, ALL)]), CountSlots([(0.0, HOSTS)])
    table.take(0.0, 10.0, 0b11, plain=True)
    assert table.by_count is not None
    assert table.by_count.rooms == [HOSTS - 2, HOSTS]
    table.take(20.0, 30.0, 0b1, plain=False)
    assert table.by_count is None
    assert table.by_host.free == [ALL ^ 0b11, ALL, ALL ^ 0b1, ALL]
    table.tangled = 0b10
    table.give(0.0, 10.0, 0b11, plain=True)
    assert table.by_host is None
    assert lowest(ALL, 2) == 0b11
