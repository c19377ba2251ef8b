"""Faults: their places, their order, and their number."""

from __future__ import annotations

import pickle

import pytest

from batsched_py.errors import Fault, WorkloadError
from batsched_py.reading.faults import MOST_FAULTS, FieldError, Place, inside, joined, of_file


def test_places_are_joined_as_paths() -> None:
    """Members with a dot, items with brackets."""
    assert joined("jobs", "[3]") == "jobs[3]"
    assert joined("jobs[3]", "walltime") == "jobs[3].walltime"
    assert joined("", "jobs") == joined("jobs", "") == "jobs"


def test_names_from_outside_are_escaped_in_places() -> None:
    """Also an empty one is visible."""
    assert (Place("a") / "\x1b").path == "a.\\x1b"
    assert (Place("a")[1] / "").path == 'a[1].""'


def test_a_document_puts_its_place_in_front_of_all_faults() -> None:
    """A plain ValueError concerns the whole value."""
    error = FieldError("a", "must be 1", [Fault("", "must be 2")])
    assert inside("x", error).faults == (Fault("x.a", "must be 1"), Fault("x", "must be 2"))
    assert inside("x", ValueError("must be 3")).faults == (Fault("x", "must be 3"),)


def test_faults_are_raised_together() -> None:
    """In the order in which they were found; without faults nothing is raised."""
    place = Place()
    place.refuse()
    assert (place / "number").read(int, "3", 0) == 3
    assert (place / "a").read(int, "x", 0) == 0
    place[2].note("must be 2")
    assert place.is_faulty
    with pytest.raises(FieldError, match=r"^a: invalid literal") as raised:
        place.refuse()
    assert [fault.path for fault in raised.value.faults] == ["a", "[2]"]


def test_reading_ends_after_many_faults() -> None:
    """Wherever they are: the document around it adds none."""
    outer, inner = Place(), Place()
    outer.note("must be 0")
    for number in range(MOST_FAULTS - 1):
        inner[number].note("must be 1")
    with pytest.raises(FieldError) as full:
        inner.note("must be 2")
    with pytest.raises(FieldError) as raised:
        (outer / "list").add(full.value)
    assert len(raised.value.faults) == MOST_FAULTS
    assert raised.value.faults[1].path == "list[0]"


def test_the_error_of_a_file_counts_what_it_does_not_quote() -> None:
    """It has all faults, also in another process."""
    error = of_file(WorkloadError, "w.json", FieldError("a", "must be 1", [Fault("b", "must be 2")]))
    assert str(error) == "w.json: a: must be 1 (and 1 other error)"
    assert pickle.loads(pickle.dumps(error)).faults == (Fault("a", "must be 1"), Fault("b", "must be 2"))
