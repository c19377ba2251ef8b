"""The decision clock: its spellings on the command line."""

from __future__ import annotations

import pytest

from batsched_py.errors import OptionError
from batsched_py.session.clock import ZERO, DecisionClock, parse_clock


def wall() -> float:
    return 7.0


def test_each_kind_of_clock_has_its_word() -> None:
    """No time, a fixed time, or what the clock measures."""
    assert parse_clock("zero", wall) is ZERO
    assert parse_clock("fixed:0.5", wall) == DecisionClock(fixed=0.5)
    assert parse_clock("measured", wall) == DecisionClock(wall=wall)


@pytest.mark.parametrize("text", ["", "zero:1", "fixed", "fixed:", "fixed:-1", "fixed:inf", "fixed:nan", "wall", "0.5"])
def test_another_word_is_refused(text: str) -> None:
    """In one line with the three that there are."""
    with pytest.raises(OptionError, match=r"^clock: must be zero, measured or fixed:SECONDS like fixed:0\.5, not "):
        parse_clock(text, wall)
