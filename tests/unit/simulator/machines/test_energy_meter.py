"""Joules, host by host and all together."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.simulator.machines.energy_meter import EnergyMeter
from batsched_py.simulator.machines.power_model import PowerModel, Watts

MODEL = PowerModel((Watts(100.0, 150.0, 200.0), Watts(10.0, 10.0, 10.0)), {}, frozenset())


def test_the_draw_grows_from_epsilon_to_full_with_the_load() -> None:
    """It is the idle one without any load; a load beyond all of the host is all of it."""
    assert [MODEL.watts[0].at(load) for load in (0.0, 0.5, 1.0, 2.0)] == [100.0, 175.0, 200.0, 200.0]


def test_loads_on_one_host_add_up_and_leave_nothing_behind() -> None:
    """Also when they end in another order."""
    meter = EnergyMeter([MODEL], [0])
    meter.load([0], [0.1])
    meter.settle([0], 10.0)
    meter.load([0], [0.2])
    meter.settle([0], 20.0)
    meter.unload([0], [0.1])
    meter.settle([0], 30.0)
    meter.unload([0], [0.2])
    assert meter.joules([0], 40.0) == pytest.approx(10 * (155 + 165 + 160 + 100))


def test_a_host_is_charged_for_the_past_at_what_it_draws_when_somebody_looks() -> None:
    """As by SimGrid: 10 s idle that nobody looked at count as computed."""
    meter = EnergyMeter([MODEL, MODEL], [0, 0])
    meter.settle([0], 10.0)
    meter.load([0, 1], [1.0, 1.0])
    meter.settle_all(15.0)
    assert (meter.joules([0], 15.0), meter.joules([1], 15.0)) == (10 * 100 + 5 * 200, 15 * 200)


def test_a_look_at_all_hosts_is_one_at_each() -> None:
    """Their later power does not count for the time before."""
    meter = EnergyMeter([MODEL, MODEL], [0, 0])
    meter.settle_all(10.0)
    meter.load([0, 1], [1.0, 1.0])
    assert (meter.joules([0], 15.0), meter.total(15.0)) == (10 * 100 + 5 * 200, 2 * (10 * 100 + 5 * 200))


def test_a_pstate_is_changed_after_a_look() -> None:
    """The time before is charged in the old one; the least that computing hosts draw is that of their pstates."""
    meter = EnergyMeter([MODEL, MODEL], [0, 1])
    assert meter.least_watts == 150 + 10
    meter.set_pstate([0], 1, 10.0)
    assert meter.joules([0], 20.0) == 10 * 100 + 10 * 10
    assert meter.least_watts == 10 + 10


def test_a_task_uses_one_core() -> None:
    """The host has four: a task at full speed is a load of a quarter."""
    meter = EnergyMeter([PowerModel(MODEL.watts, {}, frozenset(), cores=4)], [0])
    meter.load([0], [1.0])
    assert meter.joules([0], 1.0) == 150 + 50 / 4


@given(st.integers(0, 2**32))
def test_the_total_is_the_sum_of_the_hosts_at_any_time(seed: int) -> None:
    """Hosts may be loaded, unloaded, switched and looked at in between."""
    random, now = Random(seed), 0.0
    meter, hosts = EnergyMeter([MODEL] * 3, [0, 1, 0]), range(3)
    loaded: list[list[int]] = []
    for _ in range(30):
        now += random.choice([0.0, 1.0, 2.5])
        some = sorted(random.sample(hosts, random.randint(1, 3)))
        match random.randrange(5):
            case 0:
                meter.settle_all(now)
            case 1:
                meter.settle(some, now)
            case 2:
                meter.load(some, [0.5] * len(some))
                loaded.append(some)
            case 3 if loaded:
                ended = loaded.pop(0)
                meter.unload(ended, [0.5] * len(ended))
            case _:
                meter.set_pstate(some, random.randrange(2), now)
        assert meter.total(now) == pytest.approx(meter.joules(hosts, now))
    assert meter.total(now + 5) == pytest.approx(meter.joules(hosts, now + 5))
