"""Sums of floats."""

from batsched_py.addition import add_up


def test_each_step_is_rounded() -> None:
    """In the order of the values; Python 3.12 and newer would give 0.6 and 1.0."""
    assert add_up([0.1, 0.2, 0.3]) == 0.6000000000000001
    assert add_up([1e16, 1.0, -1e16]) == 0.0


def test_there_is_a_start() -> None:
    """None of the values may be there."""
    assert add_up([], 2.5) == 2.5
    assert repr(add_up([])) == "0.0"
