"""The availability against the oracle, on thousands of things that happen at random."""

from __future__ import annotations

from itertools import accumulate

import pytest

from batsched_py.hostset import HostSet
from batsched_py.planning.future import availability
from batsched_py.planning.future.promises import Slot
from tests.unit.planning.random_life import ALL, HOSTS, Life

STEPS = 120


@pytest.mark.parametrize("few", [0, availability.FEW])
@pytest.mark.parametrize("seed", range(25))
def test_every_answer_is_that_of_the_oracle(few: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds for late ends, failures, returns, changed predictions and torn reservations in any order.

    With slices for any reservation, and with slices for many only.
    """
    monkeypatch.setattr(availability, "FEW", few)
    life = Life(seed)
    for _ in range(STEPS):
        deed = life.step()
        compare_now(life, deed)
        compare_questions(life, deed)


def compare_now(life: Life, deed: str) -> None:
    future, oracle = life.future, life.oracle
    assert future.free == oracle.free_at(oracle.now), deed
    assert future.busy == oracle.busy(), deed
    expected = [(time, HostSet(oracle.free_at(time))) for time in oracle.instants()]
    assert dict(future.steps()) == dict(expected), deed
    rooms = oracle.rooms()
    least = accumulate((room for _, room in rooms[:-1]), min)
    falls = [rooms[0], *(here for here, before in zip(rooms[1:], least, strict=True) if here[1] < before)]
    assert future.count_falls() == falls, deed


def compare_questions(life: Life, deed: str) -> None:
    future, oracle, chance = life.future, life.oracle, life.chance
    for _ in range(4):
        size, duration, among = chance.randint(1, HOSTS), life.duration(), chance.choice((ALL, life.some(ALL)))
        found = future.earliest(size, duration, None if among == ALL else HostSet(among))
        assert found == oracle.earliest(size, duration, among), deed
        assert future.earliest_count(size, duration) == oracle.earliest_count(size, duration), deed
        assert future.shadow(size) == oracle.shadow(size), deed
        start = oracle.now + chance.choice((0, 0.5, *range(20)))
        free = oracle.free_during(start, start + duration) & among
        lowest = HostSet(free).first(size)
        slot = future.slot_at(start, size, duration, HostSet(among))
        assert slot == (None if lowest is None else Slot(start, start + duration, lowest)), deed
        assert future.free_during(start, start + duration).bits & among == free, deed


@pytest.mark.parametrize("seed", range(25))
def test_a_reservation_that_is_taken_back_leaves_no_trace(seed: int) -> None:
    """In any situation, reserve and release restore every step of the future."""
    life = Life(1000 + seed)
    for _ in range(STEPS):
        life.step()
        before, falls = list(life.future.steps()), life.future.count_falls()
        wanted = life.chance.randint(1, HOSTS), life.chance.randint(1, 12)
        for promise in (life.future.earliest(*wanted), life.future.earliest_count(*wanted)):
            if promise is not None:
                life.future.reserve(promise)
                life.future.release(promise)
        assert list(life.future.steps()) == before
        assert life.future.count_falls() == falls
