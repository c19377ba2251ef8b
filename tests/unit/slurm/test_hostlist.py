"""Lists of nodes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.slurm.hostlist import compress, expand
from tests.thoroughness import thorough


def test_a_list_with_ranges_is_expanded_in_its_order() -> None:
    """Numbers keep their leading zeros."""
    assert expand("n[1-3,7],login,c[08-10]") == ["n1", "n2", "n3", "n7", "login", "c08", "c09", "c10"]


def test_names_are_compressed_as_slurm_writes_them() -> None:
    """One number needs no brackets."""
    assert compress(["n1", "n4", "n5", "n8"]) == "n[1,4-5,8]"
    assert compress(["n3"]) == "n3"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["n1", "n02"], "n[1,02]"),
        (["n09", "n10", "n011"], "n[09-10,011]"),
        (["n99", "n100"], "n[99-100]"),
        (["n", "n1", "n2"], "n,n[1-2]"),
        (["1", "2"], "1,2"),
        (["n1234567890"], "n1234567890"),
    ],
)
def test_a_list_has_the_names_and_no_others(names: list[str], text: str) -> None:
    """A range has numbers of one width, unless they become longer by counting."""
    assert compress(names) == text
    assert expand(text) == names


@given(st.lists(st.from_regex(r"[a-b]{0,2}0{0,2}[0-9]{1,3}[a]?", fullmatch=True), max_size=12, unique=True))
@settings(max_examples=thorough(50), deadline=None)
def test_a_compressed_list_is_expanded_to_the_same_names(names: list[str]) -> None:
    """Those with one prefix are together."""
    assert sorted(expand(compress(names))) == sorted(names)


@pytest.mark.parametrize("text", ["n[1-", "n[3-1]", "n[1-99999999]", "n[a]"])
def test_a_wrong_or_huge_list_is_refused(text: str) -> None:
    """A short text costs no memory out of proportion."""
    with pytest.raises(ValueError, match="must"):
        expand(text)
