"""The availability against the oracle, on thousands of things that happen at random."""

from __future__ import annotations

import pytest

from batsched_py.hostset import HostSet
from batsched_py.planning import availability
from batsched_py.planning.availability import Slot
from tests.unit.planning.random_life import ALL, HOSTS, Life

STEPS = 120


@pytest.mark.parametrize("few", [0, availability.FEW])
@pytest.mark.parametrize("seed", range(25))
def test_every_answer_is_that_of_the_oracle(few: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens, in any order: late ends, failures, returns, predictions that change, torn reservations.

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


def compare_questions(life: Life, deed: str) -> None:
    future, oracle, chance = life.future, life.oracle, life.chance
    for _ in range(4):
        size, duration, among = chance.randint(1, HOSTS), life.duration(), chance.choice((ALL, life.some(ALL)))
        found = future.earliest(size, duration, None if among == ALL else HostSet(among))
        assert found == oracle.earliest(size, duration, among), deed
        assert future.shadow(size) == oracle.shadow(size), deed
        start = oracle.now + chance.choice((0, 0.5, *range(20)))
        free = oracle.free_during(start, start + duration) & among
        lowest = HostSet(free).first(size)
        slot = future.slot_at(start, size, duration, HostSet(among))
        assert slot == (None if lowest is None else Slot(start, start + duration, lowest)), deed
        assert future.free_during(start, start + duration).bits & among == free, deed


@pytest.mark.parametrize("seed", range(25))
def test_a_reservation_that_is_taken_back_leaves_no_trace(seed: int) -> None:
    """Whatever there is, reserve and release restore every step of the future."""
    life = Life(1000 + seed)
    for _ in range(STEPS):
        life.step()
        before = list(life.future.steps())
        slot = life.future.earliest(life.chance.randint(1, HOSTS), life.chance.randint(1, 12))
        if slot is not None:
            life.future.reserve(slot)
            life.future.release(slot)
        assert list(life.future.steps()) == before
