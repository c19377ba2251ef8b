"""Things chosen by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from batsched_py.named import Named

#: What a user has written, and where.
MINE: dict[str, Any] = {"mine:one": lambda x: x, "mine:two": lambda x, y: x, "mine:pi": 3.14, "mine:max": max}


def load(target: str, kind: str) -> Any:
    assert kind == "taste"
    return MINE[target]


def adopt(name: str, function: Callable[..., Any]) -> Any:
    return name, function


THINGS: Named[Any] = Named("taste", {"sweet": 1, "sour": 2}, ("salt",), adopt)
CLOSED: Named[int] = Named("taste", {"sweet": 1})


def test_a_thing_is_found_by_its_name_or_made_of_a_function() -> None:
    """Known names first; a colon means a function of the user's."""
    assert THINGS.find("sour", load) == 2
    assert THINGS.find("mine:one", load) == ("mine:one", MINE["mine:one"])
    assert list(THINGS) == ["sweet", "sour"]


def test_a_function_that_does_not_tell_its_arguments_is_taken() -> None:
    """As some of those that are written in C."""
    assert THINGS.find("mine:max", load) == ("mine:max", max)


@pytest.mark.parametrize(
    ("things", "text", "words"),
    [
        (THINGS, "salty", r"must be sweet \| sour \| module:function, not 'salty'"),
        (THINGS, "mine:pi", "mine:pi is not a function"),
        (THINGS, "mine:two", r"mine:two must be a function of \(salt\)"),
        (CLOSED, "mine:one", "must be sweet, not 'mine:one'"),
    ],
)
def test_other_names_are_refused_with_the_rule(things: Named[Any], text: str, words: str) -> None:
    """The error has the known names or the arguments, and what was written."""
    with pytest.raises(ValueError, match=words):
        things.find(text, load)
