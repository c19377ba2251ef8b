"""Limits: what is counted, how it is told, and that defaults are far above what there is."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.reading.limits import DEEPEST, LIMITS, LimitError, Limits, check_depth, option_name


def nested(levels: int, innermost: Any = 1) -> Any:
    """Lists and objects by turns, one inside the other."""
    value = innermost
    for level in range(levels):
        value = [value, 0] if level % 2 else {"a": 0, "b": value}
    return value


def test_defaults_are_far_above_the_largest_logs() -> None:
    """Ten times Curie: 3 000 000 jobs, of 200 bytes each, on 1 000 000 hosts."""
    assert LIMITS.jobs >= 3_000_000
    assert LIMITS.hosts > 1_000_000
    assert LIMITS.file_size >= 3_000_000 * 200


@pytest.mark.parametrize("name", Limits.__struct_fields__)
def test_each_limit_has_words_of_its_own(name: str) -> None:
    """They say what is counted, and how to allow more."""
    with pytest.raises(LimitError, match=f"^must be at most 1 .*--limit {option_name(name)}=N allows more"):
        Limits(**{name: 1}).check(name, 2)


@pytest.mark.parametrize("name", Limits.__struct_fields__)
def test_the_limit_itself_is_allowed(name: str) -> None:
    """One more is not."""
    Limits(**{name: 7}).check(name, 7)
    with pytest.raises(LimitError):
        Limits(**{name: 7}).check(name, 8)


@pytest.mark.parametrize("depth", [1, 5, DEEPEST])
def test_levels_are_counted_to_the_deepest(depth: int) -> None:
    """All parts count, not only the first."""
    check_depth(nested(depth), Limits(depth=depth))
    with pytest.raises(LimitError, match=f"must be at most {depth} levels deep"):
        check_depth([1, {}, nested(depth)], Limits(depth=depth))


def test_what_is_as_deep_as_a_parser_goes_is_measured() -> None:
    """Python's own stack is not as deep."""
    with pytest.raises(LimitError):
        check_depth(nested(100_000), Limits(depth=DEEPEST))
