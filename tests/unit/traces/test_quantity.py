"""Quantities with SimGrid's units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.traces.quantity import BANDWIDTH, SPEED, TIME, Dimension, parse_quantity


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("98.095Mf", SPEED, 98.095e6),
        ("1Gf", SPEED, 1e9),
        ("1e-9Mf", SPEED, 1e-3),
        (" 42f ", SPEED, 42.0),
        ("5", SPEED, 5.0),
        ("125MBps", BANDWIDTH, 125e6),
        ("2.25GBps", BANDWIDTH, 2.25e9),
        ("1KiBps", BANDWIDTH, 1024.0),
        ("2MiBps", BANDWIDTH, 2.0 * 1024**2),
        ("250Mbps", BANDWIDTH, 31.25e6),
        ("8Kibps", BANDWIDTH, 1024.0),
        ("100", BANDWIDTH, 100.0),
        ("50us", TIME, 50e-6),
        ("514.433us", TIME, 0.000514433),
        ("1.461517ms", TIME, 0.001461517),
        ("3ns", TIME, 3e-9),
        ("2m", TIME, 120.0),
        ("1h", TIME, 3600.0),
        ("0", TIME, 0.0),
    ],
)
def test_units(text: str, dimension: Dimension, value: float) -> None:
    """A number and a unit are worth what SimGrid says."""
    assert parse_quantity(text, dimension) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["", "Gf", "1 2f", "nan", "inff", "1,5f", "0x1f"])
def test_not_a_quantity(text: str) -> None:
    """What does not begin with a decimal number is refused."""
    with pytest.raises(ValueError, match=r"must be a number and a unit of speed"):
        parse_quantity(text, SPEED)


def test_unknown_unit_lists_the_known_ones() -> None:
    """The error about a unit says which ones there are."""
    with pytest.raises(ValueError, match=r"unknown unit 'KBps' of bandwidth; the known ones are Bps, kBps, MBps"):
        parse_quantity("1KBps", BANDWIDTH)


def test_overflow() -> None:
    """A quantity above all floats is refused."""
    with pytest.raises(ValueError, match="must be finite"):
        parse_quantity("1e308Gf", SPEED)


@given(st.floats(min_value=0, max_value=1e15, allow_nan=False))
def test_plain_numbers_are_kept(number: float) -> None:
    """A number without a unit is itself, to the last bit."""
    assert parse_quantity(repr(number), TIME) == number
