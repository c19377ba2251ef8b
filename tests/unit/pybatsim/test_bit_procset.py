"""The faster ProcSet has the results and errors of the package's."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import procset
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.bits import MAX_HOST
from batsched_py.hostset import HostSet
from batsched_py.pybatsim.bit_procset import BitProcSet
from batsched_py.pybatsim.loader import load_pybatsim
from batsched_py.pybatsim.modules import served_modules

NUMBERS = st.integers(0, 70)
INTERVALS = st.tuples(NUMBERS, NUMBERS).map(lambda pair: (min(pair), max(pair)))
ELEMENTS = st.lists(NUMBERS | INTERVALS, max_size=6)
INDICES = st.none() | st.integers(-80, 80)

#: Each is asked of two sets of one class.
OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "or": lambda one, other: one | other,
    "and": lambda one, other: one & other,
    "sub": lambda one, other: one - other,
    "xor": lambda one, other: one ^ other,
    "union": lambda one, other: one.union(other, 3, (5, 9)),
    "intersection": lambda one, other: one.intersection(other, (3, 60)),
    "difference": lambda one, other: one.difference(other, 7),
    "symmetric_difference": lambda one, other: one.symmetric_difference(other),
    "update": lambda one, other: (one.update(other, (1, 4)), one),
    "insert": lambda one, other: (one.insert(12, other), one),
    "intersection_update": lambda one, other: (one.intersection_update(other), one),
    "difference_update": lambda one, other: (one.difference_update(other), one),
    "discard": lambda one, other: (one.discard(other, (2, 2)), one),
    "symmetric_difference_update": lambda one, other: (one.symmetric_difference_update(other), one),
    "compare": lambda one, other: (one == other, one != other, one <= other, one < other, one >= other, one > other),
    "subset": lambda one, other: (one.issubset(other), one.issuperset(other), one.isdisjoint(other)),
    "in a list": lambda one, other: (one.issubset([*other]), one.issuperset([*other, 1]), one.isdisjoint([*other])),
    "clear": lambda one, other: (one.clear(), one, other),
}
#: Each is asked of one set.
OF_ONE: dict[str, Callable[[Any], Any]] = {
    "text": lambda one: (str(one), repr(one), f"{one:/,}", len(one), bool(one)),
    "items": lambda one: (list(one), list(reversed(one)), list(one.intervals()), one.count(), one.iscontiguous()),
    "hull": lambda one: one.aggregate(),
    "ends": lambda one: (one.min, one.max),
    "copies": lambda one: (one.copy(), copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))),
    "wrong": lambda one: one | {1},
    "hash": hash,
    "of three": lambda one: one.union((1, 2, 3)),
    "of a text": lambda one: one.union("12"),
    "of nothing": lambda one: one.union(None),
    "downwards": lambda one: one.union((5, 2)),
    "negative": lambda one: one.union(-1),
    "index": lambda one: one[len(one)],
    "key": lambda one: one["a"],
}


def result(ask: Callable[..., Any], *sets: Any) -> Any:
    """Return what is answered, sets as their texts; or the error."""
    try:
        answer = ask(*sets)
    except (TypeError, ValueError, IndexError) as error:
        return type(error), str(error).replace("BitProcSet", "ProcSet")
    return [repr(one) for one in answer] if isinstance(answer, tuple) else repr(answer)


@pytest.mark.parametrize("asked", OF_TWO)
@given(one=ELEMENTS, other=ELEMENTS)
def test_two_sets_give_what_the_packages_give(asked: str, one: list[Any], other: list[Any]) -> None:
    """Also if one of both is the package's."""
    expected = result(OF_TWO[asked], procset.ProcSet(*one), procset.ProcSet(*other))
    for kind in (BitProcSet, procset.ProcSet):
        assert result(OF_TWO[asked], BitProcSet(*one), kind(*other)) == expected
    assert result(OF_TWO[asked], procset.ProcSet(*one), BitProcSet(*other)) == expected


@pytest.mark.parametrize("asked", OF_ONE)
@given(elements=ELEMENTS)
def test_a_set_gives_what_the_packages_gives(asked: str, elements: list[Any]) -> None:
    assert result(OF_ONE[asked], BitProcSet(*elements)) == result(OF_ONE[asked], procset.ProcSet(*elements))


@given(elements=ELEMENTS, start=INDICES, stop=INDICES, step=st.sampled_from([None, 1, 2, -1, -3]), item=NUMBERS)
def test_numbers_are_found_by_their_place(
    elements: list[Any], start: int | None, stop: int | None, step: int | None, item: int
) -> None:
    """As those of the package; a number between two of an interval is in it, as there."""
    ours, theirs = BitProcSet(*elements), procset.ProcSet(*elements)
    assert ours[start:stop:step] == theirs[start:stop:step]
    assert [number in ours for number in (item, -1, item + 0.5)] == [
        number in theirs for number in (item, -1, item + 0.5)
    ]
    assert ours.host_set == HostSet.from_procset(theirs)


@given(one=ELEMENTS, other=ELEMENTS)
def test_a_set_changes_in_place(one: list[Any], other: list[Any]) -> None:
    """By an operator, and what it was taken from stays."""
    ours, theirs = BitProcSet(*one), procset.ProcSet(*one)
    before = ours.copy()
    same, same_of_theirs = ours, theirs
    ours |= BitProcSet(*other)
    theirs |= procset.ProcSet(*other)
    ours -= BitProcSet((3, 9))
    theirs -= procset.ProcSet((3, 9))
    ours ^= BitProcSet((8, 30))
    theirs ^= procset.ProcSet((8, 30))
    ours &= procset.ProcSet((2, 50))
    theirs &= procset.ProcSet((2, 50))
    assert (ours is same, theirs is same_of_theirs, repr(ours)) == (True, True, repr(theirs))
    assert before == procset.ProcSet(*one)


def test_a_subclass_keeps_its_class() -> None:
    """As in the package."""

    class Named(BitProcSet):
        pass

    assert type(Named(1, 2) | BitProcSet(5)) is Named


@pytest.mark.parametrize("wrong", [MAX_HOST + 1, (0, 10**15), procset.ProcSet((1, 10**15))])
def test_a_number_beyond_any_host_is_refused(wrong: Any) -> None:
    """Its bits would not fit into memory."""
    with pytest.raises(ValueError, match="a ProcSet has numbers from 0 to 10000000, not"):
        BitProcSet(wrong)
    assert MAX_HOST in BitProcSet(MAX_HOST)


def test_schedulers_get_it_and_others_the_packages(tmp_path: Path) -> None:
    """While a scheduler is loaded; its other names are the package's."""
    (tmp_path / "chooser.py").write_text(
        "from batsim.batsim import BatsimScheduler\nfrom procset import ProcInt, ProcSet\n"
        "class Chooser(BatsimScheduler):\n    chosen = ProcSet, ProcInt\n"
    )
    made = load_pybatsim(f"pybatsim:{tmp_path / 'chooser.py'}").make({})
    assert made.chosen == (BitProcSet, procset.ProcInt)
    assert sys.modules["procset"] is procset
    with pytest.raises(KeyError), served_modules():
        raise KeyError
    assert sys.modules["procset"] is procset
