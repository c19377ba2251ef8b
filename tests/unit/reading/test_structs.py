"""Structs that are read by the types of their fields."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from msgspec import Struct, field

from batsched_py.reading.faults import FieldError
from batsched_py.reading.structs import converted, struct_of


class Thing(Struct, frozen=True):
    """A struct with members of several types."""

    count: int
    parts: list[dict[str, float]] = field(default_factory=list)
    begin: str | None = field(name="from", default=None)
    kind: Literal["a", "b"] = "a"


def test_members_are_fields() -> None:
    """By their encoded names."""
    assert struct_of(Thing)({"count": 1, "from": "x", "parts": [{"a": 1}]}) == Thing(1, [{"a": 1.0}], "x")


def test_all_faults_are_found_in_our_words() -> None:
    """With their places."""
    wrong = {"count": "1", "from": 3, "parts": [{}, {"a": True}], "kind": "c", "mine": 1}
    with pytest.raises(FieldError) as caught:
        struct_of(Thing)(wrong)
    assert [str(fault) for fault in caught.value.faults] == [
        "count: must be a whole number, not '1'",
        "from: must be a text or null, not 3",
        "parts[1]: must be a number, not true or false",
        "kind: invalid enum value 'c': 'c'",
        "mine: unknown; there are: count, parts, from, kind",
    ]


@pytest.mark.parametrize(
    ("kind", "value", "rule"),
    [
        (Thing, {}, "count: is missing"),
        (list[Thing], [{"count": 1}, {}], r"\[1\]\.count: is missing"),
        (int, 1.5, "must be a whole number, not 1.5"),
    ],
)
def test_a_value_of_a_type_is_read_or_refused(kind: Any, value: Any, rule: str) -> None:
    """A struct within another value has its first fault."""
    with pytest.raises(FieldError, match=f"^{rule}$"):
        converted(kind)(value)
