"""Values that an option may take in a search: by its type, a list, or bounds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from batsched_py.api import Plan, Scheduler, View, option
from batsched_py.campaigns.tuning.search_space import Numbers, Space, Words, read_space
from batsched_py.errors import OptionError


@dataclass(frozen=True)
class Options:
    """Options of all kinds."""

    word: Literal["a", "b"] = option("a", "a word")
    truth: bool = option(False, "true or false")
    bounded: int = option(3, "an integer with bounds", minimum=1, maximum=9)
    half: int | None = option(None, "an integer with one bound, or none", minimum=1)
    share: float = option(0.5, "a number with bounds", minimum=0, maximum=1)
    text: str = option("", "a text")


class Mine(Scheduler[Options]):
    name = "mine"

    def decide(self, view: View, plan: Plan) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("given", "space"),
    [
        ({"word": True}, Words(("a", "b"))),
        ({"truth": True}, Words((False, True))),
        ({"bounded": True}, Numbers(1, 9, whole=True)),
        ({"share": True}, Numbers(0, 1, whole=False)),
        ({"half": {"from": 1, "to": 64, "scale": "log"}}, Numbers(1, 64, whole=True, logarithmic=True)),
        ({"half": [1, "none"]}, Words((1, "none"))),
        ({"text": ["a", "b"]}, Words(("a", "b"))),
    ],
)
def test_a_space_is_what_may_be_chosen(given: dict[str, Any], space: Space) -> None:
    """All that a type allows, or less."""
    assert read_space(Mine, given) == dict.fromkeys(given, space)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({}, "names no option"),
        ({"world": True}, "world: unknown; did you mean word?"),
        ({"half": True}, "half: its type has no bounds"),
        ({"text": True}, "text: its type has no bounds"),
        ({"text": 3}, "text: must be true, a list, or for a number"),
        ({"word": ["a"]}, "word: must be two values or more, not ['a']"),
        ({"half": {"from": 1.5, "to": 3}}, "half: must have from and to, whole numbers"),
        ({"share": {"from": 1}}, "share: must have from and to, numbers"),
        ({"share": {"from": 1, "to": 0}}, "share: to: must be greater than from, 1, not 0"),
        ({"share": {"from": 0, "to": 1, "scale": "log"}}, "share: from: must be greater than 0 on a logarithmic scale"),
        ({"share": {"from": 0, "to": 1, "step": 1}}, "share: step: unknown"),
    ],
)
def test_what_is_no_space_is_refused(given: dict[str, Any], rule: str) -> None:
    """With the option and the rule."""
    with pytest.raises(OptionError, match=re.escape(rule)):
        read_space(Mine, given)
