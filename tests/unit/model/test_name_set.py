"""A set of names that only grows."""

import random
import tracemalloc

import pytest

from batsched_py.model.name_set import NameSet


@pytest.mark.parametrize("form", ["w0!{}", "w0!{:07d}", "{}", "w{}!x", "w0!a{}b", "w0!٣{}"])
def test_it_answers_as_a_set_does(form: str) -> None:
    """Also where there are so many that they are packed, of any form and in any order."""
    rng = random.Random(form)
    numbers = rng.sample(range(200_000), 40_000)
    names, known = NameSet(), {form.format(number) for number in numbers[:20_000]}
    for number in numbers[:20_000]:
        names.add(form.format(number))
    assert len(names) == 20_000
    assert all((form.format(number) in names) == (form.format(number) in known) for number in numbers)
    assert "" not in names


def test_numbers_far_apart_are_no_large_bitmap() -> None:
    """An id may be a number of any size: memory goes with how many there are."""
    tracemalloc.start()
    names = NameSet()
    for number in range(20_000):
        names.add(f"w0!{number * 1_000_000_007}")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8_000_000
    assert "w0!7000000049" in names
    assert "w0!7000000050" not in names


def test_numbered_names_cost_little() -> None:
    """A bit each, and what the last ones cost before they are packed."""
    tracemalloc.start()
    names = NameSet()
    for number in range(100_000):
        names.add(f"w0!{number:07d}")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3_000_000
