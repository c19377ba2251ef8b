"""The site of leases: what a node asks for, in the terms of its hosts."""

from __future__ import annotations

from functools import reduce

from batsched_py.leases.capacity import add, fits
from batsched_py.leases.site import Site
from batsched_py.model.resources import CPU, MEMORY


def test_three_halves_fit_into_two_cpus_and_no_fourth_that_is_larger() -> None:
    """Each demand is for one instance, and the first with room takes it; nothing spreads over two."""
    site = Site.of([{CPU: (100.0, 100.0), MEMORY: 2048.0}])
    half, more = site.amounts({CPU: 50.0, MEMORY: 256.0}), site.amounts({CPU: 75.0, MEMORY: 256.0})
    assert half is not None
    assert more is not None
    assert fits(reduce(add, [half] * 4), site.capacities[0])
    assert not fits(reduce(add, [half] * 3 + [more]), site.capacities[0])


def test_a_demand_for_a_single_cpu_is_a_number() -> None:
    """So that what two nodes ask of a host is added up, whatever another type has."""
    site = Site.of([{CPU: 100.0, MEMORY: 2048.0, "Ponies": (1.0, 1.0)}, {CPU: 100.0, MEMORY: 2048.0}])
    assert site.amounts({CPU: 50.0, "Ponies": 1.0}) == (50.0, 0.0, (1.0,))
    assert site.amounts({"Kites": 1.0}) is None
