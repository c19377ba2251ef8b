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
        (" 42f", SPEED, 42.0),
        ("5", SPEED, 5.0),
        ("5flops", SPEED, 5.0),
        ("2kiloflops", SPEED, 2e3),
        ("2megaflops", SPEED, 2e6),
        ("1gigaflops", SPEED, 1e9),
        ("1teraflops", SPEED, 1e12),
        ("1.f", SPEED, 1.0),
        ("+3kf", SPEED, 3e3),
        ("1Yf", SPEED, 1e24),
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


@pytest.mark.parametrize("text", ["", "Gf", "nan", "inff", ",5f", "f1"])
def test_not_a_quantity(text: str) -> None:
    """A text that does not begin with a decimal number is refused."""
    with pytest.raises(ValueError, match=r"must be a number and a unit of speed"):
        parse_quantity(text, SPEED)


@pytest.mark.parametrize(
    ("text", "dimension", "meant"),
    [
        ("1Gflops", SPEED, "did you mean Gf or gigaflops"),
        ("1kflops", SPEED, "did you mean kf or kiloflops"),
        ("1GFlop/s", SPEED, "did you mean Gf or gigaflops"),
        ("1GF", SPEED, "did you mean Gf or gigaflops"),
        ("1F", SPEED, "did you mean f or flops"),
        ("1 2f", SPEED, r"write f, Gf, gigaflops \(SimGrid's units\)"),
        ("0x1f", SPEED, "write f, Gf"),
        ("1KBps", BANDWIDTH, r"did you mean kBps \(bytes\) or kbps \(bits\)"),
        ("1MB/s", BANDWIDTH, r"did you mean MBps \(bytes\) or Mbps \(bits\)"),
        ("1Mbit/s", BANDWIDTH, r"did you mean Mbps\?"),
        ("1kiBps", BANDWIDTH, r"did you mean KiBps"),
        ("1f", BANDWIDTH, "write Bps, MBps"),
        ("1min", TIME, "did you mean m"),
        ("1\u00b5s", TIME, "did you mean us"),
        ("1S", TIME, "did you mean s"),
        ("1 MBps", BANDWIDTH, "' MBps' of bandwidth: SimGrid accepts no blanks around a unit"),
        ("42f ", SPEED, "'f ' of speed: SimGrid accepts no blanks around a unit"),
    ],
)
def test_a_unit_that_simgrid_refuses_is_refused_with_the_one_that_is_meant(
    text: str, dimension: Dimension, meant: str
) -> None:
    """A platform that is read here is read by SimGrid, too."""
    with pytest.raises(ValueError, match=f"has the unknown unit .*{meant}"):
        parse_quantity(text, dimension)


def test_overflow() -> None:
    """A quantity above all floats is refused."""
    with pytest.raises(ValueError, match="must be finite"):
        parse_quantity("1e308Gf", SPEED)


@given(st.floats(min_value=0, max_value=1e15, allow_nan=False))
def test_plain_numbers_are_kept(number: float) -> None:
    """A number without a unit is itself, to the last bit."""
    assert parse_quantity(repr(number), TIME) == number
