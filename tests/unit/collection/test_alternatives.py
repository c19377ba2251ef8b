"""Alternatives: schedules whole or as differences, and what is wrong with some of them (L12, L13, LA-67)."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.collection.alternatives import ObjectPlacement, read_alternatives, vary
from batsched_py.reading.faults import FieldError

FIRST = {"name": "first", "placements": [{"object": "o1", "host": "A", "vault": "VA"}, {"object": "o2", "host": "B"}]}


def placed(object_name: str, host: str) -> dict[str, str]:
    """A placement."""
    return {"object": object_name, "host": host}


CHANGE = {"difference": [placed("o1", "A")]}


def test_a_difference_changes_what_it_names() -> None:
    """It changes the schedule before, or one that is named, which may come later."""
    alternatives = read_alternatives(
        [
            FIRST,
            {"difference": [placed("o2", "C")]},
            {"difference": [placed("o1", "D")], "of": "first"},
            {"difference": [placed("o2", "A")], "of": "last"},
            {"name": "last", "placements": [placed("o2", "E")]},
        ]
    )
    o1, o2 = ObjectPlacement("o1", "A", "VA"), ObjectPlacement("o2", "B")
    assert alternatives == [
        (o1, o2),
        (o1, ObjectPlacement("o2", "C")),
        (ObjectPlacement("o1", "D"), o2),
        (ObjectPlacement("o2", "A"),),
        (ObjectPlacement("o2", "E"),),
    ]


def test_la_67_a_difference_changes_something_that_is_there() -> None:
    """LA-67: otherwise it is refused before anybody is asked."""
    schedule = (ObjectPlacement("o1", "A"),)
    with pytest.raises(FieldError, match="must change a placement"):
        vary(schedule, [])
    with pytest.raises(FieldError, match="there is no object 'o9'"):
        vary(schedule, [ObjectPlacement("o9", "A")])


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "must be a list of schedules, not {}"),
        ([], "must not be empty"),
        ([1], "[0]: must be an object, not 1"),
        ([{}], "[0]: must have either placements or a difference"),
        ([{"placements": [], "difference": []}], "[0]: must have either placements or a difference"),
        ([{"place": []}], "[0].place: unknown; did you mean placements? There are: name, of, placements, difference"),
        ([{"difference": []}], "[0].difference: varies no schedule: it is the first"),
        ([FIRST, {"difference": []}], "[1].difference: a difference must change a placement"),
        (
            [FIRST, {"difference": [placed("x", "A")]}],
            "[1].difference: there is no object 'x' in the schedule that it varies",
        ),
        ([FIRST, FIRST], "[1].name: 'first' is the name of two schedules"),
        (
            [FIRST, {"difference": [placed("o1", "A")], "of": "none"}],
            "[1].of: must be the name of a schedule, not 'none'",
        ),
        (
            [
                {"name": "a", "difference": [placed("o1", "A")], "of": "b"},
                {"name": "b", "difference": [placed("o1", "B")], "of": "a"},
            ],
            "[1].of: varies a schedule that varies it in turn",
        ),
        (
            [{"name": "a", "difference": [placed("o1", "A")], "of": "a"}],
            "[0].of: varies a schedule that varies it in turn",
        ),
        ([FIRST, {"placements": [], "of": "first"}], "[1].of: needs a difference"),
        ([{"placements": 1}], "[0].placements: must be a list of placements, not 1"),
        ([{"placements": [1]}], "[0].placements[0]: must be an object, not 1"),
        ([{"placements": [{"host": "A"}]}], "[0].placements[0].object: is missing"),
        ([{"placements": [{"object": "o", "host": 1}]}], "[0].placements[0].host: must be a text, not 1"),
        (
            [{"placements": [{"object": "o", "host": "A", "vault": 1}]}],
            "[0].placements[0].vault: must be null or a text, not 1",
        ),
        ([{"placements": [placed("o", "A"), placed("o", "B")]}], "[0].placements[1].object: 'o' is placed twice"),
    ],
)
def test_what_is_wrong_is_one_line(document: Any, message: str) -> None:
    """Place and rule."""
    with pytest.raises(FieldError) as caught:
        read_alternatives(document)
    assert str(caught.value) == message


def test_a_long_chain_of_differences_is_read() -> None:
    """Each varies the next one."""
    chain = [{"name": str(n), "difference": [placed("o1", str(n))], "of": str(n + 1)} for n in range(3000)]
    read = read_alternatives([*chain, {**FIRST, "name": "3000"}])
    assert [schedule[0].host for schedule in read[:3]] == ["0", "1", "2"]
    assert read[0][1].host == "B"
