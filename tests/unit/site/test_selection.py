"""Selection of the items of a list: in parts that together have each item that fits once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

pytest.importorskip("litestar")

from batsched_py.site.api.selection import ItemSelection, select
from tests.thoroughness import thorough

ALL = ItemSelection(0, 2**53, 10)


def in_parts(numbers: list[int], wanted: ItemSelection, fitting: set[int]) -> list[int]:
    """Return the items of all parts, as a caller that follows the links gets them."""
    found = list[int]()
    while True:
        part = select(numbers, wanted, fitting.__contains__)
        assert len(part.numbers) <= wanted.limit
        found += part.numbers
        if part.last is None:
            return found
        wanted = replace(wanted, before=part.last) if wanted.newest else replace(wanted, after=part.last)


@settings(max_examples=thorough(100))
@given(
    st.lists(st.integers(1, 60), unique=True).map(sorted),
    st.sets(st.integers(1, 60)),
    st.integers(1, 7),
    st.booleans(),
)
def test_parts_have_each_item_that_fits_once(numbers: list[int], fitting: set[int], limit: int, newest: bool) -> None:
    """In the wanted order."""
    expected = [number for number in numbers if number in fitting]
    wanted = replace(ALL, limit=limit, newest=newest)
    assert in_parts(numbers, wanted, fitting) == (expected[::-1] if newest else expected)


def test_a_part_ends_after_many_that_do_not_fit() -> None:
    """With a link to the next one, which has what fits."""
    numbers, asked = list(range(1, 12_001)), list[int]()

    def fits(number: int) -> bool:
        asked.append(number)
        return number == 12_000

    part = select(numbers, ALL, fits)
    assert (part.numbers, part.last, len(asked)) == ([], 2000, 2000)
    assert in_parts(numbers, replace(ALL, newest=True), {3}) == [3]


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        (ALL, True),
        (replace(ALL, state="active"), True),
        (replace(ALL, state="Act"), False),
        (replace(ALL, text="DISK"), True),
        (replace(ALL, text="disk", state="Done"), False),
        (replace(ALL, text="other"), False),
    ],
)
def test_states_are_whole_and_texts_are_parts(wanted: ItemSelection, fits: bool) -> None:
    """In letters of either case."""
    assert wanted.fits("Active", ("ann", "new disks")) is fits
