"""Lists of nodes."""

from __future__ import annotations

import pytest

from batsched_py.slurm.hostlist import compress, expand


def test_a_list_with_ranges_is_expanded_in_its_order() -> None:
    """Numbers keep their leading zeros."""
    assert expand("n[1-3,7],login,c[08-10]") == ["n1", "n2", "n3", "n7", "login", "c08", "c09", "c10"]


def test_names_are_compressed_as_slurm_writes_them() -> None:
    """One number needs no brackets."""
    assert compress(["n1", "n4", "n5", "n8"]) == "n[1,4-5,8]"
    assert compress(["n3"]) == "n3"


@pytest.mark.parametrize("text", ["n[1-", "n[3-1]", "n[1-99999999]", "n[a]"])
def test_a_wrong_or_huge_list_is_refused(text: str) -> None:
    """A short text costs no memory out of proportion."""
    with pytest.raises(ValueError, match="must"):
        expand(text)
