"""Reading one member, and showing a wrong one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from batsched_py.hostset import HostSet
from batsched_py.protocol import fields
from batsched_py.protocol.fields import FieldError, check_finite, shown
from tests.unit.protocol.strategies import json_values

Reader = Callable[[dict[str, Any], str], Any]

EMPTY: dict[str, Any] = {}
#: A value of each JSON type, and which readers take it.
SAMPLES: list[tuple[Any, set[str]]] = [
    (None, set()),
    (True, {"boolean"}),
    (3, {"integer", "number"}),
    (2.5, {"number"}),
    ("1-2", {"text", "hosts"}),
    ([], {"array", "texts"}),
    (EMPTY, {"mapping", "optional_mapping"}),
]
READERS = sorted(set().union(*(names for _, names in SAMPLES)))


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(("value", "taken"), SAMPLES, ids=[repr(value) for value, _ in SAMPLES])
def test_a_reader_takes_its_own_type_and_no_other(name: str, value: Any, taken: set[str]) -> None:
    """True is no number here, and a number is no text."""
    reader: Reader = getattr(fields, name)
    if name in taken:
        expected = {"hosts": HostSet.of(1, 2), "texts": ()}.get(name, value)
        assert reader({"m": value}, "m") == expected
    else:
        with pytest.raises(FieldError, match=r"^m: must be "):
            reader({"m": value}, "m")


@pytest.mark.parametrize("name", sorted(set(READERS) - {"optional_mapping"}))
def test_a_missing_member_is_said_to_be_missing(name: str) -> None:
    """A member of null is not the same as none."""
    reader: Reader = getattr(fields, name)
    with pytest.raises(FieldError, match=r"^a\.b: is missing; it must be "):
        reader({}, "a.b")


def test_an_optional_object_may_be_missing() -> None:
    """Then it is None."""
    assert fields.optional_mapping({}, "m") is None


def test_a_list_of_texts_holds_nothing_else() -> None:
    """One wrong entry spoils it."""
    with pytest.raises(FieldError, match="must be a list of strings"):
        fields.texts({"m": ["a", 1]}, "m")


def test_hosts_say_which_piece_is_wrong() -> None:
    """The reason is that of the host set."""
    with pytest.raises(FieldError, match=r"^m: 'x' is not a host number"):
        fields.hosts({"m": "0 x"}, "m")


@given(json_values)
def test_any_value_is_shown_on_one_short_line(value: Any) -> None:
    """Whatever the peer has sent."""
    line = shown(value)
    assert len(line) <= 60
    assert "\n" not in line


def test_a_small_value_is_shown_whole() -> None:
    """An error quotes what was sent."""
    assert shown({"a": [1, "x"]}) == "{'a': [1, 'x']}"


def deep(levels: int) -> Any:
    """A list in a list in a list..."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [deep(100_000), 10**5000, "x" * 10**6], ids=["deep", "huge", "long"])
def test_a_hostile_value_is_shown_too(value: Any) -> None:
    """An error message must never be the thing that fails."""
    assert len(shown(value)) <= 60


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_lacks_is_found_at_any_depth(number: float) -> None:
    """It would be written as null."""
    with pytest.raises(FieldError, match=r"^profile\.cpu\[1\]\.x: must be a finite number"):
        check_finite({"cpu": [1, {"x": number}]}, "profile")


@given(json_values)
def test_whatever_was_read_from_json_is_finite(value: Any) -> None:
    """JSON has no other numbers."""
    check_finite(value, "value")
