"""Readers of values: each has one rule, in words and as a schema that says the same."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from batsched_py.reading.limits import LONGEST
from batsched_py.reading.objects import list_of, mapping_of, members_of, object_of, tagged
from batsched_py.reading.values import (
    TEXT,
    TRUTH,
    Reader,
    by_type,
    exactly,
    name_text,
    number,
    one_of,
    optional,
    seconds,
    special,
    text,
    whole_number,
)


def pair(one: int, other: int = 0) -> tuple[int, int]:
    """A thing with two members."""
    return one, other


WHOLE = whole_number(most=9)
READERS: dict[str, Reader[Any]] = {
    "text": TEXT,
    "short text": text(least=1, most=3),
    "name": name_text(most=5),
    "truth": TRUTH,
    "word": one_of(("a", "b")),
    "number": number(),
    "positive": number("bytes", above=0),
    "seconds": seconds(least=0),
    "whole": WHOLE,
    "true": exactly(True, 1),
    "optional": optional(TRUTH),
    "special": special({"all": None, True: 1}, WHOLE),
    "union": by_type("a text or a list", {str: TEXT, list: list_of(TEXT)}),
    "list": list_of(WHOLE, least=1, most=2),
    "mapping": mapping_of(WHOLE, name_text()),
    "object": object_of(pair, {"one": WHOLE, "other": WHOLE}, ("one",)),
    "tagged": tagged({"a": WHOLE, "b": TRUTH}),
}
#: Reader -> a wrong value, and what is wrong.
WRONG: list[tuple[str, Any, str]] = [
    ("text", 3, "must be a text, not 3"),
    ("short text", "", "must not be empty"),
    ("short text", "abcd", "must have at most 3 characters"),
    ("name", "a,b", "must have no comma, double quote, line break or other control character, not 'a,b'"),
    ("truth", 1, "must be true or false, not 1"),
    ("word", "c", "must be one of a, b, not 'c'"),
    ("number", True, "must be a number, not True"),
    ("number", math.nan, "must be a number, not nan"),
    ("number", 10**400, "must be a number, not 1000000"),
    ("positive", 0, "must be a number of bytes greater than 0, not 0"),
    ("seconds", -1, "must be a number of seconds from 0, not -1"),
    ("seconds", 10**400, f"must be at most {LONGEST} s, beyond which a clock has no steps of 10 us, not 1000000"),
    ("whole", 1.5, "must be a whole number from 0 to 9, not 1.5"),
    ("whole", 10, "must be a whole number from 0 to 9, not 10"),
    ("true", False, "must be true, not False"),
    ("optional", 1, "must be null or true or false, not 1"),
    ("special", "none", "must be \"all\", true or a whole number from 0 to 9, not 'none'"),
    ("union", 1, "must be a text or a list, not 1"),
    ("union", [1], "[0]: must be a text, not 1"),
    ("list", [], "must not be empty"),
    ("list", [1, 2, 3], "must have 1 to 2 items, not 3"),
    ("list", [1, "x"], "[1]: must be a whole number from 0 to 9, not 'x'"),
    ("mapping", {"a,": 1}, "a,: must have no comma"),
    ("object", [], "must be an object, not []"),
    ("object", {}, "one: is missing"),
    ("object", {"one": 1, "othr": 1}, "othr: unknown; did you mean other? There are: one, other"),
    ("tagged", {"c": 1}, "c: unknown; there are: a, b"),
    ("tagged", {"a": 1, "b": True}, "must be an object with one of a, b, not {"),
    ("tagged", {"a": -1}, "a: must be a whole number from 0 to 9, not -1"),
]


@pytest.mark.parametrize(("reader", "value", "rule"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_value_is_refused_in_words(reader: str, value: Any, rule: str) -> None:
    """The schema refuses it, too."""
    with pytest.raises(ValueError, match=f"^{re.escape(rule)}"):
        READERS[reader](value)
    assert not Draft202012Validator(READERS[reader].schema).is_valid(value) or reader == "number"


_SCALARS = st.sampled_from([None, True, False, 0, 1, -1, 9, 10, 1.5, 1e12, "", "a", "all", "abcd", "a,b", "\n"])
_VALUES = st.one_of(
    _SCALARS,
    st.lists(_SCALARS, max_size=3),
    st.dictionaries(st.sampled_from(["a", "b", "one", "other", "a,b"]), _SCALARS, max_size=2),
)


@pytest.mark.parametrize("reader", READERS)
@given(_VALUES)
def test_the_schema_admits_exactly_what_is_read(reader: str, value: Any) -> None:
    """For each reader."""
    Draft202012Validator.check_schema(READERS[reader].schema)
    try:
        READERS[reader](value)
    except ValueError:
        read = False
    else:
        read = True
    assert Draft202012Validator(READERS[reader].schema).is_valid(value) == read


def test_values_are_typed() -> None:
    """Numbers become floats, lists tuples, objects what is made of them."""
    assert [type(READERS["number"](1)), READERS["list"]([1, 2])] == [float, (1, 2)]
    assert READERS["object"]({"one": 1}) == (1, 0)
    assert [READERS["special"](value) for value in ("all", True, 1)] == [None, 1, 1]
    assert READERS["tagged"]({"b": True}) is True


def test_all_faults_of_an_object_are_found() -> None:
    """Faults of unknown and wrong members, also of nested ones, come in their order; then those of missing members."""
    reader = members_of({"a": list_of(WHOLE), "b": TRUTH, "c": mapping_of(TRUTH, TEXT)}, ("b", "c"))
    with pytest.raises(ValueError, match="unknown") as raised:
        reader({"x": 1, "a": [1, -1, "x"], "c": {"k": 0}})
    assert [fault.path for fault in raised.value.faults] == ["x", "a[1]", "a[2]", "c.k", "b"]  # type: ignore[attr-defined]


def test_a_conversion_may_refuse_a_value() -> None:
    """With a rule of its own, which the schema may say."""
    even = WHOLE.then(lambda number: number if number % 2 == 0 else _refuse(), multipleOf=2)
    assert even(2) == 2
    with pytest.raises(ValueError, match="must be even"):
        even(3)
    assert not Draft202012Validator(even.schema).is_valid(3)


def _refuse() -> int:
    raise ValueError("must be even")
