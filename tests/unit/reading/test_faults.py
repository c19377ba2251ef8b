"""Faults: their places, their order, and their number."""

from __future__ import annotations

import pickle

import pytest

from batsched_py.errors import Fault, WorkloadError
from batsched_py.reading.faults import MOST_FAULTS, Faults, FieldError, inside, joined, member, of_file


def test_places_are_joined_as_paths() -> None:
    """Members with a dot, items with brackets."""
    assert joined("jobs", "[3]") == "jobs[3]"
    assert joined("jobs[3]", "walltime") == "jobs[3].walltime"
    assert joined("", "jobs") == joined("jobs", "") == "jobs"


def test_names_from_outside_are_escaped_in_places() -> None:
    """Also an empty one is visible."""
    assert member("a", "\x1b") == "a.\\x1b"
    assert member("a", "") == 'a.""'


def test_a_document_puts_its_place_in_front_of_all_faults() -> None:
    """A plain ValueError concerns the whole value."""
    error = FieldError("a", "must be 1", [Fault("", "must be 2")])
    assert inside("x", error).faults == (Fault("x.a", "must be 1"), Fault("x", "must be 2"))
    assert inside("x", ValueError("must be 3")).faults == (Fault("x", "must be 3"),)


def test_faults_are_raised_together() -> None:
    """In the order in which they were found; without faults nothing is raised."""
    faults = Faults()
    faults.refuse()
    with faults.at("a"):
        raise ValueError("must be 1")
    faults.note("b", "must be 2")
    with pytest.raises(FieldError, match=r"^a: must be 1$") as raised:
        faults.refuse()
    assert [str(fault) for fault in raised.value.faults] == ["a: must be 1", "b: must be 2"]


def test_reading_ends_after_many_faults() -> None:
    """Wherever they are: the document around it adds none."""
    outer, inner = Faults(), Faults()
    outer.note("first", "must be 0")
    for number in range(MOST_FAULTS - 1):
        inner.note(f"[{number}]", "must be 1")
    with pytest.raises(FieldError) as raised, outer.at("list"):
        inner.note("[99]", "must be 1")
    assert len(raised.value.faults) == MOST_FAULTS
    assert raised.value.faults[1].path == "list[0]"


def test_the_error_of_a_file_counts_what_it_does_not_quote() -> None:
    """And has all faults, also in another process."""
    error = of_file(WorkloadError, "w.json", FieldError("a", "must be 1", [Fault("b", "must be 2")]))
    assert str(error) == "w.json: a: must be 1 (and 1 other error)"
    assert pickle.loads(pickle.dumps(error)).faults == (Fault("a", "must be 1"), Fault("b", "must be 2"))
