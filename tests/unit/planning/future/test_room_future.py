"""Rooms over time: random lives agree with a slow and obvious oracle; and single cases."""

from __future__ import annotations

import math

import pytest

from batsched_py.errors import InvariantError
from batsched_py.hostset import HostSet
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import RoomSlot
from tests.unit.planning.room_oracle import SharedLife


@pytest.mark.parametrize("seed", range(25))
def test_rooms_are_found_as_an_oracle_finds_them(seed: int) -> None:
    """Starts and places: of every resource, shares of GPUs, kinds of tasks, licences, whole hosts between them."""
    life = SharedLife(seed)
    for _ in range(50):
        deed = life.step()
        wanted, duration, among, rating = life.question()
        found = life.earliest_room(wanted, duration, among, rating)
        assert found == life.oracle.earliest_room(wanted, duration, among, rating), deed
        now = life.oracle.now
        places = life.future.room_now(wanted, duration, life.packers[rating], HostSet(among))
        assert places == life.oracle.places_at(wanted, now, now + duration, among, rating), deed


@pytest.mark.parametrize("seed", range(40, 60))
def test_whole_hosts_are_found_beside_tasks_as_an_oracle_finds_them(seed: int) -> None:
    """Hosts on which a task runs or is promised room are free for no job with whole hosts."""
    life = SharedLife(seed)
    for _ in range(50):
        deed = life.step()
        future, oracle, now = life.future, life.oracle, life.oracle.now
        size, duration = life.chance.randint(1, 7), float(life.chance.randint(1, 12))
        start = now + life.chance.choice((0, 1, 2, 5))
        assert future.free == oracle.free_at(now), deed
        assert future.free_during(start, start + duration).bits == oracle.free_during(start, start + duration), deed
        assert future.earliest(size, duration) == oracle.earliest(size, duration, -1), deed
        assert future.earliest_count(size, duration) == oracle.earliest_count(size, duration), deed
        assert future.shadow(size) == oracle.shadow(size), deed
        for time, hosts in future.host_falls():
            assert hosts.bits == oracle.free_during(now, math.nextafter(time, math.inf)), deed


@pytest.mark.parametrize("seed", range(60, 75))
def test_rooms_are_found_from_an_instant_on(seed: int) -> None:
    """At this instant if an oracle finds places then, else later, and never before."""
    life = SharedLife(seed)
    for _ in range(40):
        deed = life.step()
        wanted, duration, among, rating = life.question()
        first = life.oracle.now + life.chance.choice((0, 1, 3, 7.5))
        pack = life.packers[rating]
        found = life.future.earliest_room(wanted, duration, pack, HostSet(among), first=first)
        places = life.oracle.places_at(wanted, first, first + duration, among, rating)
        if places is not None:
            assert found == RoomSlot(first, first + duration, places, wanted), deed
        elif found is not None:
            assert found.start > first, deed
            assert found.places == life.oracle.places_at(wanted, found.start, found.end, among, rating), deed


def test_nothing_is_left_of_tasks_that_are_over() -> None:
    """After all have ended, the rooms are as at the beginning."""
    life = SharedLife(7)
    for _ in range(200):
        life.step()
    for name in list(life.oracle.running):
        life.future.vacate_tasks(name)
    for slot in life.oracle.promised:
        life.future.release(slot)
    rooms = life.future.rooms
    assert rooms is not None
    assert (rooms.lines, rooms.lined, rooms.used_now()) == ({}, 0, 0)
    assert (rooms.ends.items, rooms.starts.items, len(rooms.licences.times)) == ([], [], 1)


def test_tasks_need_hosts_that_may_be_shared() -> None:
    """Without capacities nothing is known of rooms."""
    life = SharedLife(1)
    with pytest.raises(InvariantError, match="hosts may be shared"):
        Availability(0.0, 0b11).earliest_room(life.demand(), 1.0, lambda _job, _rooms: None, HostSet(0b11))
