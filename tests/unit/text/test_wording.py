"""Counts in words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.text.wording import (
    aligned,
    counted,
    decimals,
    did_you_mean,
    grouped,
    kilowatt_hours,
    seconds,
    unknown,
    unlike,
)


@pytest.mark.parametrize(
    ("count", "words", "said"),
    [
        (0, ("host",), "0 hosts"),
        (1, ("host",), "1 host"),
        (2, ("host",), "2 hosts"),
        (1, ("reply", "replies"), "1 reply"),
        (2, ("reply", "replies"), "2 replies"),
    ],
)
def test_one_is_one_and_all_else_are_many(count: int, words: tuple[str, ...], said: str) -> None:
    """An s makes many, unless it is said what does."""
    assert counted(count, *words) == said


def test_digits_stand_in_groups_of_three() -> None:
    """The number is shown as a whole one."""
    assert [grouped(number) for number in (0, 999, 28_481, 1_234_567.6)] == ["0", "999", "28 481", "1 234 568"]
    assert grouped(1000, "_") == "1_000"
    assert counted(28_481, "job", blank="_") == "28_481 jobs"


def test_times_are_told_in_full() -> None:
    """To a microsecond, with no more digits than they have."""
    assert [seconds(time) for time in (29363609.0, 34560000.5, 0.0, 1e-7, 150)] == [
        *["29363609", "34560000.5", "0", "0", "150"]
    ]


def test_energy_is_told_in_kilowatt_hours() -> None:
    """Each is 3.6 million joules."""
    assert kilowatt_hours(4.5e6) == "1.250 kWh"


@pytest.mark.parametrize(
    ("numbers", "usual", "shown"),
    [
        ([0.0], 3, ["0.000"]),
        ([3.5], 3, ["3.500"]),
        ([9999.9996], 3, ["10000.00"]),
        ([203733.0], 3, ["203733"]),
        ([1290143.4], 3, ["1290143"]),
        ([-1290143.6, 0.25], 1, ["-1290144", "0"]),
        ([9373.622, 20810.0, None], 3, ["9373.6", "20810.0", "-"]),
        ([0.0768], 2, ["0.077"]),
        ([0.001234, 0.0000005], 4, ["0.0012", "0.0000"]),
        ([0.001234], 2, ["0.0012"]),
        ([1.0, 0.001234], 2, ["1.00", "0.00"]),
        ([-1e-9], 2, ["0.00"]),
        ([math.inf, 2.0], 1, ["inf", "2.0"]),
        ([None, None], 1, ["-", "-"]),
        ([], 1, []),
    ],
)
def test_numbers_side_by_side_have_a_sensible_number_of_digits(
    numbers: list[float | None], usual: int, shown: list[str]
) -> None:
    """The largest has two to six, and all have the same number after the point."""
    assert aligned(numbers, usual) == shown


@given(st.floats(1e-5, 1e15), st.integers(0, 4))
def test_the_largest_number_is_shown_to_a_millionth_of_itself(number: float, usual: int) -> None:
    """It may be a whole number instead; in any case it is shown to five percent."""
    digits = decimals([number], usual)
    assert 0 <= digits <= 7
    assert abs(float(f"{number:.{digits}f}") - number) <= number * 0.051
    assert digits == 0 or number * 10**digits < 1e6 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("eazy", "unknown; did you mean easy? There are: easy, fcfs, Mine"),
        ("EASY", "unknown; did you mean easy? There are: easy, fcfs, Mine"),
        ("nothing", "unknown; there are: easy, fcfs, Mine"),
        ("x" * 10_000_000, "unknown; there are: easy, fcfs, Mine"),
    ],
)
def test_a_name_that_is_like_a_known_one_was_meant(name: str, said: str) -> None:
    """The known names are listed in any case."""
    assert unknown(name, ["easy", "fcfs", "Mine"]) == said
    assert did_you_mean(name, []) == ""


def test_lines_that_differ_by_numbers_alone_are_told_once() -> None:
    """The first of them, in the order of what is told."""
    lines = ["1.5 of 2 hours", "a host fails", "3 of 4.25 hours", "1.5 of 2 hours", "30 of 40 hours"]
    assert unlike(lines) == ["1.5 of 2 hours (and 2 lines with other numbers)", "a host fails"]
    assert unlike(["a 1", "a 1"]) == ["a 1"]


def test_a_message_lists_a_bounded_number_of_names() -> None:
    """A file may have thousands of names, of any length and with any characters, and many unknown ones."""
    known = ["\x1b[31m", "x" * 1_000_000, *(f"vm{number}" for number in range(5_000))]
    text = unknown("vm12", known)
    assert text.startswith("unknown; did you mean vm12?")
    assert "There are: \\x1b[31m, xxx" in text
    assert text.endswith("vm97 and 4902 others")
    assert len(text) < 2_000
    assert unknown("q", [str(number) for number in range(100)]).endswith(", 98, 99")
