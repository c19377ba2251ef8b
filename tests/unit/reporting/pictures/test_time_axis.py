"""Ticks at round times."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from batsched_py.reporting.pictures.time_axis import SPACING, tick_label, tick_step, ticks, time_axis


@pytest.mark.parametrize(
    ("least", "step"),
    [
        (0.003, 0.005),
        (0.2, 0.2),
        (0.7, 1),
        (1.1, 2),
        (16, 30),
        (61, 120),
        (1801, 3600),
        (40000, 43200),
        (86400, 86400),
        (86401, 172800),
        (400 * 86400, 500 * 86400),
    ],
)
def test_steps_are_what_people_count_in(least: float, step: float) -> None:
    """Not powers of ten of seconds."""
    assert tick_step(least) == pytest.approx(step)


@pytest.mark.parametrize(
    ("time", "step", "text"),
    [
        (0, 60, "0"),
        (0.2, 0.1, "0.2 s"),
        (90, 30, "1 min 30"),
        (60, 30, "1 min"),
        (5700, 300, "1 h 35"),
        (3900, 300, "1 h 05"),
        (129600, 43200, "1 d 12 h"),
        (86400, 43200, "1 d"),
        (1728000, 172800, "20 d"),
    ],
)
def test_labels_are_in_the_unit_of_the_step_and_the_next_larger_one(time: float, step: float, text: str) -> None:
    """Nobody divides 5700 s by 60 twice."""
    assert tick_label(time, step) == text


def test_marks_stand_in_the_columns_of_their_times() -> None:
    """60 s on 60 columns."""
    axis = time_axis(60.0, 60)
    assert [column for column, mark in enumerate(axis.ruler) if mark == "┬"] == [0, 10, 20, 30, 40, 50]
    assert axis.labels.split("  ")[0] == "0"
    assert axis.labels[8:12] == "10 s"


def test_an_axis_that_begins_later_has_the_same_round_times() -> None:
    """From 25 s to 85 s on 60 columns: 30 s is in the sixth."""
    axis = time_axis(85.0, 60, 25.0)
    assert [column for column, mark in enumerate(axis.ruler) if mark == "┬"] == [5, 15, 25, 35, 45, 55]
    assert axis.labels[3:7] == "30 s"


def test_ticks_are_the_multiples_of_the_step() -> None:
    """The first time may be one, the last is not."""
    assert ticks(20.0, 40.0, 10.0) == [20.0, 30.0]
    assert ticks(20.5, 40.5, 10.0) == [30.0, 40.0]


#: A label as a reader tells it from its neighbours: blanks around it, perhaps one only.
LABEL = re.compile(r"(?<!\S)(?:0|[\d.e-]+ (?:s|min|h|d)(?: \d\d(?: h)?)?)(?!\S)")


@example(1e-5, 200)
@given(st.floats(1e-3, 1e10), st.integers(20, 300))
def test_an_axis_is_as_wide_as_the_picture_and_its_labels_do_not_touch(end: float, columns: int) -> None:
    """At any scale."""
    axis = time_axis(end, columns)
    assert len(axis.ruler) == len(axis.labels) == columns
    marks = [column for column, mark in enumerate(axis.ruler) if mark == "┬"]
    assert all(right - left >= SPACING - 1 for left, right in pairwise(marks))
    assert len(LABEL.findall(axis.labels)) >= len(marks) - 1
