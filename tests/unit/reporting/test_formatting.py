"""Durations as people read them."""

from __future__ import annotations

import pytest

from batsched_py.reporting.formatting import brief, clock


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "00:00:00"),
        (59.4, "00:00:59"),
        (59.6, "00:01:00"),
        (3599.7, "01:00:00"),
        (86399.9, "1 d 00:00:00"),
        (93784, "1 d 02:03:04"),
        (8.64e7, "1000 d 00:00:00"),
    ],
)
def test_the_clock_rounds_to_the_second_and_carries(seconds: float, text: str) -> None:
    """Never 00:00:60."""
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.001234, "0.00123 s"), (42, "42 s"), (119, "119 s"), (210, "3.5 min"), (43200, "12 h"), (259200, "3 d")],
)
def test_brief_durations_are_in_the_unit_that_fits(seconds: float, text: str) -> None:
    """Two of a unit make it fit."""
    assert brief(seconds) == text
