"""Joules, host by host and all together."""

import pytest

from batsched_py.simulator.meter import Meter
from batsched_py.simulator.power import PowerModel, Watts

MODEL = PowerModel((Watts(100.0, 150.0, 200.0), Watts(10.0, 10.0, 10.0)), {}, frozenset())


def test_the_draw_grows_from_epsilon_to_full_with_the_load() -> None:
    """And is the idle one without any; a load beyond all of the host is all of it."""
    assert [MODEL.watts[0].at(load) for load in (0.0, 0.5, 1.0, 2.0)] == [100.0, 175.0, 200.0, 200.0]


def test_loads_on_one_host_add_up_and_leave_nothing_behind() -> None:
    """Also when they end in another order."""
    meter = Meter([MODEL], [0])
    meter.load([0], [0.1])
    meter.settle([0], 10.0)
    meter.load([0], [0.2])
    meter.settle([0], 20.0)
    meter.unload([0], [0.1])
    meter.settle([0], 30.0)
    meter.unload([0], [0.2])
    assert meter.joules([0], 40.0) == pytest.approx(10 * (155 + 165 + 160 + 100))


def test_the_total_is_the_sum_of_the_hosts() -> None:
    """At any time, without asking each."""
    meter = Meter([MODEL, MODEL], [0, 1])
    meter.settle([0], 5.0)
    meter.load([0], [1.0])
    assert meter.total(9.0) == pytest.approx(meter.joules([0, 1], 9.0)) == pytest.approx(500 + 800 + 90)
