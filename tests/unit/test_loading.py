"""Objects by module and by file, and things chosen by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import PluginError
from batsched_py.loading import Named, load_object


def adopt(name: str, function: Callable[..., Any]) -> Any:
    if name.endswith("bad"):
        raise ValueError("takes two arguments")
    return function


THINGS: Named[Any] = Named("taste", {"sweet": 1, "sour": 2}, adopt)
CLOSED: Named[int] = Named("taste", {"sweet": 1})


def test_an_object_is_found_in_a_module_and_in_a_file(tmp_path: Path) -> None:
    """`package.module:name` and `file.py:name`."""
    file = tmp_path / "mine.py"
    file.write_text("answer = 42\n")
    assert load_object("math:pi", "number") == pytest.approx(3.14159, abs=1e-5)
    assert load_object(f"{file}:answer", "number") == 42


def test_what_is_not_there_is_one_line_that_says_what_it_was_for() -> None:
    """The kind, the target and the missing name."""
    with pytest.raises(PluginError, match="number math:tau2: math has no tau2"):
        load_object("math:tau2", "number")


def test_a_thing_is_found_by_its_name_or_made_of_a_function() -> None:
    """Known names first; a colon means a function of the user's."""
    assert THINGS.find("sour") == 2
    assert THINGS.find("math:sqrt")(9) == 3
    assert list(THINGS) == ["sweet", "sour"]


@pytest.mark.parametrize(
    ("things", "text", "words"),
    [
        (THINGS, "salty", r"must be sweet \| sour \| module:function, not 'salty'"),
        (THINGS, "math:pi", "math:pi is not a function"),
        (CLOSED, "math:sqrt", "must be sweet, not 'math:sqrt'"),
    ],
)
def test_other_names_are_refused_with_the_choices(things: Named[Any], text: str, words: str) -> None:
    """What there is, and what was written."""
    with pytest.raises(ValueError, match=words):
        things.find(text)
