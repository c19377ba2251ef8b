"""Capacities: what fits in what, and what is left."""

from __future__ import annotations

import pytest

from batsched_py.leases.capacity import add, fits, subtract, total
from batsched_py.model.resources import Quantity

MEMORY = 1024.0


@pytest.mark.parametrize(
    ("demand", "offer", "expected"),
    [
        ((100.0,), (100.0, 100.0), True),
        ((100.0,), (50.0,), False),
        ((100.0,), (50.0, 50.0), False),
        ((100.0, 100.0), (100.0,), False),
        ((100.0, 100.0), (50.0,), False),
        ((100.0, 100.0), (50.0, 50.0), False),
        ((50.0,), (100.0,), True),
        ((50.0,), (100.0, 100.0), True),
        ((50.0,), (50.0, 50.0), True),
        ((50.0, 50.0), (100.0,), True),
        ((50.0, 50.0), (100.0, 100.0), True),
        ((50.0, 50.0), (50.0,), False),
    ],
)
def test_instances_are_filled_by_first_fit(demand: Quantity, offer: Quantity, expected: bool) -> None:
    """HA-33: no amount spreads over two CPUs."""
    assert fits((demand, MEMORY), (offer, MEMORY)) is expected


def test_what_is_left_of_instances_keeps_their_order() -> None:
    """HA-33: subtraction takes from the first instance in which the amount fits."""
    left = subtract(((100.0, 100.0), 1024.0), ((50.0,), 256.0))
    assert left == ((50.0, 100.0), 768.0)
    left = subtract(left, ((50.0,), 256.0))
    assert left == ((0.0, 100.0), 512.0)
    pair = subtract(((100.0, 100.0), 1024.0), ((50.0, 50.0), 256.0))
    assert pair == ((0.0, 100.0), 768.0)
    assert subtract(pair, ((50.0, 50.0), 256.0)) == ((0.0, 0.0), 512.0)


def test_demands_are_added_instance_beside_instance() -> None:
    """HA-33: two demands for CPUs stay two; numbers become their sum."""
    both = add(((100.0,), 512.0), ((50.0,), 512.0))
    assert both == ((100.0, 50.0), 1024.0)
    assert [total(quantity) for quantity in both] == [150.0, 1024.0]


def test_a_demand_for_nothing_fits_anywhere() -> None:
    """A type that a lease does not ask for leaves instances as they are."""
    assert fits((0.0, 0.0), ((0.0, 0.0), 0.0))
    assert subtract(((100.0, 50.0), 8.0), (0.0, 8.0)) == ((100.0, 50.0), 0.0)
